"""The runs of a sweep, and how far each one is."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from rich.table import Table

from rnar.sweep.presets import Part, models_of, tasks_of
from rnar.training import Result, Run, Settings
from rnar.training.data import training_data
from rnar.training.folder import whole_result
from rnar.training.run import CONFIG, METRICS, RESULT, read_config, read_metrics, read_result
from rnar.training.settings import SETTINGS, refuse_others

Standing = Literal["new", "begun", "finished", "further"]
STANDINGS = {"finished": "finished", "further": "with more steps already", "begun": "to go on with", "new": "new"}


@dataclass(frozen=True)
class PlannedRun:
    """The settings of a run, and how far it was when the sweep was planned."""

    settings: Settings
    standing: Standing = "new"
    """`further`: it has taken more steps than this sweep asks for"""

    @property
    def task(self) -> str:
        return self.settings.tasks[0]

    @property
    def model(self) -> str:
        return self.settings.name

    @property
    def name(self) -> str:
        return f"{self.task} {self.model} seed {self.settings.seed}"

    @property
    def steps(self) -> int:
        return self.settings.steps

    @property
    def open(self) -> bool:
        """True if there is anything left to do."""
        return self.standing in ("new", "begun")

    @property
    def step(self) -> int:
        """The step of the last validation so far."""
        try:
            metrics = read_metrics(self.settings.path / METRICS)
        except (ValueError, OSError):
            return 0  # what is wrong is told when the run is resumed
        return metrics[-1]["step"] if metrics else 0

    @property
    def saved_step(self) -> int:
        """The step from which it would go on."""
        try:
            return Run(self.settings.path).step_of("last")
        except (ValueError, OSError):
            return 0

    @property
    def result(self) -> Result | None:
        """The result in its folder, which is its own once the run has ended."""
        return read_result(self.settings.path / RESULT)


def plan(parts: Iterable[Part], seeds: Sequence[int], common: dict[str, Any], folder: Path) -> list[PlannedRun]:
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
    return [_planned(replace(run, folder=folder / run.path.relative_to("runs"))) for run in runs]


def _planned(settings: Settings) -> PlannedRun:
    """A run, and how far it is according to its folder."""
    if not (settings.path / CONFIG).is_file():
        return PlannedRun(settings)
    there = read_config(settings.path)["settings"]
    refuse_others(there, settings)
    if there["steps"] > settings.steps:
        return PlannedRun(settings, "further")
    return PlannedRun(settings, "finished" if whole_result(there, settings) else "begun")


def train_arguments(settings: Settings) -> list[str]:
    """The arguments of `rnar train` that ask for these settings."""
    words = [*settings.tasks]
    for name, field in SETTINGS.items():
        value = getattr(settings, name)
        if name != "tasks" and value != field.default:
            words.append("--" + field.metadata.get("name", name).replace("_", "-"))
            if field.default is not False:
                value = field.metadata.get("none") if value is None else value
                words += map(str, value if isinstance(value, tuple) else (value,))
    return words


def summary(runs: Sequence[PlannedRun], folder: Path) -> str:
    """A line that counts the runs, and says how far they are."""
    kinds = zip(
        ("task", "model", "seed"),
        zip(*((run.task, run.model, run.settings.seed) for run in runs), strict=True),
        strict=True,
    )
    size = ", ".join(count(len(set(names)), kind) for kind, names in kinds)
    counts = Counter(run.standing for run in runs)
    states = ", ".join(f"{counts[standing]} {words}" for standing, words in STANDINGS.items() if counts[standing])
    return f"{count(len(runs), 'run')} in {folder} ({size}): {states}"


def table(runs: Sequence[PlannedRun]) -> Table:
    """The seeds that are left to do, by task and model."""
    planned, left = Counter((run.task, run.model) for run in runs), Counter((r.task, r.model) for r in runs if r.open)
    models = list(dict.fromkeys(run.model for run in runs))
    page = Table("task", box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for model in models:
        page.add_column(model, justify="right")
    for task in dict.fromkeys(run.task for run in runs):
        pairs = [(task, model) for model in models]
        page.add_row(task, *(count(left[x], "seed") if left[x] else "done" if planned[x] else "-" for x in pairs))
    return page


def count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
