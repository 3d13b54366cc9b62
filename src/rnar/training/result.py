"""What comes out of a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import msgspec

from rnar.evaluation.evaluate import Evaluation

Share = Annotated[float, msgspec.Meta(ge=0, le=1)]
Count = Annotated[int, msgspec.Meta(ge=0)]
Amount = Annotated[float, msgspec.Meta(ge=0)]


@dataclass(frozen=True)
class Tested:
    """How the best network did on one task's test set (n = 64)."""

    score: Share
    """the mean over outputs of their micro-F1, as the benchmark defines it"""
    interval: tuple[Share, Share]
    """95% of it, if other samples had been drawn (bootstrap)"""
    outputs: dict[str, Share]
    exact: Share
    """the share of samples that are right in all"""
    samples: Count

    @staticmethod
    def of(evaluation: Evaluation) -> Tested:
        interval, exact = evaluation.interval(), evaluation.exact
        return Tested(evaluation.score, interval, evaluation.outputs, exact, evaluation.samples)


@dataclass(frozen=True)
class Candidate:
    """One of the few networks that were best in validation."""

    step: Count
    validation: Share
    score: Share
    """of the last comparison, on more samples"""


@dataclass(frozen=True)
class Result:
    """The test of the selected network, and what it took."""

    score: Share
    """the mean over tasks"""
    tests: dict[str, Tested]
    """by task"""
    validation: Share
    """of the selected network"""
    best_step: Count
    """after how many steps it was there"""
    steps: Count
    """of the whole run"""
    parameters: Count
    seconds: Amount
    """of training, validation included; of all sessions"""
    test_seconds: Amount
    memory_mb: Amount
    """the most at once"""
    candidates: tuple[Candidate, ...] = ()
    """from which the selected one was chosen, on so many samples: empty if validation alone decided"""
    selection_samples: Count = 0
    last: dict[str, Tested] | None = None
    """the same test of the network after all steps"""
    early: bool = False
    """True if it ended before all steps were taken, because validation did not become better"""
    average: dict[str, Tested] | None = None
    """the same test of the average of weights, if there is one"""
