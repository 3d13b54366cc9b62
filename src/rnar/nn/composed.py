"""Composed hints: what a marked node points at, and who points at it.

    c_j = sum over masks m and pointers p of A_pm (P m)_j + B_pm (P^T m)_j

An algorithm that has marked node q often goes on to the node after q, its parent, or the next letter. A message needs a
step to get there; P m and P^T m are there at once, for pointers that are inputs as well as for those that are hints.

Where a hint marks one node, both are at most 1, whatever the size. Where it may mark any number of them, (P^T m)_j
counts those that point at j, and grows with the graph beyond all that was seen in training.
"""

from typing import Literal

import torch
from torch import Tensor, nn

from rnar.clrs.spec import Feature
from rnar.nn.linear import Linear

Features = dict[str, Feature]
Marks = Literal["none", "one", "all"]
"""which hints are composed with pointers: those that mark one node, or all that mark nodes"""
KINDS: dict[Marks, tuple[str, ...]] = {"none": (), "one": ("mask_one",), "all": ("mask", "mask_one")}


class Composed(nn.Module):
    """Each mask of nodes with each pointer of nodes, both ways.

    Args:
        masks: M, how many hints mark nodes.
        pointers: P, how many inputs and hints point from nodes to nodes.
        size: H.

    Shapes:
        - marked: [B, N, M]
        - pointing: [B, P, N, N], the probability that i points at j
        - output: [B, N, H]
    """

    def __init__(self, masks: int, pointers: int, size: int):
        super().__init__()
        self.map = Linear(2 * masks * pointers, size, deviation=1.0)  # as if each were a feature of its own

    def forward(self, marked: Tensor, pointing: Tensor) -> Tensor:
        there, back = pointing @ marked[:, None], pointing.mT @ marked[:, None]  # [B, P, N, M]
        return self.map(torch.cat([there, back], dim=-1).movedim(1, 2).flatten(2))


def marks(features: Features, which: Marks) -> list[str]:
    """Those that mark nodes."""
    return [name for name, f in features.items() if f.place == "node" and f.kind in KINDS[which]]


def points(features: Features) -> list[str]:
    """Those by which nodes point at nodes."""
    return [name for name, f in features.items() if f.place == "node" and f.kind == "pointer"]


def composed_of(inputs: Features, hints: Features, which: Marks, size: int) -> Composed | None:
    """For these inputs and encoded hints; None where nothing is marked, or nothing points."""
    masks, pointers = len(marks(hints, which)), len(points(inputs)) + len(points(hints))
    return Composed(masks, pointers, size) if masks and pointers else None
