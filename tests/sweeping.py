"""A sweep that is small enough for tests: two tasks, two models, two seeds."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rnar.sweep.plan import plan
from rnar.sweep.presets import Part
from rnar.training import train
from rnar.training.files import unpack
from training import contents

SETTINGS: dict[str, Any] = dict(
    size=8, batch=2, sizes=(4,), steps=4, validate_every=2, validation_samples=2, test_samples=1, threads=1
)
TINY = "--size 8 --batch 2 --sizes 4 --validate-every 2 --validation-samples 2 --test-samples 1 --threads 1".split()
MATRIX = [*TINY, "--tasks", "bfs,binary_search", "--models", "rnar,mpnn", "--seeds", "0-1", "--steps", "4"]


def trained_one_by_one(folder: Path, tasks: str, models: str, seeds: list[int], **changes: Any) -> dict[str, Any]:
    """The same runs without a sweep: what each has left behind, by its place."""
    jobs = plan([Part(tasks, models)], seeds, {**SETTINGS, **changes}, folder)
    for job in jobs:
        train(job.settings)
    return runs_in(folder)


def runs_in(folder: Path) -> dict[str, Any]:
    """What each finished run has left behind, by its place."""
    return {str(path.parent.relative_to(folder)): contents(path.parent) for path in folder.rglob("result.json")}


def jobs_of(process: int = 1) -> list[int]:
    """The processes of runs that this one has started, itself or by others; by default of anybody who tests."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and b"rnar.sweep.job" in _read(entry / "cmdline"):
            number = int(entry.name)
            if process == 1 or process in _line(number):
                found.append(number)
    return found


def parent(process: int) -> int:
    fields = _read(Path(f"/proc/{process}/stat")).rpartition(b")")[2].split()
    return int(fields[1]) if fields else 0


def _line(process: int) -> list[int]:
    """A process, its parent, and so on."""
    found = []
    while process > 1:
        found.append(process)
        process = parent(process)
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended
        return b""


def wait_for(condition: Callable[[], Any], seconds: float = 120.0) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.05)
    return found


def kill(process: int) -> None:
    os.kill(process, signal.SIGKILL)


def saved_step(folder: Path) -> int:
    """How many steps a run had taken when it was saved."""
    path = folder / "state.safetensors"
    return unpack(path.read_bytes(), path)[1]["step"]


def times(folder: Path) -> dict[Path, int]:
    """When each file was last written."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
