"""How much memory there is, and how much a run may spend."""

from pathlib import Path

import pytest

import rnar.clrs
from rnar.models import find
from rnar.runtime import Workers, memory


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine that has these files and no others."""

    def made(**files: str) -> None:
        for name, text in files.items():
            (tmp_path / name).write_text(text)

    read = Path.read_text

    def read_text(path: Path) -> str:
        place = tmp_path / "-".join(path.parts[1:])
        return read(place)

    monkeypatch.setattr(Path, "read_text", read_text)
    return lambda files: made(**files)


MEMINFO = "MemTotal: 16000 kB\nMemFree: 1 kB\nMemAvailable: 8000 kB\n"


def test_a_quarter_of_what_is_free_may_be_spent(machine):
    machine({"proc-meminfo": MEMINFO})
    assert memory.free_memory() == 8000 * 1024
    assert memory.spare_memory() == 2000 * 1024


@pytest.mark.parametrize(
    "files",
    [
        {
            "proc-self-cgroup": "0::/box/inner\n",
            "sys-fs-cgroup-box-inner-memory.max": "max\n",
            "sys-fs-cgroup-box-inner-memory.current": "100\n",
            "sys-fs-cgroup-box-memory.max": "5000\n",
            "sys-fs-cgroup-box-memory.current": "1000\n",
        },
        {
            "proc-self-cgroup": "4:cpu:/\n3:memory:/box\n0::/\n",
            "sys-fs-cgroup-memory-box-memory.limit_in_bytes": "5000\n",
            "sys-fs-cgroup-memory-box-memory.usage_in_bytes": "1000\n",
        },
    ],
    ids=["version 2, around it", "version 1"],
)
def test_a_container_has_a_limit_of_its_own(machine, files):
    machine({"proc-meminfo": MEMINFO, **files})
    assert memory.free_memory() == 4000


def test_where_the_system_does_not_tell_it_is_little(machine):
    machine({})
    assert memory.free_memory() is None and memory.spare_memory() == memory.LITTLE


def test_what_may_be_spent_changes_no_bit():
    model, found = find("rnar"), []
    batch = model.batch(rnar.clrs.sample("bubble_sort", 6, 4, seed=0))
    for bytes in (0, 200_000, None):
        reasoner = model.build("bubble_sort", size=8).train()
        losses = Workers(reasoner, 2, memory=bytes).backward(batch, seed=1)
        found.append((losses, [None if p.grad is None else p.grad.tolist() for p in reasoner.parameters()]))
    assert found[0] == found[1] == found[2]
