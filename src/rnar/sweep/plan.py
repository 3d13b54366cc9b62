"""The runs of a sweep, and how far each one is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from rnar.sweep.choosing import models_of, tasks_of
from rnar.sweep.presets import Part
from rnar.training import Resolved, Settings
from rnar.training.data import training_data
from rnar.training.folder import whole_result
from rnar.training.result import Result
from rnar.training.run import CONFIG, METRICS, RESULT, read_config, read_metrics, read_result
from rnar.training.settings import refuse_others

Standing = Literal["new", "begun", "finished", "further"]


@dataclass(frozen=True)
class Job:
    """One run: its settings, and how far it is."""

    settings: Resolved
    standing: Standing = "new"
    """`further`: it has taken more steps than this sweep asks for"""
    step: int = 0
    result: Result | None = None

    @property
    def task(self) -> str:
        return self.settings.tasks[0]

    @property
    def kind(self) -> tuple[str, str]:
        """Its task and model: runs that differ only in the seed take equally long."""
        return self.task, self.settings.name

    @property
    def name(self) -> str:
        return f"{self.task} {self.settings.name} seed {self.settings.seed}"

    @property
    def steps(self) -> int:
        return self.settings.steps

    @property
    def open(self) -> bool:
        """Is there anything left to do?"""
        return self.standing in ("new", "begun")


def plan(parts: Iterable[Part], seeds: Sequence[int], common: dict[str, Any], folder: Path) -> list[Job]:
    """All runs, those of the first seed first so that a table soon has a number everywhere.

    Raises if any of the runs makes no sense, or if its folder holds a run with other settings.
    """
    pairs = [(task, model) for part in parts for task in tasks_of(part.tasks) for model in models_of(part.models)]
    pairs = list(dict.fromkeys(pairs))
    if not pairs:
        raise ValueError("no task is left with a model to learn it, so there is nothing to run")
    runs = [Settings(tasks=(t,), model=m, seed=seed, **common).resolved() for seed in seeds for t, m in pairs]
    for run in runs[: len(pairs)]:
        training_data(run, run.tasks[0]).close()  # raises if there is none
    # where `rnar train` would keep them, but in that folder
    return [standing(replace(run, path=folder / run.path.relative_to("runs"))) for run in runs]


def standing(settings: Resolved) -> Job:
    """A run, and how far it is according to its folder."""
    path = settings.path
    if not (path / CONFIG).is_file():
        return Job(settings)
    there = read_config(path)["settings"]
    refuse_others(there, settings)
    if there["steps"] > settings.steps:
        return Job(settings, "further", there["steps"], read_result(path / RESULT))
    if result := whole_result(there, settings):
        return Job(settings, "finished", there["steps"], result)
    return Job(settings, "begun", _last_step(path / METRICS))


def _last_step(metrics: Path) -> int:
    """The step of the last validation. The step that was saved last may be a little lower or higher."""
    try:
        lines = read_metrics(metrics)
    except ValueError:
        return 0  # what is wrong is told when the run is resumed
    return lines[-1]["step"] if lines else 0
