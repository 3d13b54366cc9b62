"""What comes out of a run."""

from __future__ import annotations

from typing import Any, NamedTuple

from rnar.evaluate import Evaluation


class Tested(NamedTuple):
    """How the best network did on one task's official test set (n = 64)."""

    score: float
    """the mean over outputs of their micro-F1, as the benchmark defines it"""
    interval: tuple[float, float]
    """95% of it, if other samples had been drawn (bootstrap)"""
    outputs: dict[str, float]
    exact: float
    """the share of samples that are right in all"""
    samples: int

    @staticmethod
    def of(evaluation: Evaluation) -> Tested:
        low, high = evaluation.interval()
        outputs = {name: float(score) for name, score in evaluation.outputs.items()}
        interval = (float(low), float(high))
        return Tested(float(evaluation.score), interval, outputs, float(evaluation.exact), int(evaluation.samples))


class Result(NamedTuple):
    """The test of the best network, and what it took."""

    score: float
    """the mean over tasks"""
    tests: dict[str, Tested]
    """by task"""
    validation: float
    """of the best network"""
    best_step: int
    """after how many steps it was that"""
    steps: int
    """of the whole run"""
    parameters: int
    seconds: float
    """of training, validation included; of all sessions"""
    test_seconds: float
    memory_mb: float
    """the most at once"""

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**self._asdict(), "tests": {task: test._asdict() for task, test in self.tests.items()}}

    @staticmethod
    def from_plain(plain: dict[str, Any]) -> Result:
        tests = {task: Tested(**{**test, "interval": tuple(test["interval"])}) for task, test in plain["tests"].items()}
        return Result(**{**{name: plain[name] for name in Result._fields}, "tests": tests})
