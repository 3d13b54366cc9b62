"""Outcomes that belong together: those of a run at several sizes, or of runs that differ in nothing but their seed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rnar.report.published import title
from rnar.report.trials import Outcome


class Line(NamedTuple):
    """Of a figure or a table."""

    outcomes: list[Outcome]

    @property
    def seeds(self) -> list[int]:
        return sorted({outcome.run.settings.seed for outcome in self.outcomes})

    @property
    def sizes(self) -> list[int]:
        return sorted({outcome.problems.n for outcome in self.outcomes})

    @property
    def label(self) -> str:
        which = f"seed {self.seeds[0]}" if len(self.seeds) == 1 else f"mean of {len(self.seeds)} seeds"
        return f"{title(self.model)}, {which}"

    @property
    def model(self) -> str:
        return self.outcomes[0].run.settings.name

    def at(self, n: int) -> Line:
        return Line([outcome for outcome in self.outcomes if outcome.problems.n == n])

    def score(self) -> tuple[float, float, float]:
        """Of one size: the mean over seeds and its standard error below and above; of one seed its 95% interval."""
        scores = [outcome.evaluation.score for outcome in self.outcomes]
        if len(scores) == 1:
            low, high = self.outcomes[0].interval
            return scores[0], scores[0] - low, high - scores[0]
        error = float(np.std(scores, ddof=1)) / len(scores) ** 0.5
        return float(np.mean(scores)), error, error


def lines(outcomes: Sequence[Outcome], together: bool = False) -> dict[str, list[Line]]:
    """By task, what is one line: each run, or `together` the runs that differ in their seed only."""
    found: dict[str, dict[Any, Line]] = {}
    for outcome in outcomes:
        settings = outcome.run.settings.plain()
        key = str({**settings, "seed": None}) if together else outcome.run.path
        line = found.setdefault(outcome.problems.task, {}).setdefault(key, Line([]))
        line.outcomes.append(outcome)
    return {task: list(some.values()) for task, some in found.items()}
