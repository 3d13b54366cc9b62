"""Runs that differ in nothing but their seed, as one measurement."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean, stdev

from rnar.report.page import Cell, quiet
from rnar.report.published import MODELS, TASKS
from rnar.report.rows import Row, deciding, unusual


@dataclass(frozen=True)
class Group:
    """The runs of a task with a model and the same settings, a seed each. Unfinished ones have no part in a score."""

    rows: tuple[Row, ...]

    @property
    def finished(self) -> list[Row]:
        return [row for row in self.rows if row.test_n64 is not None]

    @property
    def unfinished(self) -> list[Row]:
        return [row for row in self.rows if row.test_n64 is None]

    @property
    def scores(self) -> list[float]:
        """In percent."""
        return [100 * row.test_n64 for row in self.rows if row.test_n64 is not None]

    @property
    def score(self) -> float | None:
        """The mean over seeds, in percent."""
        return mean(self.scores) if self.scores else None

    @property
    def spread(self) -> str:
        """The standard error of that mean."""
        return standard_error(self.scores)

    @property
    def size(self) -> Cell:
        """How many seeds, and how many steps each took: fewer than were planned, where patience ended it."""
        steps = {row.steps for row in self.finished}
        return quiet(f"{len(self.finished)} × {'–'.join(map(str, sorted({min(steps), max(steps)})))}")

    @property
    def planned(self) -> int:
        return self.rows[0].planned

    @property
    def unusual(self) -> str:
        """Which settings are not as usual, in words; the steps are told elsewhere."""
        return unusual(self.rows[0])


Groups = dict[tuple[str, str], list[Group]]
"""By task and model; the first of several is the one nearest to the standard protocol."""


def grouped(rows: Iterable[Row]) -> Groups:
    """Runs whose settings decide otherwise never come into one group, nor does a seed twice."""
    parts: dict[tuple[int, str, str, str], list[list[Row]]] = {}
    for row in sorted(rows, key=lambda row: (*in_order(row.task, row.model), row.seed)):
        some = parts.setdefault((row.planned, deciding(row.settings), row.task, row.model), [])
        part = next((part for part in some if part[-1].seed != row.seed), None)  # a seed's rows follow each other
        some.append([row]) if part is None else part.append(row)
    found: Groups = {}
    for (*_, task, model), some in parts.items():
        found.setdefault((task, model), []).extend(Group(tuple(part)) for part in some)
    return {key: sorted(some, key=_distance) for key, some in found.items()}


def standard_error(scores: list[float]) -> str:
    """Of the mean of some seeds' scores, as tables print it; of one seed there is none."""
    return f"{stdev(scores) / math.sqrt(len(scores)):.2f}" if len(scores) > 1 else ""


def in_order(task: str, model: str) -> tuple[int, str, int, str]:
    """As the paper has tasks and models, and then all others by name."""
    return [*TASKS, task].index(task), task, [*MODELS, model].index(model), model


def _distance(group: Group) -> tuple[bool, int, int, int, str]:
    """First what has a score, then what has the usual settings, then more steps and more seeds."""
    oddities = len(group.unusual.split(", ")) if group.unusual else 0
    return group.score is None, oddities, -group.planned, -len(group.finished), group.rows[0].settings


def scored(groups: Groups, task: str, model: str) -> list[Group]:
    """Those of a task and a model that have a score."""
    return [group for group in groups.get((task, model), []) if group.scores]


def scores(groups: Groups, models: dict[str, str]) -> dict[str, float]:
    """By task the score of the model that is named for it, where there is one."""
    found = {task: scored(groups, task, model) for task, model in models.items()}
    return {task: mean(some[0].scores) for task, some in found.items() if some}
