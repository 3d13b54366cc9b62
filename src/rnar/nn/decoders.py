"""Decoders: what a step leaves -> logits. Each feature has a few linear maps; all maps of one input are one product."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from torch import Tensor, nn

from rnar.clrs.spec import Feature
from rnar.nn.kinds import DECODING_STEPS, Ring, log_sinkhorn
from rnar.nn.linear import Linear, OfChannels, Rectified, SideBySide
from rnar.nn.triples import Codes
from rnar.ops import max_dot, max_dot_rectified, max_dot_triples, max_over_senders, relu_dot_triples

TRIPLE_SIZE = 16  # numbers of three nodes, of which a pointer's logit is made: there are N^3 of them

Logits = Tensor | Ring


@dataclass
class View:
    """What decoders see of a step, of B samples with N nodes."""

    nodes: Tensor
    """[B, N, node_width]"""
    channels: Tensor
    """[B, N, N, C]: what is known of pairs; decoders make of it what they need"""
    edges: Tensor | Rectified | None
    """[B, N, N, edge_width]: what the processor made of pairs"""
    whole: Tensor
    """[B, H]"""
    pointers: Tensor | None = None
    """[B, K, N, N, N]: the pointers of pairs that were fed, where they are kept as triples"""

    def part(self, some: slice) -> View:
        """Of some samples."""
        edges = None if self.edges is None else self.edges[some]
        pointers = None if self.pointers is None else self.pointers[some]
        return View(self.nodes[some], self.channels[some], edges, self.whole[some], pointers)

    @cached_property
    def best(self) -> Tensor:
        """The maximum over nodes: [B, node_width]"""
        return max_over_senders(self.nodes[:, :, None]).squeeze(1)


class PairMap(NamedTuple):
    """A linear map of a pair's encoded features and of what the processor made of it: c W + rest + V e."""

    of_channels: OfChannels
    """[C, O]: the encoding of channels, and this map after it"""
    layer: Tensor
    """V [O, edge_width]"""

    @staticmethod
    def of(linear: nn.Linear, pairs: OfChannels, size: int) -> PairMap:
        """Of a map that reads `size` encoded features and then what the processor made."""
        return PairMap(pairs.then([linear], size), linear.weight[:, size:].contiguous())

    def __call__(self, view: View) -> Tensor:
        """[B, N, N, O]"""
        of_channels = self.of_channels(view.channels)
        if view.edges is None:
            return of_channels
        edges = view.edges.computed if isinstance(view.edges, Rectified) else view.edges
        return of_channels + edges @ self.layer.T.to(edges.dtype)


class Decoder(nn.Module, ABC):
    """The maps of one feature. `read` gets what those of nodes give, and those of edges, and returns the logits."""

    def __init__(self, nodes: list[Linear], edges: list[Linear]):
        super().__init__()
        self.of_nodes = nn.ModuleList(nodes)
        self.of_edges = nn.ModuleList(edges)

    def maps(self) -> tuple[list[Any], list[Any]]:
        """The linear maps of nodes and those of edges."""
        return list(self.of_nodes), list(self.of_edges)

    @abstractmethod
    def read(self, view: View, nodes: list[Tensor], edges: list[PairMap], noise: Tensor | None) -> Logits: ...


class OfNodes(Decoder):
    """l_i = W h_i"""

    def __init__(self, feature: Feature, widths: Widths):
        super().__init__([Linear(widths.node, feature.classes or 1)], [])
        self.squeeze = feature.kind != "categorical"

    def read(self, view: View, nodes: list[Tensor], edges: list[PairMap], noise: Tensor | None) -> Tensor:
        return nodes[0].squeeze(-1) if self.squeeze else nodes[0]


class NodePointer(Decoder):
    """l_ij = w . max(P1 h_i, P2 h_j + P3 e_ji)"""

    def __init__(self, widths: Widths):
        super().__init__(
            [Linear(widths.node, widths.size), Linear(widths.node, widths.size)], [Linear(widths.edge, widths.size)]
        )
        self.last = Linear(widths.size, 1)

    def read(self, view: View, nodes: list[Tensor], edges: list[PairMap], noise: Tensor | None) -> Tensor:
        ((weight, rest), layer), channels, made = edges[0], view.channels, view.edges
        first, second, last = nodes[0], nodes[1] + rest, self.last.weight[0]
        if isinstance(made, Rectified):
            logits = max_dot_rectified(
                first, second, made.channels, made.weight, made.bias, layer, channels, weight, last, made.precision
            )
        elif made is not None:
            logits = max_dot(first, second, made @ layer.T, channels, weight, last)
        else:
            logits = max_dot(first, second, channels @ weight, channels[..., :0], weight[:0], last)
        return logits + self.last.bias


class PointerFromEdges(Decoder):
    """l_ij = w . e_ij (Diao and Loynd, 2023)"""

    def __init__(self, widths: Widths):
        super().__init__([], [Linear(widths.edge, 1)])

    def read(self, view: View, nodes: list[Tensor], edges: list[PairMap], noise: Tensor | None) -> Tensor:
        return edges[0](view).squeeze(-1)


class PermutationDecoder(Decoder):
    """A pointer decoder for the ring, made doubly stochastic by Sinkhorn's operator, and a decoder for the first."""

    def __init__(self, pointer: Decoder, widths: Widths):
        super().__init__([Linear(widths.node, 1)], [])
        self.pointer = pointer

    def maps(self) -> tuple[list[Any], list[Any]]:
        nodes, edges = self.pointer.maps()
        return [*nodes, *self.of_nodes], edges

    def read(self, view: View, nodes: list[Tensor], edges: list[PairMap], noise: Tensor | None) -> Ring:
        pointers = self.pointer.read(view, nodes[:-1], edges, None)
        assert isinstance(pointers, Tensor)
        return Ring(log_sinkhorn(pointers, DECODING_STEPS, noise), nodes[-1].squeeze(-1))


class OfEdges(Decoder):
    """l_ij = W1 h_i + W2 h_j + W3 e_ij"""

    def __init__(self, feature: Feature, widths: Widths):
        outputs = feature.classes or 1
        super().__init__([Linear(widths.node, outputs), Linear(widths.node, outputs)], [Linear(widths.edge, outputs)])
        self.squeeze = feature.kind != "categorical"

    def read(self, view: View, nodes: list[Tensor], edges: list[PairMap], noise: Tensor | None) -> Tensor:
        logits = nodes[0][:, :, None] + nodes[1][:, None] + edges[0](view)
        return logits.squeeze(-1) if self.squeeze else logits


class EdgePointer(Decoder):
    """l_ijk = w . max(Q1 h_i + Q2 h_j + Q3 e_ij, Q4 h_k)"""

    def __init__(self, widths: Widths):
        super().__init__([Linear(widths.node, widths.size) for _ in range(3)], [Linear(widths.edge, widths.size)])
        self.last = Linear(widths.size, 1)

    def read(self, view: View, nodes: list[Tensor], edges: list[PairMap], noise: Tensor | None) -> Tensor:
        pairs = nodes[0][:, :, None] + nodes[1][:, None] + edges[0](view)
        return max_dot_triples(pairs, nodes[2], self.last.weight[0]) + self.last.bias


class TriplePointer(Decoder):
    """l_ijk = w . relu(all six pairs of i, j, k, the three nodes, the old pointers): see `rnar.nn.triples`"""

    def __init__(self, widths: Widths):
        size, third = TRIPLE_SIZE, 1 / 3  # nine maps are added up: each begins with a third of the usual deviation
        super().__init__(
            [Linear(widths.node, size, third * widths.node**-0.5) for _ in range(3)],
            [Linear(widths.edge, 6 * size, third * widths.edge**-0.5)],
        )
        self.codes = Codes(widths.pointers or 0, size)
        self.last = Linear(size, 1)

    def read(self, view: View, nodes: list[Tensor], edges: list[PairMap], noise: Tensor | None) -> Tensor:
        ij, ik, kj, ji, ki, jk = edges[0](view).chunk(6, dim=-1)
        first, second, third = nodes
        x = ij + ji.transpose(1, 2) + first[:, :, None] + second[:, None]
        y = ik + ki.transpose(1, 2) + third[:, None]
        z = jk + kj.transpose(1, 2)
        pointers = view.pointers
        if pointers is None:
            pointers = x.new_zeros(len(x), 0, *[x.shape[1]] * 3)
        return relu_dot_triples(x, y, z, pointers, self.codes.weight, self.last.weight[0]) + self.last.bias


class OfWhole(Decoder):
    """l = W1 max_i h_i + W2 g"""

    def __init__(self, feature: Feature, widths: Widths):
        super().__init__([], [])
        self.from_nodes = Linear(widths.node, feature.classes or 1)
        self.from_whole = Linear(widths.size, feature.classes or 1)
        self.squeeze = feature.kind != "categorical"

    def read(self, view: View, nodes: list[Tensor], edges: list[PairMap], noise: Tensor | None) -> Tensor:
        logits = self.from_nodes(view.best) + self.from_whole(view.whole)
        return logits.squeeze(-1) if self.squeeze else logits


class Widths(NamedTuple):
    """How wide what decoders see is."""

    size: int
    node: int
    edge: int
    """of encoded features and what the processor adds to them"""
    pointers: int | None = None
    """how many pointers of pairs are seen as triples; None: pointers of pairs are not read off triples"""


def decoder_of(feature: Feature, widths: Widths, pointers_from_edges: bool) -> Decoder:
    """The decoder for a feature."""
    if feature.place == "graph":
        return OfWhole(feature, widths)
    if feature.place == "edge":
        if feature.kind == "pointer":
            return EdgePointer(widths) if widths.pointers is None else TriplePointer(widths)
        return OfEdges(feature, widths)
    if feature.kind not in ("pointer", "permutation"):
        return OfNodes(feature, widths)
    pointer = PointerFromEdges(widths) if pointers_from_edges else NodePointer(widths)
    return PermutationDecoder(pointer, widths) if feature.kind == "permutation" else pointer


class Prepared(NamedTuple):
    """The maps of all decoders, laid together once a batch."""

    nodes: SideBySide | None
    edges: list[PairMap]


class Decoders(nn.Module):
    """The decoders of some features of one task."""

    def __init__(self, features: dict[str, Feature], widths: Widths, pointers_from_edges: bool = False):
        super().__init__()
        self.size = widths.size
        self.each = nn.ModuleDict({k: decoder_of(f, widths, pointers_from_edges) for k, f in features.items()})

    @property
    def reads_pairs(self) -> bool:
        return any(decoder.maps()[1] for decoder in self._decoders())

    def prepare(self, pairs: OfChannels) -> Prepared:
        """What is the same at every step of a batch; `pairs` encodes the channels of pairs."""
        of_nodes = [linear for decoder in self._decoders() for linear in decoder.maps()[0]]
        of_edges = [linear for decoder in self._decoders() for linear in decoder.maps()[1]]
        return Prepared(
            SideBySide.of(of_nodes) if of_nodes else None,
            [PairMap.of(linear, pairs, self.size) for linear in of_edges],
        )

    def forward(self, view: View, prepared: Prepared, noise: Tensor | None = None) -> dict[str, Logits]:
        """`noise` [B, N, N], uniform in [0, 1), is for permutations in training."""
        of_nodes = iter(prepared.nodes(view.nodes) if prepared.nodes else [])
        of_edges = iter(prepared.edges)
        found = {}
        for name, decoder in zip(self.each, self._decoders(), strict=True):
            nodes, edges = decoder.maps()
            found[name] = decoder.read(view, [next(of_nodes) for _ in nodes], [next(of_edges) for _ in edges], noise)
        return found

    def _decoders(self) -> list[Any]:
        return list(self.each.children())
