"""What comes out of a run."""

from __future__ import annotations

from typing import Any, NamedTuple

from rnar.evaluation.evaluate import Evaluation


class Tested(NamedTuple):
    """How the best network did on one task's test set (n = 64)."""

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


class Candidate(NamedTuple):
    """One of the few networks that were best in validation."""

    step: int
    validation: float
    score: float
    """of the last comparison, on more samples"""


class Result(NamedTuple):
    """The test of the selected network, and what it took."""

    score: float
    """the mean over tasks"""
    tests: dict[str, Tested]
    """by task"""
    validation: float
    """of the selected network"""
    best_step: int
    """after how many steps it was there"""
    steps: int
    """of the whole run"""
    parameters: int
    seconds: float
    """of training, validation included; of all sessions"""
    test_seconds: float
    memory_mb: float
    """the most at once"""
    candidates: tuple[Candidate, ...] = ()
    """from which the selected one was chosen, on so many samples: empty if validation alone decided"""
    selection_samples: int = 0
    last: dict[str, Tested] | None = None
    """the same test of the network after all steps"""
    average: dict[str, Tested] | None = None
    """the same test of the average of weights, if there is one"""

    def plain(self) -> dict[str, Any]:
        """As JSON has it."""
        tests = {name: _plain(getattr(self, name)) for name in TESTS}
        return {**self._asdict(), **tests, "candidates": [each._asdict() for each in self.candidates]}

    @staticmethod
    def from_plain(plain: dict[str, Any]) -> Result:
        """The inverse of `plain`; results of older runs have less."""
        found = {**Result._field_defaults, **{name: plain[name] for name in Result._fields if name in plain}}
        found |= {name: _tests(found[name]) for name in TESTS}
        return Result(**{**found, "candidates": tuple(Candidate(**each) for each in found["candidates"])})


TESTS = ("tests", "last", "average")
NEEDED = tuple(name for name in Result._fields if name not in Result._field_defaults)


def _plain(tests: dict[str, Tested] | None) -> dict[str, Any] | None:
    return tests and {task: test._asdict() for task, test in tests.items()}


def _tests(plain: dict[str, Any] | None) -> dict[str, Tested] | None:
    return plain and {task: Tested(**{**test, "interval": tuple(test["interval"])}) for task, test in plain.items()}
