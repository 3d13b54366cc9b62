"""The graph that a processor sees at one step."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
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
        adjacency: bool [B, N, N], symmetric with self-loops: the pairs that an edge or a pointer joins
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

    def zeros(self) -> Tensor:
        """[B, N, H]: the state before the first step."""
        return self.graph.new_zeros(self.lazy_nodes.shape)

    @cached_property
    def adjacency(self) -> Tensor:
        if self._adjacency is None:
            raise ValueError("this graph was made without an adjacency matrix: Graph(..., adjacency=...)")
        return self._adjacency if isinstance(self._adjacency, Tensor) else self._adjacency()

    def __getitem__(self, some: slice) -> Graph:
        """The graphs of some samples."""
        if some == slice(None):
            return self
        triples = None if self.triples is None else self.triples._replace(pointers=self.triples.pointers[some])
        adjacency = None if self._adjacency is None else (lambda: self.adjacency[some])
        return Graph(self.lazy_nodes[some], self.lazy_edges[some], self.graph[some], adjacency, triples)

    def replace(self, **changes: Any) -> Graph:
        """The same graph with other features: `graph.replace(nodes=...)`."""
        now = dict(
            nodes=self.lazy_nodes,
            edges=self.lazy_edges,
            graph=self.graph,
            adjacency=self._adjacency,
            triples=self.triples,
        )
        return Graph(**{**now, **changes})
