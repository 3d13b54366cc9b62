"""How runs share the cores."""

from __future__ import annotations

import pytest

from rnar.sweep.layout import There, Wanted, layout, makespan


@pytest.mark.parametrize(
    ("runs", "wanted", "there", "gpu", "memory", "found"),
    [
        (100, Wanted(), There(8), False, None, (8, 1)),
        (3, Wanted(), There(8), False, None, (3, 2)),
        (1, Wanted(), There(8), False, None, (1, 8)),
        (100, Wanted(), There(8, memory=10), False, 3, (3, 2)),  # memory for three
        (100, Wanted(), There(8, memory=10), False, 30, (1, 8)),  # for none: it is tried
        (100, Wanted(threads=3), There(8), False, None, (2, 3)),
        (100, Wanted(parallel=2), There(8), False, None, (2, 4)),
        (100, Wanted(parallel=20, threads=2), There(8), False, None, (20, 2)),
        (100, Wanted(), There(8, gpus=2), True, None, (2, 4)),
        (100, Wanted(gpus=0.5), There(8, gpus=2), True, None, (4, 2)),
        (2, Wanted(), There(12, largest=4), False, None, (2, 4)),  # three machines of four cores
    ],
)  # fmt: skip
def test_cores_are_shared_out_and_never_more_than_there_are(runs, wanted, there, gpu, memory, found):
    assert layout(runs, wanted, there, gpu, memory)[:2] == found


def test_the_time_of_all_is_that_of_the_last_to_end():
    assert makespan([3, 1, 1, 1, 5], 2) == 8.0
    assert makespan([2, 2, 2], 10) == 2.0
