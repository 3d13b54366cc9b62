"""The result of an evaluation: scores, and intervals for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from rnar.evaluation.changes import Changes
from rnar.evaluation.measures import Tally, padded_sum

DRAWS, DRAWS_SEED = 1000, 0


@dataclass(frozen=True)
class Evaluation:
    """The numbers that scores are made of. Those of more samples can be added: `one + other`."""

    tallies: dict[str, Tally]
    """of each output, at each sample"""
    hints: dict[str, Tally] = field(default_factory=dict)
    """of each hint, at each step from 1 on, over the samples that have that step; empty if it was not asked for"""
    changes: dict[str, Changes] = field(default_factory=dict)
    """of each hint but numbers: how well it is predicted where it changes, beside what copying it would score"""

    @property
    def samples(self) -> int:
        return len(next(iter(self.tallies.values())).counts)

    @property
    def outputs(self) -> dict[str, float]:
        """The micro-F1 of each output as the benchmark defines it, over all samples at once."""
        return {name: tally.score for name, tally in self.tallies.items()}

    @property
    def score(self) -> float:
        """The mean over the outputs."""
        return float(np.mean(list(self.outputs.values())))

    @property
    def exact(self) -> float:
        """The share of samples that are right in every entry of every output."""
        return float(np.all([tally.right for tally in self.tallies.values()], axis=0).mean())

    def interval(self, level: float = 0.95, draws: int = DRAWS) -> tuple[float, float]:
        """Between which bounds the score lies for so large a part of all sets of as many samples as these.

        The percentiles of a bootstrap: as many samples are drawn from these with replacement, again and again (Efron,
        1979). It knows nothing of other seeds of training, and has no width where all samples are equally right.
        """
        scores = self._resampled(draws)
        low, high = np.nanquantile([*scores, self.score], [(1 - level) / 2, (1 + level) / 2])
        return min(float(low), self.score), max(float(high), self.score)

    def _resampled(self, draws: int) -> np.ndarray:
        """The scores of as many samples, drawn from these with replacement: [draws]"""
        rng = np.random.default_rng(DRAWS_SEED)
        sums = {name: np.empty((draws, tally.measure.width)) for name, tally in self.tallies.items()}
        for draw in range(draws):
            times = np.bincount(rng.integers(self.samples, size=self.samples), minlength=self.samples)
            for name, tally in self.tallies.items():
                sums[name][draw] = times @ tally.counts
        return np.mean([tally.measure.score(sums[name]) for name, tally in self.tallies.items()], axis=0)

    def __add__(self, other: Evaluation) -> Evaluation:
        def both(one: dict[str, Tally], two: dict[str, Tally], add: Callable[..., np.ndarray]) -> dict[str, Tally]:
            return {name: Tally(x.measure, add(x.counts, two[name].counts)) for name, x in one.items()}

        return Evaluation(
            both(self.tallies, other.tallies, lambda *counts: np.concatenate(counts)),
            both(self.hints, other.hints, padded_sum),
            {name: changes + other.changes[name] for name, changes in self.changes.items()},
        )
