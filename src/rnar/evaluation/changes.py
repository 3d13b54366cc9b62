"""How well a network predicts hints where they change.

Most entries of a hint stay as they were from one step to the next. A network that copies the hints it is fed is then
right in nearly all of them, and has learned nothing. So the entries that change are counted apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from rnar.evaluation.measures import divided, padded_sum

WIDTH = 4


class Accuracies(NamedTuple):
    """Shares of entries, each of one shape; NaN where there is no such entry."""

    changed: np.ndarray
    """right, among the entries whose true hint differs from that of the step before"""
    all: np.ndarray
    """right, among all entries"""
    copied: np.ndarray
    """right, among all entries, if the true hint of the step before were the prediction"""


class Changes(NamedTuple):
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

    def plus(self, other: Changes) -> Changes:
        """The counts of both, of which one may have more steps than the other."""
        return Changes(padded_sum(self.steps, other.steps), padded_sum(self.nodes, other.nodes))


class ChangeCounter:
    """Counts the entries of one hint, step after step."""

    def __init__(self) -> None:
        self.steps: list[np.ndarray] = []
        self.nodes: np.ndarray = np.zeros((0, WIDTH))

    def add(self, decided: Tensor, before: Tensor, truth: Tensor) -> None:
        """Count one step of some samples: the prediction, and the true hint before and after it, [B, ...] as stored."""
        judged = truth >= 0
        changed, right = judged & (truth != before), judged & (decided == truth)
        entries = torch.stack([changed, changed & right, judged, right], dim=-1)
        of_nodes, samples = truth.dim() > 1, len(truth)
        counts = entries.reshape(samples, truth.shape[1] if of_nodes else 1, -1, WIDTH).sum(dim=(0, 2))  # [N or 1, 4]
        counts = counts.cpu().numpy().astype(float)
        self.steps.append(counts.sum(axis=0))
        if of_nodes:
            self.nodes = padded_sum(self.nodes, counts)

    @property
    def changes(self) -> Changes:
        return Changes(np.array(self.steps).reshape(-1, WIDTH), self.nodes)


def accuracies(counts: np.ndarray) -> Accuracies:
    """[..., 4] -> [...]"""
    changed, hits, entries, right = np.moveaxis(counts, -1, 0)
    parts = ((hits, changed), (right, entries), (entries - changed, entries))
    return Accuracies(*(divided(x, y, np.nan) for x, y in parts))
