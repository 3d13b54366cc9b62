"""How well a network predicts hints where they change.

Most entries of a hint stay as they were from one step to the next. A network that copies the hints it is fed is then
right in nearly all of them, and has learned nothing. So the entries that change are counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from rnar.evaluation.measures import divided, padded_sum


class Accuracies(NamedTuple):
    """Shares of entries, of one shape; NaN where there is no such entry."""

    changed: np.ndarray
    """right, among the entries whose true hint differs from that of the step before"""
    all: np.ndarray
    """right, among all entries"""
    copied: np.ndarray
    """right, among all entries, if the true hint of the step before were the prediction"""


@dataclass(frozen=True)
class Changes:
    """Counts of the entries of one hint, added up over samples.

    A row has four numbers: how many entries change, how many of these are right, how many are judged at all, and how
    many of these are right.
    """

    steps: np.ndarray
    """float64 [T-1, 4]: at each step from 1 on"""
    nodes: np.ndarray
    """float64 [N, 4]: at each node, of pairs at the first of the two; [0, 4] if the hint is of the whole graph"""

    @property
    def total(self) -> Accuracies:
        """Over all steps and nodes: []"""
        return accuracies(self.steps.sum(axis=0))

    @property
    def by_step(self) -> Accuracies:
        """[T-1]"""
        return accuracies(self.steps)

    @property
    def by_node(self) -> Accuracies:
        """[N]"""
        return accuracies(self.nodes)

    def count(self, t: int, decided: Tensor, before: Tensor, truth: Tensor) -> None:
        """Add step t of some samples: the prediction, and the true hint before and after it, [B, ...] as stored."""
        judged = truth >= 0
        changed, right = judged & (truth != before), judged & (decided == truth)
        entries = torch.stack([changed, changed & right, judged, right], dim=-1)
        counts = entries.reshape(len(truth), len(self.nodes) or 1, -1, 4).sum(dim=(0, 2)).cpu().numpy()  # [N or 1, 4]
        self.steps[t] += counts.sum(axis=0)
        if len(self.nodes):
            self.nodes[:] += counts

    def __add__(self, other: Changes) -> Changes:
        """The counts of both, of which one may have more steps than the other."""
        return Changes(padded_sum(self.steps, other.steps), padded_sum(self.nodes, other.nodes))


def accuracies(counts: np.ndarray) -> Accuracies:
    """[..., 4] -> [...]"""
    changed, hits, entries, right = np.moveaxis(counts, -1, 0)
    parts = ((hits, changed), (right, entries), (entries - changed, entries))
    return Accuracies(*(divided(x, y, np.nan) for x, y in parts))
