"""Decoders: what a step leaves -> logits. Each feature has a few linear maps; all maps of one input are one product."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from torch import Tensor, nn

from rnar.clrs.spec import Feature
from rnar.engine.once import once
from rnar.nn.kinds import DECODING_STEPS, Ring, log_sinkhorn
from rnar.nn.linear import Encoded, Linear, Rectified, side_by_side
from rnar.ops.kernels import max_dot, max_dot_rectified, max_dot_triples, max_over_senders

Logits = Tensor | Ring


@dataclass
class View:
    """What decoders see of a step."""

    nodes: Tensor
    """[B, N, node_width]"""
    encoded: Encoded
    """the encoded features of pairs, [B, N, N, H] not yet computed"""
    edges: Tensor | Rectified | None
    """[B, N, N, edge_width]: what the processor made of pairs"""
    whole: Tensor
    """[B, H]"""

    def part(self, some: slice) -> View:
        """Of some samples."""
        encoded = self.encoded._replace(channels=self.encoded.channels[some])
        edges = None if self.edges is None else self.edges[some]
        return View(self.nodes[some], encoded, edges, self.whole[some])

    @cached_property
    def best(self) -> Tensor:
        """The maximum over nodes: [B, node_width]"""
        return max_over_senders(self.nodes[:, :, None]).squeeze(1)


class Pairs(NamedTuple):
    """What a linear map makes of pairs, in parts and not yet computed: channels W + rest + V edges, [B, N, N, O]."""

    channels: Tensor
    """[B, N, N, C]"""
    weight: Tensor
    """[C, O]"""
    rest: Tensor
    """[O]"""
    edges: Tensor | Rectified | None
    """[B, N, N, E]: what the processor made"""
    layer: Tensor
    """[O, E]"""

    def total(self) -> Tensor:
        of_channels = nn.functional.linear(self.channels, self.weight.T, self.rest)
        if self.edges is None:
            return of_channels
        return of_channels + (self.edges.computed if isinstance(self.edges, Rectified) else self.edges) @ self.layer.T


class Decoder(nn.Module, ABC):
    """The maps of one feature. `read` gets what they give, in their order, and returns the logits."""

    def __init__(self, nodes: list[Linear], edges: list[Linear]):
        super().__init__()
        self.of_nodes = nn.ModuleList(nodes)
        self.of_edges = nn.ModuleList(edges)

    def maps(self) -> tuple[list[Any], list[Any]]:
        """The linear maps of nodes and those of edges."""
        return list(self.of_nodes), list(self.of_edges)

    @abstractmethod
    def read(self, view: View, nodes: list[Tensor], edges: list[Pairs], noise: Tensor | None) -> Logits: ...


class OfNodes(Decoder):
    """l_i = W h_i"""

    def __init__(self, feature: Feature, widths: Widths):
        super().__init__([Linear(widths.node, feature.classes or 1)], [])
        self.squeeze = feature.kind != "categorical"

    def read(self, view: View, nodes: list[Tensor], edges: list[Pairs], noise: Tensor | None) -> Tensor:
        return nodes[0].squeeze(-1) if self.squeeze else nodes[0]


class NodePointer(Decoder):
    """l_ij = w . max(P1 h_i, P2 h_j + P3 e_ji)"""

    def __init__(self, widths: Widths):
        super().__init__(
            [Linear(widths.node, widths.size), Linear(widths.node, widths.size)], [Linear(widths.edge, widths.size)]
        )
        self.last = Linear(widths.size, 1)

    def read(self, view: View, nodes: list[Tensor], edges: list[Pairs], noise: Tensor | None) -> Tensor:
        (pairs,) = edges
        first, second, last = nodes[0], nodes[1] + pairs.rest, self.last.weight[0]
        channels, weight, made = pairs.channels, pairs.weight, pairs.edges
        if isinstance(made, Rectified):
            logits = max_dot_rectified(
                first, second, made.channels, made.weight, made.bias, pairs.layer, channels, weight, last
            )
        elif made is not None:
            logits = max_dot(first, second, made @ pairs.layer.T, channels, weight, last)
        else:
            logits = max_dot(first, second, channels @ weight, channels[..., :0], weight[:0], last)
        return logits + self.last.bias


class PointerFromEdges(Decoder):
    """l_ij = w . e_ij (Diao and Loynd, 2023)"""

    def __init__(self, widths: Widths):
        super().__init__([], [Linear(widths.edge, 1)])

    def read(self, view: View, nodes: list[Tensor], edges: list[Pairs], noise: Tensor | None) -> Tensor:
        return edges[0].total().squeeze(-1)


class PermutationDecoder(Decoder):
    """A pointer decoder for the ring, made doubly stochastic by Sinkhorn's operator, and a decoder for the first."""

    def __init__(self, pointer: Decoder, widths: Widths):
        super().__init__([Linear(widths.node, 1)], [])
        self.pointer = pointer

    def maps(self) -> tuple[list[Any], list[Any]]:
        nodes, edges = self.pointer.maps()
        return [*nodes, *self.of_nodes], edges

    def read(self, view: View, nodes: list[Tensor], edges: list[Pairs], noise: Tensor | None) -> Ring:
        pointers = self.pointer.read(view, nodes[:-1], edges, None)
        assert isinstance(pointers, Tensor)
        return Ring(log_sinkhorn(pointers, DECODING_STEPS, noise), nodes[-1].squeeze(-1))


class OfEdges(Decoder):
    """l_ij = W1 h_i + W2 h_j + W3 e_ij"""

    def __init__(self, feature: Feature, widths: Widths):
        outputs = feature.classes or 1
        super().__init__([Linear(widths.node, outputs), Linear(widths.node, outputs)], [Linear(widths.edge, outputs)])
        self.squeeze = feature.kind != "categorical"

    def read(self, view: View, nodes: list[Tensor], edges: list[Pairs], noise: Tensor | None) -> Tensor:
        logits = nodes[0][:, :, None] + nodes[1][:, None] + edges[0].total()
        return logits.squeeze(-1) if self.squeeze else logits


class EdgePointer(Decoder):
    """l_ijk = w . max(Q1 h_i + Q2 h_j + Q3 e_ij, Q4 h_k)"""

    def __init__(self, widths: Widths):
        super().__init__([Linear(widths.node, widths.size) for _ in range(3)], [Linear(widths.edge, widths.size)])
        self.last = Linear(widths.size, 1)

    def read(self, view: View, nodes: list[Tensor], edges: list[Pairs], noise: Tensor | None) -> Tensor:
        pairs = nodes[0][:, :, None] + nodes[1][:, None] + edges[0].total()
        return max_dot_triples(pairs, nodes[2], self.last.weight[0]) + self.last.bias


class OfWhole(Decoder):
    """l = W1 max_i h_i + W2 g"""

    def __init__(self, feature: Feature, widths: Widths):
        super().__init__([], [])
        self.from_nodes = Linear(widths.node, feature.classes or 1)
        self.from_whole = Linear(widths.size, feature.classes or 1)
        self.squeeze = feature.kind != "categorical"

    def read(self, view: View, nodes: list[Tensor], edges: list[Pairs], noise: Tensor | None) -> Tensor:
        logits = self.from_nodes(view.best) + self.from_whole(view.whole)
        return logits.squeeze(-1) if self.squeeze else logits


class Widths(NamedTuple):
    """How wide what decoders see is."""

    size: int
    node: int
    edge: int
    """of encoded features and what the processor adds to them"""


def decoder_of(feature: Feature, widths: Widths, pointers_from_edges: bool) -> Decoder:
    """The decoder for a feature."""
    if feature.place == "graph":
        return OfWhole(feature, widths)
    if feature.place == "edge":
        return EdgePointer(widths) if feature.kind == "pointer" else OfEdges(feature, widths)
    if feature.kind not in ("pointer", "permutation"):
        return OfNodes(feature, widths)
    pointer = PointerFromEdges(widths) if pointers_from_edges else NodePointer(widths)
    return PermutationDecoder(pointer, widths) if feature.kind == "permutation" else pointer


class Decoders(nn.Module):
    """The decoders of some features of one task."""

    def __init__(self, features: dict[str, Feature], widths: Widths, pointers_from_edges: bool = False):
        super().__init__()
        self.size = widths.size
        self.each = nn.ModuleDict({k: decoder_of(f, widths, pointers_from_edges) for k, f in features.items()})

    @property
    def reads_pairs(self) -> bool:
        return any(decoder.maps()[1] for decoder in self.each.children())  # type: ignore[operator]

    def forward(self, view: View, noise: Tensor | None = None) -> dict[str, Logits]:
        """`noise` [B, N, N], uniform in [0, 1), is for permutations in training."""
        decoders: dict[str, Any] = dict(self.each.items())
        maps = {name: decoder.maps() for name, decoder in decoders.items()}
        of_nodes = iter(self._of_nodes(view, [linear for nodes, _ in maps.values() for linear in nodes]))
        of_edges = iter(self._of_edges(view, [linear for _, edges in maps.values() for linear in edges]))
        found = {}
        for name, (nodes, edges) in maps.items():
            given = [next(of_nodes) for _ in nodes], [next(of_edges) for _ in edges]
            found[name] = decoders[name].read(view, *given, noise)
        return found

    def _of_nodes(self, view: View, maps: list[nn.Linear]) -> Sequence[Tensor]:
        return side_by_side(view.nodes, maps) if maps else []

    def _of_edges(self, view: View, maps: list[nn.Linear]) -> list[Pairs]:
        """Each map of the encoded features and of what the processor made of pairs."""
        if not maps:
            return []
        found = []
        for linear in maps:
            of_channels, rest = view.encoded.composed_with([linear], self.size)
            (layer,) = once(
                ("of edges", id(linear)), lambda linear=linear: (linear.weight[:, self.size :].contiguous(),)
            )
            found.append(Pairs(view.encoded.channels, of_channels, rest, view.edges, layer))
        return found
