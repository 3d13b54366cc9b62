"""Decoders: what a step leaves -> logits, one class for each kind of feature. Each is a few linear maps and a formula.

With h_i the node features (x_i || the processor's own), e_ij the edge features, g those of the graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor, nn

from rnar.clrs.spec import Feature
from rnar.functional import Edges, Features, computed, linears, max_dot, max_dot_triples, relu_dot_triples
from rnar.nn.kinds import DECODING_STEPS, Logits, PermutationLogits, log_sinkhorn
from rnar.nn.linear import Linear
from rnar.nn.triples import Codes

TRIPLE_SIZE = 16  # features of three nodes, of which the logit of an edge's pointer is made: there are N^3 of them


class Widths(NamedTuple):
    """The number of features that decoders read."""

    size: int
    """H, of the graph, and within decoders"""
    node: int
    edge: int
    pointers: int | None = None
    """the pointers of edges that are kept as triples; None: pointers of edges are not read off triples"""


@dataclass
class Decoded:
    """What decoders read: the features of B samples after a step."""

    edges: Edges
    """[B, N, N, edge width]"""
    products: dict[nn.Module, Tensor]
    """What each linear map makes of the nodes, the edges, the maximum over nodes, or the graph."""
    pointers: Tensor | None = None
    """[B, K, N, N, N]: the pointers of edges that were fed, where they are kept as triples"""
    noise: Tensor | None = None
    """[B, N, N], uniform in [0, 1): for permutations in training"""

    def by(self, maps: nn.ModuleList) -> list[Tensor]:
        return [self.products[layer] for layer in maps]


class Decoder(nn.Module):
    """The decoder of one feature: linear maps of nodes and edges, and in `forward` how logits are made of them."""

    one_number = False
    """True if logits have a last axis of one number, which is left out."""

    def __init__(self, nodes: list[Linear], edges: list[Linear]):
        super().__init__()
        self.of_nodes = nn.ModuleList(nodes)
        self.of_edges = nn.ModuleList(edges)


class NodeDecoder(Decoder):
    """l_i = W h_i"""

    def __init__(self, feature: Feature, widths: Widths):
        super().__init__([Linear(widths.node, feature.classes or 1)], [])
        self.one_number = feature.classes is None

    def forward(self, x: Decoded) -> Tensor:
        return x.products[self.of_nodes[0]]


class NodePointerDecoder(Decoder):
    """l_ij = w . max(P1 h_i, P2 h_j + P3 e_ji)"""

    def __init__(self, widths: Widths):
        super().__init__([Linear(widths.node, widths.size) for _ in range(2)], [Linear(widths.edge, widths.size)])
        self.last = Linear(widths.size, 1)

    def forward(self, x: Decoded) -> Tensor:
        p, q = x.by(self.of_nodes)
        return max_dot(p, q, x.edges, self.of_edges[0], self.last.weight[0]) + self.last.bias


class PointerFromEdgesDecoder(Decoder):
    """l_ij = w . e_ij: node pointers that are read off the edges alone (Diao and Loynd, 2023)"""

    def __init__(self, widths: Widths):
        super().__init__([], [Linear(widths.edge, 1)])

    def forward(self, x: Decoded) -> Tensor:
        return x.products[self.of_edges[0]].squeeze(-1)


class PermutationDecoder(Decoder):
    """A pointer decoder for the ring, made doubly stochastic by Sinkhorn's operator, and a decoder for the first."""

    def __init__(self, pointer: Decoder, widths: Widths):
        super().__init__([Linear(widths.node, 1)], [])
        self.pointer = pointer

    def forward(self, x: Decoded) -> PermutationLogits:
        first = x.products[self.of_nodes[0]].squeeze(-1)
        return PermutationLogits(log_sinkhorn(self.pointer(x), DECODING_STEPS, x.noise), first)


class EdgeDecoder(Decoder):
    """l_ij = W1 h_i + W2 h_j + W3 e_ij"""

    def __init__(self, feature: Feature, widths: Widths):
        outputs = feature.classes or 1
        super().__init__([Linear(widths.node, outputs), Linear(widths.node, outputs)], [Linear(widths.edge, outputs)])
        self.one_number = feature.classes is None

    def forward(self, x: Decoded) -> Tensor:
        i, j = x.by(self.of_nodes)
        return i[:, :, None] + j[:, None] + x.products[self.of_edges[0]]


class EdgePointerDecoder(Decoder):
    """l_ijk = w . max(Q1 h_i + Q2 h_j + Q3 e_ij, Q4 h_k)"""

    def __init__(self, widths: Widths):
        super().__init__([Linear(widths.node, widths.size) for _ in range(3)], [Linear(widths.edge, widths.size)])
        self.last = Linear(widths.size, 1)

    def forward(self, x: Decoded) -> Tensor:
        i, j, k = x.by(self.of_nodes)
        pairs = i[:, :, None] + j[:, None] + x.products[self.of_edges[0]]
        return max_dot_triples(pairs, k, self.last.weight[0]) + self.last.bias


class TriplePointerDecoder(Decoder):
    """l_ijk = w . relu(all six edges of i, j, k, the three nodes, the old pointers): see `rnar.nn.triples`"""

    def __init__(self, widths: Widths):
        size, third = TRIPLE_SIZE, 1 / 3  # nine maps are added up: each begins with a third of the usual deviation
        super().__init__(
            [Linear(widths.node, size, third * widths.node**-0.5) for _ in range(3)],
            [Linear(widths.edge, 6 * size, third * widths.edge**-0.5)],
        )
        self.codes = Codes(widths.pointers or 0, size)
        self.last = Linear(size, 1)

    def forward(self, x: Decoded) -> Tensor:
        first, second, third = x.by(self.of_nodes)
        ij, ik, kj, ji, ki, jk = x.products[self.of_edges[0]].chunk(6, dim=-1)
        of_ij = ij + ji.transpose(1, 2) + first[:, :, None] + second[:, None]
        of_ik = ik + ki.transpose(1, 2) + third[:, None]
        of_jk = jk + kj.transpose(1, 2)
        pointers = x.pointers
        if pointers is None:
            pointers = of_ij.new_zeros(len(of_ij), 0, *[of_ij.shape[1]] * 3)
        logits = relu_dot_triples(of_ij, of_ik, of_jk, pointers, self.codes.weight, self.last.weight[0])
        return logits + self.last.bias


class GraphDecoder(Decoder):
    """l = W1 max_i h_i + W2 g"""

    def __init__(self, feature: Feature, widths: Widths):
        super().__init__([], [])
        self.from_nodes = Linear(widths.node, feature.classes or 1)
        self.from_graph = Linear(widths.size, feature.classes or 1)
        self.one_number = feature.classes is None

    def forward(self, x: Decoded) -> Tensor:
        return x.products[self.from_nodes] + x.products[self.from_graph]


def decoder_of(feature: Feature, widths: Widths, pointers_from_edges: bool = False) -> Decoder:
    """The decoder for a feature."""
    if feature.place == "graph":
        return GraphDecoder(feature, widths)
    if feature.place == "edge":
        if feature.kind == "pointer":
            return EdgePointerDecoder(widths) if widths.pointers is None else TriplePointerDecoder(widths)
        return EdgeDecoder(feature, widths)
    if feature.kind not in ("pointer", "permutation"):
        return NodeDecoder(feature, widths)
    pointer = PointerFromEdgesDecoder(widths) if pointers_from_edges else NodePointerDecoder(widths)
    return PermutationDecoder(pointer, widths) if feature.kind == "permutation" else pointer


class Decoders(nn.Module):
    """The decoders of some features of one task."""

    def __init__(self, features: dict[str, Feature], widths: Widths, pointers_from_edges: bool = False):
        super().__init__()
        self.each = nn.ModuleDict(
            {name: decoder_of(feature, widths, pointers_from_edges) for name, feature in features.items()}
        )
        decoders = [module for module in self.modules() if isinstance(module, Decoder)]
        of_graph = [decoder for decoder in decoders if isinstance(decoder, GraphDecoder)]
        self._of_nodes = [layer for decoder in decoders for layer in decoder.of_nodes]
        self._of_edges = [
            layer
            for decoder in decoders
            if not isinstance(decoder, NodePointerDecoder)  # its operation maps edges as it goes
            for layer in decoder.of_edges
        ]
        self._of_best = [decoder.from_nodes for decoder in of_graph]
        self._of_graph = [decoder.from_graph for decoder in of_graph]

    def forward(
        self, nodes: Features, edges: Edges, graph: Tensor, pointers: Tensor | None, noise: Tensor | None = None
    ) -> dict[str, Logits]:
        """The logits of each feature [B, ...]. Maps of the same input are one product."""
        products = dict(zip(self._of_nodes, linears(nodes, *self._of_nodes), strict=True))
        products.update(zip(self._of_edges, linears(edges, *self._of_edges), strict=True))
        if self._of_graph:
            best = computed(nodes).amax(dim=1)
            products.update(zip(self._of_best, linears(best, *self._of_best), strict=True))
            products.update(zip(self._of_graph, linears(graph, *self._of_graph), strict=True))
        x = Decoded(edges, products, pointers, noise)
        logits = {name: decoder(x) for name, decoder in self.each.items()}
        return {name: y.squeeze(-1) if self.each[name].one_number else y for name, y in logits.items()}
