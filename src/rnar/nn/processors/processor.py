"""A processor: what turns the state of a network into the next one."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from rnar.nn.encoders import Graph
from rnar.nn.linear import OfChannels, Rectified

State = tuple[Tensor, ...]


class Step(NamedTuple):
    """What comes out of one step of B samples with N nodes."""

    state: State
    """tensors [B, ...]: what the next step starts from"""
    nodes: Tensor
    """[B, N, node_width]: what decoders see of each node; of a processor that reads channels, these in place of the
    first H"""
    edges: Tensor | Rectified | None = None
    """[B, N, N, edge_width]: what decoders see of each pair, besides its encoded features"""
    losses: dict[str, Tensor] = {}  # noqa: RUF012 (nobody changes it)
    """by name, [B]: what is added to the loss of this step, as a mean over all steps of all samples"""


class Processor(nn.Module, ABC):
    """(graph, state) -> step: what a node makes of its features, its last state, and what others send it.

    A subclass sets `size`, `node_width` and `edge_width` in its constructor, says how it starts, and has a `forward`.
    Wrapping another processor is the way to change one: see `rnar.nn.processors.forgetnet`.

    Shapes:
        - graph: features of H = `size` numbers, see `Graph`
        - state: tensors [B, ...] of any shapes; those of samples that have ended are cut off from their ends
        - output: see `Step`
    """

    size: int
    """H: how many numbers the encoded features of a node, a pair and the graph have"""
    node_width: int
    """how many numbers decoders see of a node"""
    edge_width: int
    """how many numbers decoders see of a pair, besides its H encoded features; 0: none"""
    triplet_width = 0
    """how many numbers its messages of three nodes have, which pointers of pairs may be part of; 0: it has none"""
    uses_adjacency = False
    """Does it look at `graph.adjacency`?"""
    reads_channels = False
    """Can it take what is known of nodes as it is, C numbers in place of their H encoded features? Then it puts their
    encoding into its own maps of nodes, where there is a `graph.encoding`, and what decoders see of a node begins with
    these channels; where there is none, it gets features as all others do."""
    pointers_from_edges = False
    """Are pointers read off the pairs alone, by one linear map?"""
    losses: tuple[str, ...] = ()
    """The names of what its steps return in `Step.losses`."""

    def progress(self, fraction: float) -> None:  # noqa: B027 (most have nothing to do)
        """Called before each step of training: which fraction of it is done, from 0 to 1."""

    def prepare(self, pairs: OfChannels, nodes: OfChannels | None = None) -> Any:
        """What is the same at every step of a batch, such as products of weights: `graph.prepared` in each step.

        Tensors in (nested) tuples and dicts; `pairs` encodes the channels of pairs, as `graph.pairs` does. Only a
        processor that reads channels is given `nodes`, which encodes theirs. By default there is nothing.
        """

    def draw(self, nodes: int, rng: torch.Generator | None) -> Any:
        """What is drawn once a batch, and is the same for all its samples and steps: `graph.drawn` in each step.

        Tensors in (nested) tuples and dicts. By default there is nothing.
        """

    @abstractmethod
    def start(self, batch: int, nodes: int, like: Tensor) -> State:
        """The state before the first step: tensors [B, ...], of the type and on the device of `like`."""

    @abstractmethod
    def forward(self, graph: Graph, state: State, rng: torch.Generator | None = None) -> Step:
        """One step. `rng` is for those that draw; a step that is computed once more is given the same numbers."""
