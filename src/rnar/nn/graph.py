"""The graph that a processor sees at one step, and what comes out of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from torch import Tensor

from rnar.functional import Features, computed


class Triples(NamedTuple):
    """What is known of three nodes of B samples: K pointers of edges."""

    pointers: Tensor
    """[B, K, N, N, N]: the probability that (i, j) points at k"""
    codes: Tensor
    """[K, 6, F]: what the messages of three nodes make of each, in each order"""


class Graph:
    """The encoded features of B samples with N nodes at one step. All pairs of nodes are edges.

    Args:
        nodes: [B, N, H], a tensor or a lazy value (`rnar.functional.affine`)
        edges: [B, N, N, H], of (sender, receiver): a tensor or a lazy value
        graph: [B, H], features of the whole graph
        adjacency: bool [B, N, N], symmetric with self-loops: the pairs that an edge or a pointer joins; or what
            computes it
        triples: pointers of edges, where a model keeps them
    """

    def __init__(
        self,
        nodes: Features,
        edges: Features,
        graph: Tensor,
        adjacency: Tensor | Callable[[], Tensor] | None = None,
        triples: Triples | None = None,
    ):
        self.lazy_nodes, self.lazy_edges, self.graph, self.triples = nodes, edges, graph, triples
        self._adjacency = adjacency

    @property
    def nodes(self) -> Tensor:
        """[B, N, H], computed; `lazy_nodes` are the same for operations that need not have them computed."""
        return computed(self.lazy_nodes)

    @property
    def edges(self) -> Tensor:
        """[B, N, N, H], computed; `lazy_edges` are the same for operations that need not have them computed."""
        return computed(self.lazy_edges)

    @property
    def adjacency(self) -> Tensor:
        """bool [B, N, N]"""
        if self._adjacency is None:
            raise ValueError("this graph was made without an adjacency matrix: Graph(..., adjacency=...)")
        if not isinstance(self._adjacency, Tensor):
            self._adjacency = self._adjacency()
        return self._adjacency

    def zeros(self) -> Tensor:
        """[B, N, H]: the state before the first step."""
        return self.graph.new_zeros(self.lazy_nodes.shape)

    def replace(self, **changes: Any) -> Graph:
        """The same graph with other features: `graph.replace(nodes=...)`."""
        now = dict(nodes=self.lazy_nodes, edges=self.lazy_edges, graph=self.graph, adjacency=self._adjacency)
        return Graph(**{**now, "triples": self.triples, **changes})
