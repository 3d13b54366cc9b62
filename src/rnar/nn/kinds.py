"""What each kind of feature does: how it is widened, relaxed, decided, and judged. One class each.

A kind works on three forms of a feature:

* *stored*, as data has it: a pointer is an index (see `rnar.clrs.spec`);
* *wide*, as a network reads it: a pointer is a distribution over nodes;
* *logits*, as a network writes it.

Shapes are those of a batch at one or more steps, [..., *place]; a wide pointer, mask_one or category has one axis more.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from rnar.clrs.spec import Feature

TEMPERATURE = 0.1
"""of the Sinkhorn operator"""
DECODING_STEPS, DECIDING_STEPS = 10, 50
"""Sinkhorn steps when logits are made, and how many more when they are decided upon (Ibarz et al., 2022)"""
NEVER = 1e6


class Judged(NamedTuple):
    """A loss before it is averaged: over steps, samples and positions all at once, as the reference does."""

    total: Tensor
    """[]: the sum over all entries that count"""
    count: Tensor
    """[]: how many do"""


class Kind(ABC):
    """The interface."""

    @abstractmethod
    def widen(self, stored: Tensor, nodes: int) -> Tensor: ...

    @abstractmethod
    def relax(self, logits: Tensor) -> Tensor:
        """The wide form that the logits suggest; gradients flow through it."""

    @abstractmethod
    def decide(self, logits: Tensor) -> Tensor:
        """The stored form that the logits suggest."""

    def judged(self, stored: Tensor) -> Tensor:
        """Which entries are judged."""
        return torch.ones_like(stored, dtype=torch.bool)

    @abstractmethod
    def element_loss(self, logits: Tensor, stored: Tensor) -> Tensor:
        """The loss of each entry, whether it is judged or not."""

    def loss(self, logits: Tensor, stored: Tensor) -> Judged:
        """The summed loss, and over how many entries."""
        judged = self.judged(stored)
        return Judged(torch.where(judged, self.element_loss(logits, stored), 0.0).sum(), judged.sum())

    def score(self, decided: Tensor, stored: Tensor) -> Tensor:
        """How good decisions are: the share of judged entries that are right, pooled over everything."""
        judged = stored >= 0
        return ((decided == stored) & judged).sum() / judged.sum()


class Scalar(Kind):
    """A number. Scored by its mean squared error: less is better."""

    def widen(self, stored: Tensor, nodes: int) -> Tensor:
        return stored.float()

    def relax(self, logits: Tensor) -> Tensor:
        return logits

    def decide(self, logits: Tensor) -> Tensor:
        return logits.detach()

    def element_loss(self, logits: Tensor, stored: Tensor) -> Tensor:
        return (logits - stored) ** 2

    def score(self, decided: Tensor, stored: Tensor) -> Tensor:
        return ((decided - stored) ** 2).mean()


class Mask(Kind):
    """Yes or no. Scored by F1 of "yes" over everything; precision or recall of nothing is 1."""

    def widen(self, stored: Tensor, nodes: int) -> Tensor:
        return stored.float()

    def relax(self, logits: Tensor) -> Tensor:
        return torch.sigmoid(logits)

    def decide(self, logits: Tensor) -> Tensor:
        return (logits > 0).to(torch.int8)

    def judged(self, stored: Tensor) -> Tensor:
        return stored >= 0

    def element_loss(self, logits: Tensor, stored: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(logits, stored.to(logits.dtype), reduction="none")

    def score(self, decided: Tensor, stored: Tensor) -> Tensor:
        hit = ((decided == 1) & (stored == 1)).sum().float()
        said, true = ((decided == 1) & (stored >= 0)).sum(), (stored == 1).sum()
        precision = torch.where(said > 0, hit / said, 1.0)
        recall = torch.where(true > 0, hit / true, 1.0)
        return torch.where(precision + recall > 0, 2 * precision * recall / (precision + recall), 0.0)


class OneOf(Kind):
    """One of several: the node that is marked (mask_one), a class (categorical), the node pointed at (pointer)."""

    def __init__(self, classes: int | None):
        self.classes = classes
        """None: the nodes"""

    def widen(self, stored: Tensor, nodes: int) -> Tensor:
        hot = F.one_hot(stored.clamp(min=0).long(), self.classes or nodes).float()
        if self.classes is None:
            return hot
        masked = -torch.eye(self.classes, device=hot.device)[-1]  # the reference's code for "not judged"
        return torch.where((stored < 0)[..., None], masked, hot)

    def relax(self, logits: Tensor) -> Tensor:
        return torch.softmax(logits, dim=-1)

    def decide(self, logits: Tensor) -> Tensor:
        return logits.argmax(dim=-1)

    def judged(self, stored: Tensor) -> Tensor:
        return stored >= 0

    def element_loss(self, logits: Tensor, stored: Tensor) -> Tensor:
        chosen = logits.gather(-1, stored.clamp(min=0).long()[..., None])[..., 0]
        return torch.logsumexp(logits, dim=-1) - chosen


class Ring(NamedTuple):
    """The logits of a permutation: each node's predecessor in a ring, and which node comes first."""

    pointers: Tensor
    """[..., n, n]: the logarithm of a doubly stochastic matrix"""
    first: Tensor
    """[..., n]"""


def kind_of(feature: Feature) -> Kind:
    """The kind that a feature is of. (A permutation is never fed back; `Permutation` has a loss of two parts.)"""
    if feature.kind in ("mask_one", "pointer"):
        return OneOf(None)
    if feature.kind == "categorical":
        return OneOf(feature.classes)
    return {"scalar": Scalar(), "mask": Mask()}[feature.kind]


class Permutation:
    """An order of all nodes: pointers in a ring, from the first to the last too, and which is the first."""

    @staticmethod
    def loss(logits: Ring, stored: Tensor) -> dict[str, Judged]:
        ring, first = to_ring(stored)
        pointed = logits.pointers.gather(-1, ring[..., None])[..., 0]
        return {
            "": Judged(-pointed.sum(), torch.tensor(pointed.numel(), device=pointed.device)),
            "_first": OneOf(None).loss(logits.first, first),
        }

    @staticmethod
    def decide(logits: Ring) -> Tensor:
        ring = log_sinkhorn(logits.pointers, DECIDING_STEPS).argmax(dim=-1)
        here = torch.arange(ring.shape[-1], device=ring.device)
        return torch.where(here == logits.first.argmax(dim=-1)[..., None], here, ring)

    @staticmethod
    def score(decided: Tensor, stored: Tensor) -> Tensor:
        return (decided == stored).float().mean()


def to_ring(pred: Tensor) -> tuple[Tensor, Tensor]:
    """Stored predecessors [..., n] -> the same in a ring, where the first points at the last; and the first [...]."""
    pred = pred.long()
    here = torch.arange(pred.shape[-1], device=pred.device)
    first = (pred == here).int().argmax(dim=-1)
    pointed_at = (pred[..., None, :] == here[:, None]).any(dim=-1)
    last = pointed_at.int().argmin(dim=-1)
    return torch.where(here == first[..., None], last[..., None], pred), first


def log_sinkhorn(x: Tensor, steps: int, noise: Tensor | None = None) -> Tensor:
    """The logarithm of a doubly stochastic matrix with an empty diagonal near exp(x / TEMPERATURE): [..., n, n].

    Given uniform numbers as `noise`, Gumbel noise is made of them and added first (Mena et al., 2018): a sample.
    """
    if noise is not None:
        x = x - torch.log(-torch.log(noise + 1e-12) + 1e-12)
    x = x / TEMPERATURE - NEVER * torch.eye(x.shape[-1], device=x.device)
    for _ in range(steps):
        x = torch.log_softmax(x, dim=-1)
        x = torch.log_softmax(x, dim=-2)
    return x
