"""A short form of benchmarks/soak.py, and how it judges."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parent.parent / "benchmarks" / "soak.py"
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="it reads /proc")


@pytest.fixture(scope="module")
def soak() -> ModuleType:
    spec = importlib.util.spec_from_file_location("soak", FILE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@LINUX
def test_nothing_grows_while_one_process_works(soak, monkeypatch):
    monkeypatch.setattr(soak, "TASKS", ("bfs", "minimum"))  # each further one is compiled first
    rows = list(soak.soaked({"solve": 20, "evaluate": 8, "train": 4}))
    grown = {work: soak.growth(rows, work) for work in soak.WORK}
    assert not any(map(soak.too_much, grown.values())), grown


@pytest.mark.parametrize("name", ["memory_mb", "descriptors", "threads", "processes"])
def test_what_grows_is_told(soak, name):
    level = [soak.Row("solve", k, k, 100.0, 5, 1, 0) for k in range(1, 101)]
    rising = [row._replace(**{name: getattr(row, name) + 2 * row.calls}) for row in level]
    assert not soak.too_much(soak.growth(level, "solve"))
    assert soak.too_much(soak.growth(rising, "solve"))


def test_its_picture_has_a_line_for_each_work(soak, tmp_path):
    rows = [soak.Row(work, k, k, 100.0, 5, 1, 0) for work in soak.WORK for k in range(1, 6)]
    soak.draw(rows, tmp_path / "soak.png")
    assert (tmp_path / "soak.png").read_bytes().startswith(b"\x89PNG")
