"""What each kind of feature does: how it is widened, relaxed, decided, and what it costs. One class each.

A kind works on three forms of a feature:

* *stored*, as data has it: a pointer is an index (see `rnar.clrs.spec`);
* *wide*, as a network reads it: a pointer is a distribution over nodes;
* *logits*, as a network writes it.

Shapes are those of a batch at one or more steps, [..., *place]; a wide pointer, mask_one or category has one axis more.
"""

from abc import ABC, abstractmethod
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from rnar.clrs.spec import Feature

TEMPERATURE = 0.1
"""of the Sinkhorn operator"""
DECODING_STEPS, DECIDING_STEPS = 10, 50
"""Sinkhorn steps when logits are made, and how many more when they are decided upon (Ibarz et al., 2022)"""
NEVER = 1e6


class LossSum(NamedTuple):
    """A loss before it is averaged: over steps, samples and positions all at once, as the reference does."""

    total: Tensor
    """[]: the sum over all entries that count"""
    count: Tensor
    """[]: how many do"""


class Kind(ABC):
    """The interface. The losses of a kind have names, which are added to the feature's; of most it is one, unnamed."""

    @abstractmethod
    def widen(self, stored: Tensor, nodes: int) -> Tensor: ...

    @abstractmethod
    def relax(self, logits: Any) -> Tensor:
        """The wide form that the logits suggest; gradients flow through it."""

    @abstractmethod
    def decide(self, logits: Any) -> Tensor:
        """The stored form that the logits suggest."""

    @abstractmethod
    def losses(self, logits: Any, stored: Tensor) -> dict[str, LossSum]:
        """By what is added to the feature's name: the summed losses, and over how many entries."""

    @abstractmethod
    def counts(self, stored: np.ndarray) -> dict[str, int]:
        """The same numbers of entries, without any logits."""


class Elementwise(Kind):
    """A kind whose entries are judged one by one, but for those that are stored as less than 0."""

    all_judged = False
    """True if these count too."""

    @abstractmethod
    def element_loss(self, logits: Tensor, stored: Tensor) -> Tensor:
        """The loss of each entry, whether it is judged or not."""

    def losses(self, logits: Tensor, stored: Tensor) -> dict[str, LossSum]:
        judged = torch.ones_like(stored, dtype=torch.bool) if self.all_judged else stored >= 0
        return {"": LossSum(torch.where(judged, self.element_loss(logits, stored), 0.0).sum(), judged.sum())}

    def counts(self, stored: np.ndarray) -> dict[str, int]:
        return {"": stored.size if self.all_judged else int((stored >= 0).sum())}


class Scalar(Elementwise):
    """A number."""

    all_judged = True

    def widen(self, stored: Tensor, nodes: int) -> Tensor:
        return stored.float()

    def relax(self, logits: Tensor) -> Tensor:
        return logits

    def decide(self, logits: Tensor) -> Tensor:
        return logits.detach()

    def element_loss(self, logits: Tensor, stored: Tensor) -> Tensor:
        return (logits - stored) ** 2


class Mask(Elementwise):
    """Yes or no."""

    def widen(self, stored: Tensor, nodes: int) -> Tensor:
        return stored.float()

    def relax(self, logits: Tensor) -> Tensor:
        return torch.sigmoid(logits)

    def decide(self, logits: Tensor) -> Tensor:
        return (logits > 0).to(torch.int8)

    def element_loss(self, logits: Tensor, stored: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(logits, stored.to(logits.dtype), reduction="none")


class OneOf(Elementwise):
    """One of several: the node that is marked (mask_one), a class (categorical), the node pointed at (pointer)."""

    def __init__(self, classes: int | None):
        self.classes = classes
        """None: the nodes"""

    def widen(self, stored: Tensor, nodes: int) -> Tensor:
        there = torch.arange(self.classes or nodes, device=stored.device)
        hot = (stored.clamp(min=0)[..., None] == there).float()
        if self.classes is None:
            return hot
        masked = -torch.eye(self.classes, device=hot.device)[-1]  # the reference's code for "not judged"
        return torch.where((stored < 0)[..., None], masked, hot)

    def relax(self, logits: Tensor) -> Tensor:
        return torch.softmax(logits, dim=-1)

    def decide(self, logits: Tensor) -> Tensor:
        return logits.argmax(dim=-1)

    def element_loss(self, logits: Tensor, stored: Tensor) -> Tensor:
        chosen = logits.gather(-1, stored.clamp(min=0).long()[..., None])[..., 0]
        return torch.logsumexp(logits, dim=-1) - chosen


class PermutationLogits(NamedTuple):
    """The logits of a permutation: each node's predecessor in a ring, and which node comes first."""

    pointers: Tensor
    """[..., n, n]: the logarithm of a doubly stochastic matrix"""
    first: Tensor
    """[..., n]"""


class Permutation(Kind):
    """An order of all nodes: pointers in a ring, from the first to the last too, and which is the first."""

    def widen(self, stored: Tensor, nodes: int) -> Tensor:
        return F.one_hot(stored.long(), nodes).float()

    def relax(self, logits: PermutationLogits) -> Tensor:
        return logits.pointers.exp()

    def decide(self, logits: PermutationLogits) -> Tensor:
        ring = log_sinkhorn(logits.pointers, DECIDING_STEPS).argmax(dim=-1)
        here = torch.arange(ring.shape[-1], device=ring.device)
        return torch.where(here == logits.first.argmax(dim=-1)[..., None], here, ring)

    def losses(self, logits: PermutationLogits, stored: Tensor) -> dict[str, LossSum]:
        ring, first = to_ring(stored)
        pointed = logits.pointers.gather(-1, ring[..., None])[..., 0]
        return {
            "": LossSum(-pointed.sum(), torch.tensor(pointed.numel(), device=pointed.device)),
            "_first": OneOf(None).losses(logits.first, first)[""],
        }

    def counts(self, stored: np.ndarray) -> dict[str, int]:
        return {"": stored.size, "_first": stored.size // stored.shape[-1]}


Logits = Tensor | PermutationLogits


def concatenated(pieces: list[Any]) -> Any:
    """The logits of several groups of samples, one after the other."""
    if isinstance(pieces[0], PermutationLogits):
        return PermutationLogits(*(torch.cat(part) for part in zip(*pieces, strict=True)))
    return torch.cat(pieces)


@cache
def kind_of(feature: Feature) -> Kind:
    """The kind that a feature is of."""
    kinds = {"scalar": Scalar, "mask": Mask, "permutation": Permutation}
    return kinds[feature.kind]() if feature.kind in kinds else OneOf(feature.classes)


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
