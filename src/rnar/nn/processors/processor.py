"""A processor: what turns the state of a network into the next one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import torch
from torch import Tensor, nn

from rnar.nn.encoders import Graph
from rnar.nn.linear import Rectified

State = tuple[Tensor, ...]


class Step(NamedTuple):
    """What comes out of one step."""

    state: State
    """what the next step starts from"""
    nodes: Tensor
    """[B, N, node_width]: what decoders see of each node"""
    edges: Tensor | Rectified | None
    """[B, N, N, edge_width]: what decoders see of each pair, besides its encoded features"""
    penalty: Tensor | None = None
    """[B]: what is added to the loss of this step"""


class Processor(nn.Module, ABC):
    """(graph, state) -> step. A subclass says how wide its nodes and edges are, and how it starts."""

    size: int
    node_width: int
    edge_width: int
    uses_adjacency = False
    pointers_from_edges = False
    """Are pointers read off the pairs alone, by one linear map?"""
    penalty_weight = 1.0
    """By what the penalty of each step is multiplied in the loss."""

    def progress(self, fraction: float) -> None:  # noqa: B027 (most have nothing to do)
        """Called in training: which fraction of it is done, from 0 to 1."""

    @abstractmethod
    def start(self, batch: int, nodes: int, like: Tensor) -> State:
        """The state before the first step: tensors [B, ...]."""

    @abstractmethod
    def forward(self, graph: Graph, state: State, rng: torch.Generator | None = None) -> Step: ...
