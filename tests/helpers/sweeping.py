"""A sweep that is small enough for tests: two tasks, two models, two seeds."""

from __future__ import annotations

import os
import signal
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from helpers.training import contents
from rnar.sweep.plan import plan
from rnar.sweep.presets import Part
from rnar.training import train
from rnar.training.files import unpack

SETTINGS: dict[str, Any] = dict(
    size=8,
    batch=2,
    sizes=(4,),
    steps=4,
    validate_every=2,
    validation_samples=2,
    selection_samples=3,
    ood_samples=1,
    test_samples=1,
    threads=1,
)
TINY = (
    "--size 8 --batch 2 --sizes 4 --validate-every 2 --validation-samples 2 --selection-samples 3 --ood-samples 1 "
    "--test-samples 1 --threads 1"
).split()
LONG = ["25" if before == "--validate-every" else word for before, word in zip(["", *TINY], TINY, strict=False)]
"""for many steps"""
SMALL_RUN: dict[str, Any] = dict(  # as `helpers.training.tiny` has it
    size=8, batch=3, sizes=(4, 5), steps=6, validate_every=2, validation_samples=4, selection_samples=4, ood_samples=2
)
SEQUENTIAL = (
    "activity_selector binary_search bubble_sort find_maximum_subarray_kadane heapsort insertion_sort minimum "
    "quickselect quicksort task_scheduling"
).split()
MATRIX = [*TINY, "--tasks", "bfs,binary_search", "--models", "rnar,mpnn", "--seeds", "0-1", "--steps", "4"]


@cache
def trained_one_by_one(tasks: str, models: str, seeds: tuple[int, ...], **changes: Any) -> dict[str, Any]:
    """The same runs without a sweep: what each has left behind, by its place."""
    with TemporaryDirectory() as folder:
        for run in plan([Part(tasks, models)], seeds, {**SETTINGS, **changes}, Path(folder)):
            train(run.settings)
        return runs_in(Path(folder))


def runs_in(folder: Path) -> dict[str, Any]:
    """What each finished run has left behind, by its place."""
    return {str(path.parent.relative_to(folder)): contents(path.parent) for path in folder.rglob("result.json")}


def trainings_of(process: int) -> list[int]:
    """The processes of runs that this one has started, itself or by others. Nobody else's: they may be in earnest."""
    numbers = [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]
    return [number for number in numbers if is_training(number) and process in ancestors(number)]


def is_training(process: int) -> bool:
    return b"rnar.sweep.process" in _read(Path(f"/proc/{process}/cmdline"))


def parent(process: int) -> int:
    fields = _read(Path(f"/proc/{process}/stat")).rpartition(b")")[2].split()
    return int(fields[1]) if fields else 0


def ancestors(process: int) -> list[int]:
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


def kill(process: int) -> None:
    os.kill(process, signal.SIGKILL)


def saved_step(folder: Path) -> int:
    """How many steps a run had taken when it was saved."""
    path = folder / "state.safetensors"
    return unpack(path.read_bytes(), path)[1]["step"]


def times(folder: Path) -> dict[Path, int]:
    """When each file was last written."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
