"""The runs of a sweep, and how far each one is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from rnar.sweep.presets import Part
from rnar.training import Resolved, Settings
from rnar.training.data import training_data
from rnar.training.result import Result
from rnar.training.run import CONFIG, METRICS, RESULT, read_config, read_metrics, read_result
from rnar.training.settings import refuse_others

Standing = Literal["new", "begun", "finished", "further"]


@dataclass(frozen=True)
class Job:
    """One run: its settings with all values, and how far it is."""

    settings: Resolved
    standing: Standing = "new"
    """`further`: it has more steps than this sweep asks for"""
    step: int = 0
    result: Result | None = None

    @property
    def task(self) -> str:
        return self.settings.tasks[0]

    @property
    def name(self) -> str:
        return f"{self.task} {self.settings.name} seed {self.settings.seed}"

    @property
    def steps(self) -> int:
        return self.settings.steps

    @property
    def open(self) -> bool:
        """Is there something left to do?"""
        return self.standing in ("new", "begun")


def plan(parts: Iterable[Part], seeds: Sequence[int], common: dict[str, Any], folder: Path) -> list[Job]:
    """All runs, those of the first seed first: so a table has a number everywhere early.

    Raises if any of them makes no sense, or if other runs are where they would be.
    """
    from rnar.sweep.choosing import models_of, tasks_of

    pairs = [(task, model) for part in parts for task in tasks_of(part.tasks) for model in models_of(part.models)]
    pairs = list(dict.fromkeys(pairs))
    if not pairs:
        raise ValueError("no task is left with a model to learn it, so there is nothing to run")
    for task, model in pairs:
        training_data(Settings(tasks=(task,), model=model, **common).resolved(), task).close()  # are there such data?
    return [
        standing(_placed(Settings(tasks=(task,), model=model, seed=seed, **common).resolved(), folder))
        for seed in seeds
        for task, model in pairs
    ]


def _placed(settings: Resolved, folder: Path) -> Resolved:
    """Where `rnar train` would keep it, but in that folder."""
    return replace(settings, path=folder / settings.path.relative_to("runs"))


def standing(settings: Resolved) -> Job:
    """A run as its folder has it."""
    path = settings.path
    if not (path / CONFIG).is_file():
        return Job(settings)
    there = read_config(path)["settings"]
    refuse_others(there, settings)
    result = read_result(path / RESULT)
    if there["steps"] > settings.steps:
        return Job(settings, "further", there["steps"], result)
    if there["steps"] == settings.steps and result:
        return Job(settings, "finished", there["steps"], result)
    return Job(settings, "begun", _last_step(path / METRICS))


def _last_step(metrics: Path) -> int:
    """The step of the last validation. What was saved last may be a little behind or ahead."""
    try:
        lines = read_metrics(metrics)
    except ValueError:
        return 0  # it is told when the run goes on
    return lines[-1]["step"] if lines else 0
