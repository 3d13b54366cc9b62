"""How each kind of feature is scored, from a few numbers of each sample that can be added up.

The benchmark pools all samples before it divides. So of a sample nothing needs to be kept but these numbers, and a
score over any choice of samples is a sum and a division.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from rnar.clrs.spec import Feature


class Measure(ABC):
    """The interface."""

    name: str
    """what it is called in a table"""
    width: int
    """how many numbers it keeps of a sample"""
    is_error = False
    """Is less better, and 0 the best? Otherwise it goes from 0 to 1."""

    @abstractmethod
    def counts(self, decided: Tensor, stored: Tensor) -> Tensor:
        """[B, ...] in stored form, as decided and as it is -> float64 [B, width]"""

    def score(self, sums: np.ndarray) -> np.ndarray:
        """[..., width], added up over samples -> [...]; NaN where there was nothing to judge. Of two numbers the second
        is of how many entries the first is the sum, and this is their mean."""
        total, entries = np.moveaxis(sums, -1, 0)
        return divided(total, entries, np.nan)

    @abstractmethod
    def right(self, counts: np.ndarray) -> np.ndarray:
        """[B, width] -> bool [B]: is a sample right in every entry?"""


class Accuracy(Measure):
    """The share of judged entries that are right."""

    name, width = "accuracy", 2

    def counts(self, decided: Tensor, stored: Tensor) -> Tensor:
        judged = stored >= 0
        return _added_up((decided == stored) & judged, judged)

    def right(self, counts: np.ndarray) -> np.ndarray:
        return counts[:, 0] == counts[:, 1]


class F1(Measure):
    """The harmonic mean of precision and recall of "yes"; either of nothing is 1."""

    name, width = "F1", 3

    def counts(self, decided: Tensor, stored: Tensor) -> Tensor:
        yes, true = (decided == 1) & (stored >= 0), stored == 1
        return _added_up(yes & true, yes, true)

    def score(self, sums: np.ndarray) -> np.ndarray:
        hits, said, true = np.moveaxis(sums, -1, 0)
        precision, recall = divided(hits, said, 1.0), divided(hits, true, 1.0)
        return divided(2 * precision * recall, precision + recall, 0.0)

    def right(self, counts: np.ndarray) -> np.ndarray:
        return (counts[:, 0] == counts[:, 1]) & (counts[:, 0] == counts[:, 2])


class SquaredError(Measure):
    """The mean squared error of numbers: no accuracy, less is better."""

    name, width, is_error = "squared error", 2, True

    def counts(self, decided: Tensor, stored: Tensor) -> Tensor:
        return _added_up((decided - stored).double() ** 2, torch.ones_like(stored))

    def right(self, counts: np.ndarray) -> np.ndarray:
        return counts[:, 0] == 0


def measure_of(feature: Feature) -> Measure:
    """How a feature is scored."""
    return {"scalar": SquaredError, "mask": F1}.get(feature.kind, Accuracy)()


class Tally(NamedTuple):
    """A measure, and its numbers at several places: of each sample, or of each step."""

    measure: Measure
    counts: np.ndarray
    """float64 [places, width]"""

    @property
    def score(self) -> float:
        """Over all places together."""
        return float(self.measure.score(self.counts.sum(axis=0)))

    @property
    def each(self) -> np.ndarray:
        """At each place."""
        return self.measure.score(self.counts)

    @property
    def right(self) -> np.ndarray:
        """bool: which places have every entry right"""
        return self.measure.right(self.counts)

    def followed_by(self, other: Tally) -> Tally:
        """The places of both."""
        return Tally(self.measure, np.concatenate([self.counts, other.counts]))

    def plus(self, other: Tally) -> Tally:
        """The sums at each place, where one may have more places than the other."""
        return Tally(self.measure, padded_sum(self.counts, other.counts))


def _added_up(*entries: Tensor) -> Tensor:
    """Each [B, ...] -> float64 [B, how many]"""
    return torch.stack([x.reshape(len(x), -1).sum(dim=1, dtype=torch.float64) for x in entries], dim=1)


def padded_sum(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """[P, width] + [Q, width] -> [max(P, Q), width], where missing rows are zeros"""
    total = np.zeros((max(len(one), len(other)), one.shape[1]))
    for counts in (one, other):
        total[: len(counts)] += counts
    return total


def divided(x: np.ndarray, y: np.ndarray, otherwise: float) -> np.ndarray:
    """x / y, or another value where y is 0"""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(y > 0, x / y, otherwise)
