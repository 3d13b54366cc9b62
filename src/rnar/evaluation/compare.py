"""How much better one network is than another on the same samples.

Which samples are hard is the same for both: a paired difference has a far smaller interval than two scores have.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rnar.evaluation.evaluation import DRAWS, DRAWS_SEED, Evaluation
from rnar.evaluation.measures import Measure

SCORE = "score"
"""the mean over the outputs"""


@dataclass(frozen=True)
class Difference:
    """Two scores on the same samples, and the second less the first."""

    name: str
    """of an output, or `score`"""
    first: float
    second: float
    interval: tuple[float, float]
    """of the difference"""
    is_error: bool
    """True if less is better."""

    @property
    def difference(self) -> float:
        return self.second - self.first

    @property
    def better(self) -> int | None:
        """Which is better, 0 or 1; None if the interval has 0 in it, so that it cannot be told."""
        low, high = self.interval
        return int((low > 0) != self.is_error) if low > 0 or high < 0 else None


def differences(first: Evaluation, second: Evaluation, level: float = 0.95, draws: int = DRAWS) -> list[Difference]:
    """Returns the difference of the scores, and below it those of the outputs, if there are several.

    The intervals are percentiles of a paired bootstrap: the same samples are drawn with replacement for both networks,
    again and again. They tell how much the choice of samples matters, and nothing of other seeds of training.

    Args:
        first: Of one network.
        second: Of another, on the same samples in the same order.
        level: The share of all sets of as many samples in which the difference lies within the interval.
        draws: How often samples are drawn.
    """
    if first.tallies.keys() != second.tallies.keys() or first.samples != second.samples:
        raise ValueError("two evaluations can be compared if they are of the same samples of the same task")
    measures = {name: tally.measure for name, tally in first.tallies.items()}
    drawn = _drawn([first, second], draws)
    scores = {name: np.stack([measures[name].score(x) for x in sums]) for name, sums in drawn.items()}
    errors = {name: measure.is_error for name, measure in measures.items()}
    found = [_difference(SCORE, first.score, second.score, np.mean(list(scores.values()), axis=0), level, errors)]
    for name in measures if len(measures) > 1 else ():
        found.append(_difference(name, first.outputs[name], second.outputs[name], scores[name], level, errors))
    return found


def _drawn(evaluations: list[Evaluation], draws: int) -> dict[str, np.ndarray]:
    """Sums over samples drawn with replacement, the same for all evaluations: by output [evaluation, draw, width]."""
    rng, samples = np.random.default_rng(DRAWS_SEED), evaluations[0].samples
    widths: dict[str, Measure] = {name: tally.measure for name, tally in evaluations[0].tallies.items()}
    sums = {name: np.empty((len(evaluations), draws, measure.width)) for name, measure in widths.items()}
    for draw in range(draws):
        times = np.bincount(rng.integers(samples, size=samples), minlength=samples)
        for k, evaluation in enumerate(evaluations):
            for name, tally in evaluation.tallies.items():
                sums[name][k, draw] = times @ tally.counts
    return sums


def _difference(
    name: str, first: float, second: float, scores: np.ndarray, level: float, errors: dict[str, bool]
) -> Difference:
    bounds = np.nanquantile([*(scores[1] - scores[0]), second - first], [(1 - level) / 2, (1 + level) / 2])
    is_error = all(errors.values()) if name == SCORE else errors[name]
    return Difference(name, first, second, (float(bounds[0]), float(bounds[1])), is_error)
