"""Scores that belong together: those of a run at several sizes, or of runs that differ in nothing but their seed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from rnar.report.published import title
from rnar.report.scored import Scored


class Line(NamedTuple):
    """Of a figure or a table."""

    scores: list[Scored]

    @property
    def seeds(self) -> list[int]:
        return sorted({each.seed for each in self.scores})

    @property
    def sizes(self) -> list[int]:
        return sorted({each.n for each in self.scores})

    @property
    def label(self) -> str:
        which = f"seed {self.seeds[0]}" if len(self.seeds) == 1 else f"mean of {len(self.seeds)} seeds"
        return ", ".join(filter(None, [title(self.model), which, self.way]))

    @property
    def model(self) -> str:
        return self.scores[0].model

    @property
    def way(self) -> str:
        """What is unusual about how the networks were asked, in words."""
        return str(self.scores[0].trial)

    def at(self, n: int) -> Line:
        return Line([each for each in self.scores if each.n == n])

    def score(self) -> tuple[float, float, float]:
        """Of one size: the mean over seeds and its standard error below and above; of one seed its 95% interval."""
        scores = [each.score for each in self.scores]
        if len(scores) == 1:
            low, high = self.scores[0].interval
            return scores[0], scores[0] - low, high - scores[0]
        error = float(np.std(scores, ddof=1)) / len(scores) ** 0.5
        return float(np.mean(scores)), error, error


def lines(scores: Iterable[Scored], together: bool = False) -> dict[str, list[Line]]:
    """By task, what is one line: each run, or `together` the runs that differ in their seed only."""
    found: dict[str, dict[str, Line]] = {}
    for each in scores:
        line = found.setdefault(each.task, {}).setdefault(each.kind if together else each.run, Line([]))
        line.scores.append(each)
    return {task: list(some.values()) for task, some in found.items()}
