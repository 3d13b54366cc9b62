"""What belongs to one task: its encoders and decoders."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import torch
from torch import Tensor, nn

from rnar.clrs.spec import Place, Spec
from rnar.common.checking import check_fields
from rnar.functional import Affine, beside
from rnar.functional.scope import of_weights, precision_of
from rnar.nn.composed import Marks, composed_of, marks, points
from rnar.nn.decoders import Decoders, Widths
from rnar.nn.encoders import PLACES, Encoders, Wide
from rnar.nn.graph import Graph, Triples
from rnar.nn.kinds import Logits
from rnar.nn.processors.processor import ProcessorOutput
from rnar.nn.triples import Codes, Pointers, points_from_pairs

HintSource = Literal["network", "truth", "nothing"]
HintMode = Literal["encoded and decoded", "decoded", "none"]


@dataclass(frozen=True)
class HintConfig:
    """How hints are used."""

    mode: HintMode = "encoded and decoded"
    hard: bool = False
    """Feed hints back as decisions, through which no gradient flows, and not as the probabilities of the logits."""
    teacher: float = 0.0
    """In training, the probability for each sample and step that the true hint is fed in place of the network's own."""
    source: HintSource = "network"
    """In evaluation, what is fed after the first step; "truth" and "nothing" tell how a network depends on hints."""

    def __post_init__(self) -> None:
        check_fields(self)


class TaskHeads(nn.Module):
    """The encoders and decoders of one task.

    Args:
        spec: The features of the task.
        widths: The features that a processor makes of nodes and edges; `pointers` is set here.
        hints: How hints are used.
        xavier_on_scalars: Start with small weights for hints that are numbers.
        pointers: Keep pointers of edges as "triplets", besides the "means" of the benchmark.
        triplet_width: The features of a processor's messages of three nodes.
        composed: The hints that are also encoded composed with pointers (`rnar.nn.composed`).
        transposed: Encode the transpose of each hint that is a node pointer too.
        pointers_from_edges: Decode node pointers from edges alone.
    """

    def __init__(
        self,
        spec: Spec,
        widths: Widths,
        hints: HintConfig,
        xavier_on_scalars: bool,
        pointers: Pointers,
        triplet_width: int,
        composed: Marks,
        transposed: bool,
        pointers_from_edges: bool,
    ):
        super().__init__()
        self.spec = spec
        self.predicts_permutations = any(feature.kind == "permutation" for feature in spec.outputs.values())
        self.encoded_hints = spec.hints if hints.mode == "encoded and decoded" else {}
        self.decoded_hints = spec.hints if hints.mode != "none" else {}
        kept = sum(map(points_from_pairs, [*spec.inputs.values(), *self.encoded_hints.values()]))
        self.codes = Codes(kept, triplet_width) if kept and pointers == "triplets" else None
        """of pointers of edges, where they are kept as triples"""
        widths = widths._replace(pointers=kept if pointers == "triplets" else None)
        self.inputs = Encoders(spec.inputs, widths.size)
        self.hints = Encoders(self.encoded_hints, widths.size, xavier_on_scalars, transposed)
        self.decode_hints = Decoders(self.decoded_hints, widths, pointers_from_edges)
        self.decode_outputs = Decoders(spec.outputs, widths, pointers_from_edges)
        self.composed = composed_of(spec.inputs, self.encoded_hints, composed, widths.size)
        self.marks = marks(self.encoded_hints, composed)
        self.zero: Tensor
        self.register_buffer("zero", torch.zeros(widths.size), persistent=False)

    def channels(self, inputs: Wide, nodes: int) -> dict[Place, Tensor]:
        """What is encoded of the inputs at each place, the same at every step: [B, N, C], [B, N, N, C] and [B, C]."""
        batch, channels = len(next(iter(inputs.values()))), self.inputs.channels(inputs)
        shapes = {"node": (batch, nodes, 0), "edge": (batch, nodes, nodes, 0), "graph": (batch, 0)}
        return {place: torch.cat([self.zero.new_zeros(shapes[place]), *channels[place]], dim=-1) for place in PLACES}

    def graph(self, inputs: Wide, channels: dict[Place, Tensor], hints: Wide) -> Graph:
        """The graph of B samples at one step.

        Args:
            inputs: The inputs.
            channels: What `channels` makes of them.
            hints: The hints that are fed.
        """
        of_hints = self.hints.channels(hints)
        nodes, edges, graph = (
            Affine(
                torch.cat([channels[place], *of_hints[place]], dim=-1).to(self.zero.dtype),
                *of_weights(_encoding, self, place),
            )
            for place in PLACES
        )
        features: Tensor | Affine = nodes
        if precision_of(nodes.x) != nodes.x.dtype:
            # two keys that differ by little would be one number; after an encoding they are two
            features = nodes.computed
        if self.composed is not None:
            features = nodes.computed + self._composed(inputs, hints)

        def adjacency() -> Tensor:
            joined = torch.eye(edges.x.shape[1], dtype=torch.bool, device=edges.x.device).expand(len(edges.x), -1, -1)
            return reduce(torch.logical_or, [*self.inputs.adjacency(inputs), *self.hints.adjacency(hints)], joined)

        triples = None if self.codes is None else Triples(self._pointing(inputs, hints), self.codes.weight)
        return Graph(features, edges, graph.computed, adjacency, triples)

    def _composed(self, inputs: Wide, hints: Wide) -> Tensor:
        assert self.composed is not None
        marked = [hints[name] for name in self.marks]
        pointing = [inputs[name] for name in points(self.spec.inputs)]
        pointing += [hints[name] for name in points(self.encoded_hints)]
        dtype = self.zero.dtype
        return self.composed(torch.stack(marked, dim=-1).to(dtype), torch.stack(pointing, dim=1).to(dtype))

    def _pointing(self, inputs: Wide, hints: Wide) -> Tensor:
        """The pointers of edges: [B, K, N, N, N]"""
        pointers = [inputs[name] for name, f in self.spec.inputs.items() if points_from_pairs(f)]
        pointers += [hints[name] for name, f in self.encoded_hints.items() if points_from_pairs(f)]
        return torch.stack(pointers, dim=1).to(self.zero.dtype)

    def decode(
        self, graph: Graph, output: ProcessorOutput, ending: slice, noise: Tensor | None
    ) -> tuple[dict[str, Logits], dict[str, Logits]]:
        """The logits of the next hints of all samples, and those of the outputs of the samples that end here."""
        edges = graph.lazy_edges if output.edges is None else beside(graph.lazy_edges, output.edges)
        pointers = None if graph.triples is None else graph.triples.pointers
        hints = self.decode_hints(output.nodes, edges, graph.graph, pointers)
        if ending.start >= ending.stop:
            return hints, {}
        pointers = None if pointers is None else pointers[ending]
        outputs = self.decode_outputs(output.nodes[ending], edges[ending], graph.graph[ending], pointers, noise)
        return hints, outputs


def _encoding(heads: TaskHeads, place: Place) -> tuple[Tensor, Tensor]:
    """W [H, C] and b [H] of all features of a place: a sum of linear maps is one map."""
    maps: Any = [*heads.inputs.maps_of(place), *heads.hints.maps_of(place)]
    weights = [layer.weight for layer in maps]
    # biases one by one: gradients of a sum along an axis would share their memory
    bias = reduce(torch.add, [layer.bias for layer in maps], heads.zero)
    return torch.cat([heads.zero[:, None][:, :0], *weights], dim=1), bias
