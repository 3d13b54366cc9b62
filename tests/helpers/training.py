"""Runs that are small enough for tests, and how to compare them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load_file

import rnar.clrs
from rnar.clrs import Batch
from rnar.training import Settings, testing, train

TIMES = ("seconds", "test_seconds", "memory_mb")  # what may differ between two runs that are the same


def tiny(folder: Path, **changes: Any) -> Settings:
    """A run of a second or two."""
    values: dict[str, Any] = dict(tasks=("bfs",), size=8, batch=3, sizes=(4, 5), steps=6, threads=1, folder=folder)
    return Settings(
        **{
            **values,
            "validate_every": 2,
            "validation_samples": 4,
            "selection_samples": 4,
            "ood_samples": 2,
            **changes,
        }
    )


def small_test(task: str, split: str) -> Batch:
    """In place of the official set, which is larger."""
    assert split == "test"
    return rnar.clrs.sample(task, n=8, batch=4, seed=3)


def small_runs(folder: Path, *which: tuple[str, str, int]) -> Path:
    """Runs of these tasks, models and seeds, in folders of their own, on small tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(testing, "official", small_test)
        for task, model, seed in which:
            train(tiny(folder / task / model / str(seed), model=model, tasks=(task,), seed=seed, steps=2))
    return folder


def contents(folder: Path) -> dict[str, Any]:
    """All that a run left behind, but for times."""
    result = json.loads((folder / "result.json").read_text())
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    return {
        "best": {name: tensor.tobytes() for name, tensor in load_file(folder / "best.safetensors").items()},
        "state": {name: tensor.tobytes() for name, tensor in load_file(folder / "state.safetensors").items()},
        "result": {name: value for name, value in result.items() if name not in TIMES},
        "metrics": [{name: value for name, value in line.items() if name not in TIMES} for line in lines],
    }
