"""The score of a network at one size: what tables and figures show of an outcome, also of one that a file tells."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from rnar.evaluation.measures import Tally
from rnar.report.trials import Outcome, Trial

LARGEST_SEEN = 16  # in training, by the standard protocol


class Scored(NamedTuple):
    """A score, and what it is of."""

    run: str
    """its folder"""
    kind: str
    """the same for runs that differ in nothing but their seed"""
    model: str
    seed: int
    task: str
    n: int
    samples: int
    score: float
    interval: tuple[float, float]
    trial: Trial
    step: int
    """of training, after which the network was so"""
    seen: int
    """the largest size of training"""
    hints: Mapping[str, Tally]
    """how well each is predicted, if that was asked for"""

    @staticmethod
    def of(outcome: Outcome) -> Scored:
        settings, problems, evaluation = outcome.run.settings, outcome.problems, outcome.evaluation
        return Scored(
            run=str(outcome.run.path),
            kind=str({**settings.plain(), "seed": None}),
            model=settings.name,
            seed=settings.seed,
            task=problems.task,
            n=problems.n,
            samples=problems.samples,
            score=evaluation.score,
            interval=outcome.interval,
            trial=outcome.trial,
            step=outcome.step,
            seen=max(settings.sizes or [LARGEST_SEEN]),
            hints=evaluation.hints,
        )
