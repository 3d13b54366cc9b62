"""How runs share the cores."""

from __future__ import annotations

import pytest

from rnar.sweep.engine import Request, Resources, allocate
from rnar.sweep.plan import PlannedRun
from rnar.training import Settings


@pytest.mark.parametrize(
    ("runs", "asked", "resources", "gpu", "share"),
    [
        (100, Request(), Resources(8), False, (8, 1)),
        (3, Request(), Resources(8), False, (3, 2)),
        (1, Request(), Resources(8), False, (1, 8)),
        (100, Request(memory=3), Resources(8, memory=10), False, (3, 2)),  # memory for three
        (100, Request(memory=30), Resources(8, memory=10), False, (1, 8)),  # for none: it is tried
        (100, Request(), Resources(8, memory=10), False, (5, 1)),  # 2 GB for each
        (100, Request(parallel=8), Resources(8, memory=10), False, (8, 1)),
        (100, Request(threads=3), Resources(8), False, (2, 3)),
        (100, Request(parallel=2), Resources(8), False, (2, 4)),
        (100, Request(parallel=20, threads=2), Resources(8), False, (20, 2)),
        (100, Request(), Resources(8, gpus=2), True, (2, 4)),
        (100, Request(gpus=0.5), Resources(8, gpus=2), True, (4, 2)),
        (2, Request(), Resources(12, largest_node=4), False, (2, 4)),  # three machines of four cores
    ],
)  # fmt: skip
def test_cores_are_shared_out_and_never_more_than_there_are(runs, asked, resources, gpu, share):
    assert allocate(runs, asked, resources, gpu)[:2] == share


@pytest.mark.parametrize(("memory", "share"), [(6, "1.5"), (None, "0.5")])
def test_a_run_spends_a_quarter_of_its_memory_on_what_would_else_be_computed_twice(memory, share):
    command = allocate(1, Request(memory=memory), Resources(8), False).command(PlannedRun(Settings("bfs").resolved()))
    assert command.threads == 8
    assert command.arguments[command.arguments.index("--memory") + 1] == share
