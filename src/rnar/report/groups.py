"""Runs that differ in nothing but their seed, as one measurement."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import mean, stdev

from rnar.report.page import Cell, quiet
from rnar.report.published import MODELS, TASKS
from rnar.report.rows import Row, unusual


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
    def _scores(self) -> list[float]:
        return [100 * row.test_n64 for row in self.rows if row.test_n64 is not None]

    @property
    def score(self) -> float | None:
        """The mean over seeds, in percent."""
        return mean(self._scores) if self._scores else None

    @property
    def error(self) -> float | None:
        """The standard error of that mean; of one seed there is none."""
        count = len(self._scores)
        return stdev(self._scores) / math.sqrt(count) if count > 1 else None

    @property
    def spread(self) -> str:
        """The standard error, as tables print it."""
        return "" if self.error is None else f"{self.error:.2f}"

    @property
    def size(self) -> Cell:
        """How many seeds, and how many steps each."""
        return quiet(f"{len(self.finished)} × {self.planned}")

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
    """Runs of different settings never come into one group."""
    parts: dict[tuple[str, str, int, str], list[Row]] = {}
    for row in rows:
        parts.setdefault((row.task, row.model, row.planned, row.settings), []).append(row)
    found: Groups = {}
    for task, model in sorted({(task, model) for task, model, *_ in parts}, key=lambda pair: in_order(*pair)):
        some = [Group(tuple(sorted(rows, key=lambda row: row.seed)))
                for key, rows in parts.items() if key[:2] == (task, model)]  # fmt: skip
        found[task, model] = sorted(some, key=_distance)
    return found


def in_order(task: str, model: str) -> tuple[list[bool | int | str], list[bool | int | str]]:
    """As the paper has tasks and models, and then all others by name."""
    return _place(task, list(TASKS)), _place(model, list(MODELS))


def _place(name: str, known: list[str]) -> list[bool | int | str]:
    return [name not in known, known.index(name) if name in known else 0, name]


def _distance(group: Group) -> tuple[bool, int, int, int, str]:
    """First what has a score, then what has the usual settings, then more steps and more seeds."""
    oddities = len(group.unusual.split(", ")) if group.unusual else 0
    return group.score is None, oddities, -group.planned, -len(group.finished), group.rows[0].settings
