"""What belongs to one task: its encoders and decoders."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from rnar.clrs.spec import Spec
from rnar.functional import Affine, Concatenated, Features, computed
from rnar.functional.scope import low_precision
from rnar.nn.composed import Marks, composed_of, marks, points
from rnar.nn.decoders import Decoders, Widths
from rnar.nn.encoders import Encoders
from rnar.nn.graph import Graph, Triples
from rnar.nn.kinds import Logits
from rnar.nn.processors.processor import ProcessorOutput
from rnar.nn.triples import Codes, Pointers, points_from_pairs

HintSource = Literal["network", "truth", "nothing"]
HintMode = Literal["encoded and decoded", "decoded", "none"]
Wide = dict[str, Tensor]
"""features by name as a network reads them: see `rnar.nn.kinds`"""


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


@dataclass
class Inputs:
    """The encoded inputs of B samples: the same at every step."""

    wide: Wide
    nodes: Affine
    """[B, N, H], not computed"""
    edges: Affine
    """[B, N, N, H], not computed"""
    graph: Tensor
    """[B, H]"""
    adjacency: list[Tensor]
    """bool [B, N, N] each: the pairs that an input joins"""
    count: int
    """N"""


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

    def encode(self, wide: Wide, nodes: int, like: Tensor) -> Inputs:
        """Encode the inputs, once for all steps."""
        encoded = self.inputs(wide)
        graph = computed(encoded["graph"]) if "graph" in encoded else like.expand(len(next(iter(wide.values()))), -1)
        none = like.new_zeros(len(like), 0), torch.zeros_like(like)  # W and b of what has no channels
        no_nodes = Affine(like.new_zeros(len(graph), nodes, 0), *none)
        no_edges = Affine(like.new_zeros(len(graph), nodes, nodes, 0), *none)
        of_nodes, of_edges = encoded.get("node", no_nodes), encoded.get("edge", no_edges)
        return Inputs(wide, of_nodes, of_edges, graph, self.inputs.adjacency(wide), nodes)

    def graph(self, inputs: Inputs, hints: Wide, active: int) -> Graph:
        """The graph of the first `active` samples at one step, and the hints that are fed to them."""
        graph, encoded = inputs.graph[:active], self.hints(hints)
        nodes: Features = inputs.nodes[:active]
        edges = inputs.edges[:active]
        if "node" in encoded:
            nodes = inputs.nodes[:active] + encoded["node"]
        if "edge" in encoded:
            edges = edges + encoded["edge"]
        if low_precision():  # two keys that differ by little would be one number; after an encoding they are two
            nodes = computed(nodes)
        if self.composed is not None:
            marked = torch.stack([hints[name] for name in self.marks], dim=-1).to(graph.dtype)
            pointing = [inputs.wide[name][:active] for name in points(self.spec.inputs)]
            pointing += [hints[name] for name in points(self.encoded_hints)]
            nodes = computed(nodes) + self.composed(marked, torch.stack([x.to(graph.dtype) for x in pointing], dim=1))
        if "graph" in encoded:
            graph = graph + computed(encoded["graph"])

        def adjacency() -> Tensor:
            joined = torch.eye(inputs.count, dtype=torch.bool, device=graph.device).expand(active, -1, -1)
            for pairs in [*(x[:active] for x in inputs.adjacency), *self.hints.adjacency(hints)]:
                joined = joined | pairs
            return joined

        return Graph(nodes, edges, graph, adjacency, self._triples(inputs, hints, active))

    def _triples(self, inputs: Inputs, hints: Wide, active: int) -> Triples | None:
        """The pointers of edges, where they are kept as triples."""
        if self.codes is None:
            return None
        pointers = [inputs.wide[name][:active] for name, f in self.spec.inputs.items() if points_from_pairs(f)]
        pointers += [hints[name] for name, f in self.encoded_hints.items() if points_from_pairs(f)]
        weight = self.codes.weight
        return Triples(torch.stack(pointers, dim=1).to(weight.dtype), weight)

    def decode(
        self, graph: Graph, output: ProcessorOutput, ending: slice, noise: Tensor | None
    ) -> tuple[dict[str, Logits], dict[str, Logits]]:
        """The logits of the next hints of all samples, and those of the outputs of the samples that end here."""
        edges = Concatenated([graph.lazy_edges, *([] if output.edges is None else [output.edges])])
        pointers = None if graph.triples is None else graph.triples.pointers
        hints = self.decode_hints(output.nodes, edges, graph.graph, pointers)
        if ending.start >= ending.stop:
            return hints, {}
        if ending.stop - ending.start < len(graph.graph):
            edges, pointers = edges[ending], None if pointers is None else pointers[ending]
        outputs = self.decode_outputs(output.nodes[ending], edges, graph.graph[ending], pointers, noise)
        return hints, outputs
