"""Decoders: what a step leaves -> logits. Each feature has a few linear maps; all maps of one input are one product.

Decoders of features that are alike (see `rnar.nn.groups`) are read together: their maps give k times as many numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from rnar.clrs.spec import Feature
from rnar.nn.groups import Group, grouped
from rnar.nn.kinds import DECODING_STEPS, Ring, log_sinkhorn
from rnar.nn.linear import Linear, LinearMap, OfChannels, Rectified, SideBySide
from rnar.nn.triples import Codes
from rnar.ops import max_dot, max_dot_rectified, max_dot_triples, max_over_senders, relu_dot_triples

TRIPLE_SIZE = 16  # numbers of three nodes, of which a pointer's logit is made: there are N^3 of them

Logits = Tensor | Ring
Map = tuple[Tensor, Tensor]
"""W and b of a linear map"""


@dataclass
class View:
    """What decoders see of a step, of B samples with N nodes."""

    nodes: Tensor
    """[B, N, node_width], or with channels in place of the first H"""
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

    def best(self, encoding: LinearMap | None) -> Tensor:
        """The maximum over nodes: [B, node_width]. `encoding`: of the channels that nodes begin with, if any."""
        nodes = self.nodes
        if encoding is not None:
            channels, rest = nodes.tensor_split([encoding.weight.shape[1]], dim=-1)
            nodes = torch.cat([encoding(channels), rest], dim=-1)
        return max_over_senders(nodes[:, :, None]).squeeze(1)


class PairMap(NamedTuple):
    """A linear map of a pair's encoded features and of what the processor made of it: c W + rest + V e."""

    of_channels: OfChannels
    """[C, O]: the encoding of channels, and this map after it"""
    layer: Tensor
    """V [O, edge_width]"""

    @staticmethod
    def of(linears: Sequence[nn.Linear], pairs: OfChannels, size: int) -> PairMap:
        """Of maps, side by side, that read `size` encoded features and then what the processor made."""
        return PairMap(pairs.then(linears, size), torch.cat([linear.weight[:, size:] for linear in linears]))

    def __call__(self, view: View) -> Tensor:
        """[B, N, N, O]"""
        of_channels = self.of_channels(view.channels)
        if view.edges is None:
            return of_channels
        if isinstance(view.edges, Rectified):
            return of_channels + view.edges.mapped(self.layer)
        return of_channels + view.edges @ self.layer.T.to(view.edges.dtype)


class Maps(NamedTuple):
    """The linear maps of a decoder, by what they read."""

    nodes: list[Any]
    pairs: list[Any] = []  # noqa: RUF012 (nobody changes it)
    whole: list[Any] = []  # noqa: RUF012
    """of the maximum over nodes, and of the graph's encoded features: both, or none"""


class Pieces(NamedTuple):
    """What the maps of k decoders that are alike give: k times the outputs of one."""

    nodes: list[Tensor]
    """of each map [B, N, k O]"""
    pairs: list[PairMap]
    """those of pairs, to [B, N, N, k O], not yet applied"""
    whole: Tensor | None
    """[B, k O]: the sum of both maps"""
    last: Map | None
    """w [H] and b [1] of a decoder that ends with them"""
    noise: Tensor | None


class Decoder(nn.Module, ABC):
    """The maps of one feature, and how logits are made of what they give."""

    takes_bias: int | None = None
    """Which map of nodes is added to that of pairs, so that the bias of the latter can be put into it?"""

    def __init__(self, nodes: list[Linear], edges: list[Linear]):
        super().__init__()
        self.of_nodes = nn.ModuleList(nodes)
        self.of_edges = nn.ModuleList(edges)

    def maps(self) -> Maps:
        return Maps(list(self.of_nodes), list(self.of_edges))

    @abstractmethod
    def read(self, view: View, pieces: Pieces) -> Logits:
        """The logits of k features: [B, k, ...]; of pointers and permutations k is 1."""


def by_feature(x: Tensor, classes: int | None) -> Tensor:
    """[B, ..., k] -> [B, k, ...]; of categories [B, ..., k C] -> [B, k, ..., C]"""
    return x.movedim(-1, 1) if classes is None else x.unflatten(-1, (-1, classes)).movedim(-2, 1)


class OfNodes(Decoder):
    """l_i = W h_i"""

    def __init__(self, feature: Feature, widths: Widths):
        super().__init__([Linear(widths.node, feature.classes or 1)], [])
        self.classes = feature.classes

    def read(self, view: View, pieces: Pieces) -> Tensor:
        return by_feature(pieces.nodes[0], self.classes)


class NodePointer(Decoder):
    """l_ij = w . max(P1 h_i, P2 h_j + P3 e_ji)"""

    takes_bias = 1

    def __init__(self, widths: Widths):
        super().__init__(
            [Linear(widths.node, widths.size), Linear(widths.node, widths.size)], [Linear(widths.edge, widths.size)]
        )
        self.last = Linear(widths.size, 1)

    def read(self, view: View, pieces: Pieces) -> Tensor:
        (first, second, *_), (((weight, _), layer),), made = pieces.nodes, pieces.pairs, view.edges
        assert pieces.last is not None
        channels, (last, bias) = view.channels, pieces.last
        if isinstance(made, Rectified):
            logits = max_dot_rectified(
                first, second, made.channels, made.weight, made.bias, layer, channels, weight, last, made.precision
            )
        elif made is not None:
            logits = max_dot(first, second, made @ layer.T, channels, weight, last)
        else:
            logits = max_dot(first, second, channels @ weight, channels[..., :0], weight[:0], last)
        return (logits + bias)[:, None]


class PointerFromEdges(Decoder):
    """l_ij = w . e_ij (Diao and Loynd, 2023)"""

    def __init__(self, widths: Widths):
        super().__init__([], [Linear(widths.edge, 1)])

    def read(self, view: View, pieces: Pieces) -> Tensor:
        return by_feature(pieces.pairs[0](view), None)


class PermutationDecoder(Decoder):
    """A pointer decoder for the ring, made doubly stochastic by Sinkhorn's operator, and a decoder for the first."""

    def __init__(self, pointer: Decoder, widths: Widths):
        super().__init__([Linear(widths.node, 1)], [])
        self.pointer = pointer
        self.takes_bias = pointer.takes_bias

    def maps(self) -> Maps:
        nodes, pairs, _ = self.pointer.maps()
        return Maps([*nodes, *self.of_nodes], pairs)

    def read(self, view: View, pieces: Pieces) -> Ring:
        pointers = self.pointer.read(view, pieces)
        assert isinstance(pointers, Tensor)
        return Ring(log_sinkhorn(pointers[:, 0], DECODING_STEPS, pieces.noise), pieces.nodes[-1].squeeze(-1))


class OfEdges(Decoder):
    """l_ij = W1 h_i + W2 h_j + W3 e_ij"""

    def __init__(self, feature: Feature, widths: Widths):
        outputs = feature.classes or 1
        super().__init__([Linear(widths.node, outputs), Linear(widths.node, outputs)], [Linear(widths.edge, outputs)])
        self.classes = feature.classes

    def read(self, view: View, pieces: Pieces) -> Tensor:
        (i, j), (pairs,) = pieces.nodes, pieces.pairs
        return by_feature(i[:, :, None] + j[:, None] + pairs(view), self.classes)


class EdgePointer(Decoder):
    """l_ijk = w . max(Q1 h_i + Q2 h_j + Q3 e_ij, Q4 h_k)"""

    def __init__(self, widths: Widths):
        super().__init__([Linear(widths.node, widths.size) for _ in range(3)], [Linear(widths.edge, widths.size)])
        self.last = Linear(widths.size, 1)

    def read(self, view: View, pieces: Pieces) -> Tensor:
        (i, j, k), (pairs,), last = pieces.nodes, pieces.pairs, pieces.last
        assert last is not None
        return (max_dot_triples(i[:, :, None] + j[:, None] + pairs(view), k, last[0]) + last[1])[:, None]


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

    def read(self, view: View, pieces: Pieces) -> Tensor:
        (first, second, third), (pairs,), last = pieces.nodes, pieces.pairs, pieces.last
        assert last is not None
        ij, ik, kj, ji, ki, jk = pairs(view).chunk(6, dim=-1)
        x = ij + ji.transpose(1, 2) + first[:, :, None] + second[:, None]
        y = ik + ki.transpose(1, 2) + third[:, None]
        z = jk + kj.transpose(1, 2)
        pointers = view.pointers
        if pointers is None:
            pointers = x.new_zeros(len(x), 0, *[x.shape[1]] * 3)
        return (relu_dot_triples(x, y, z, pointers, self.codes.weight, last[0]) + last[1])[:, None]


class OfWhole(Decoder):
    """l = W1 max_i h_i + W2 g"""

    def __init__(self, feature: Feature, widths: Widths):
        super().__init__([], [])
        self.from_nodes = Linear(widths.node, feature.classes or 1)
        self.from_whole = Linear(widths.size, feature.classes or 1)
        self.classes = feature.classes

    def maps(self) -> Maps:
        return Maps([], [], [self.from_nodes, self.from_whole])

    def read(self, view: View, pieces: Pieces) -> Tensor:
        assert pieces.whole is not None
        return by_feature(pieces.whole, self.classes)


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
    whole: SideBySide | None
    """of a graph's maximum over nodes and its encoded features, side by side"""
    pairs: list[PairMap]
    lasts: list[Map | None]
    """of each group"""
    encoding: LinearMap | None
    """of nodes, where they come as channels and a maximum of their features is wanted"""


class Decoders(nn.Module):
    """The decoders of some features of one task."""

    def __init__(self, features: dict[str, Feature], widths: Widths, pointers_from_edges: bool = False):
        super().__init__()
        self.size = widths.size
        each = {name: decoder_of(feature, widths, pointers_from_edges) for name, feature in features.items()}
        self.each = nn.ModuleDict(each)
        self.groups = list(grouped(features))
        self._decoders = [[each[name] for name in group] for group in self.groups]
        self._counts = [[len(maps) for maps in first.maps()] for first, *_ in self._decoders]

    @property
    def reads_pairs(self) -> bool:
        return any(pairs for _, pairs, _ in self._counts)

    def prepare(self, pairs: OfChannels, encoding: OfChannels | None = None) -> Prepared:
        """What is the same at every step of a batch; `pairs` encodes the channels of pairs, `encoding` those with which
        nodes begin, if they do."""
        of_nodes, of_best, of_whole, of_pairs, rests = [], [], [], [], {}
        for decoders in self._decoders:
            each = zip(*(decoder.maps() for decoder in decoders), strict=True)
            nodes, edges, whole = (list(zip(*maps, strict=True)) for maps in each)
            of_pairs += [PairMap.of(linears, pairs, self.size) for linears in edges]
            of_nodes += nodes
            if (k := decoders[0].takes_bias) is not None:
                rests[nodes[k][0]] = of_pairs[-1].of_channels.bias
            for best, rest in zip(*whole, strict=True) if whole else ():
                rests[best] = rest.bias
            of_best += whole[:1]
            of_whole += [linear.weight for linears in whole[1:] for linear in linears]
        return Prepared(
            SideBySide.of(of_nodes, rests).after(encoding) if of_nodes else None,
            SideBySide.of(of_best, rests).beside(torch.cat(of_whole)) if of_best else None,
            of_pairs,
            [_last(decoders[0]) for decoders in self._decoders],
            encoding.map if encoding and of_best else None,
        )

    def forward(self, view: View, prepared: Prepared, noise: Tensor | None = None) -> dict[Group, Logits]:
        """`noise` [B, N, N], uniform in [0, 1), is for permutations in training."""
        of_nodes = iter(prepared.nodes(view.nodes) if prepared.nodes else ())
        of_whole, of_pairs, found = iter(()), iter(prepared.pairs), {}
        if prepared.whole:
            of_whole = iter(prepared.whole(torch.cat([view.best(prepared.encoding), view.whole], dim=-1)))
        rows = zip(self.groups, self._decoders, self._counts, prepared.lasts, strict=True)
        for group, (decoder, *_), (nodes, pairs, whole), last in rows:
            piece = next(of_whole) if whole else None
            pieces = Pieces(list(islice(of_nodes, nodes)), list(islice(of_pairs, pairs)), piece, last, noise)
            found[group] = decoder.read(view, pieces)
        return found


def _last(decoder: Decoder) -> Map | None:
    """w and b with which a decoder of pointers ends."""
    last = getattr(decoder.pointer if isinstance(decoder, PermutationDecoder) else decoder, "last", None)
    return None if last is None else (last.weight[0], last.bias)
