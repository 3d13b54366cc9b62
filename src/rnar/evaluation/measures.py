"""How each kind of feature is scored, from a few numbers of each sample that can be added up.

The benchmark pools all samples before it divides. So a score over any choice of samples is a sum of these numbers and a
division.
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
    """its name in a table"""
    width = 2
    """how many numbers it keeps of a sample"""
    is_error = False
    """True if less is better and 0 the best; else a score goes from 0 to 1"""

    @abstractmethod
    def counts(self, decided: Tensor, stored: Tensor) -> Tensor:
        """[B, ...] in stored form, as decided and as it is -> float64 [B, width]"""

    def score(self, sums: np.ndarray) -> np.ndarray:
        """[..., width], added up over samples -> [...]; NaN where there was nothing to judge.

        Of two numbers the second is of how many entries the first is the sum, and this is their mean.
        """
        return divided(sums[..., 0], sums[..., 1], np.nan)

    def right(self, counts: np.ndarray) -> np.ndarray:
        """[B, width] -> bool [B]: True for samples that are right in every entry."""
        return (counts[:, :1] == counts[:, 1:]).all(axis=1)


class Accuracy(Measure):
    """The share of judged entries that are right."""

    name = "accuracy"

    def counts(self, decided: Tensor, stored: Tensor) -> Tensor:
        judged = stored >= 0
        return _added_up((decided == stored) & judged, judged)


class F1(Measure):
    """The harmonic mean of precision and recall of "yes"; either of nothing is 1."""

    name, width = "F1", 3

    def counts(self, decided: Tensor, stored: Tensor) -> Tensor:
        yes, true = (decided == 1) & (stored >= 0), stored == 1
        return _added_up(yes & true, yes, true)

    def score(self, sums: np.ndarray) -> np.ndarray:
        hits, predicted, true = np.moveaxis(sums, -1, 0)
        precision, recall = divided(hits, predicted, 1.0), divided(hits, true, 1.0)
        return divided(2 * precision * recall, precision + recall, 0.0)


class SquaredError(Measure):
    """The mean squared error of numbers."""

    name, is_error = "squared error", True

    def counts(self, decided: Tensor, stored: Tensor) -> Tensor:
        return _added_up((decided - stored).double() ** 2, torch.ones_like(stored))

    def right(self, counts: np.ndarray) -> np.ndarray:
        return counts[:, 0] == 0


def measure_of(feature: Feature) -> Measure:
    """The measure of a feature."""
    return {"scalar": SquaredError, "mask": F1}.get(feature.kind, Accuracy)()


class Tally(NamedTuple):
    """A measure, and its numbers at several places: at each sample, or at each step."""

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
        """bool: True at places where every entry is right."""
        return self.measure.right(self.counts)


def _added_up(*entries: Tensor) -> Tensor:
    """Tensors [B, ...] -> float64 [B, number of tensors]"""
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
