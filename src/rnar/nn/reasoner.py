"""The reasoner: encodes, processes and decodes one step. How steps follow each other is the engine's matter."""

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from rnar.clrs.spec import Place, Spec
from rnar.nn import decoders
from rnar.nn.composed import Marks, composed_of, marks, points
from rnar.nn.decoders import Decoders, Logits, View, Widths
from rnar.nn.encoders import Encoders, Graph
from rnar.nn.groups import Group, apart, together
from rnar.nn.kinds import kind_of
from rnar.nn.linear import LinearMap, OfChannels
from rnar.nn.processors.processor import Processor, State
from rnar.nn.triples import Codes, Pointers, Triples, points_from_pairs, stacked

HintSource = Literal["network", "truth", "nothing"]
HintMode = Literal["encoded and decoded", "decoded", "none"]
Precision = Literal["float32", "bfloat16"]
PRECISIONS: dict[Precision, torch.dtype | None] = {"float32": None, "bfloat16": torch.bfloat16}
"""float32: whatever the weights have, which may be double precision"""


@dataclass(frozen=True)
class Feeding:
    """How hints are used."""

    mode: HintMode = "encoded and decoded"
    hard: bool = False
    """Are hints fed back as decisions (no gradient flows through them), or as what the logits suggest?"""
    teacher: float = 0.0
    """In training, the probability for each sample and step that the true hint is fed in place of the network's own."""
    source: HintSource = "network"
    """When a network is tried: what is fed after the first step; "truth" and "nothing" tell how it depends on hints."""


class Prepared(NamedTuple):
    """What is the same at every step of B samples: their encoded inputs, and weights that are put together once."""

    nodes: Tensor
    """[B, N, H]: the encoded inputs of nodes; [B, N, C], not yet encoded, if there is an `encoding`"""
    whole: Tensor
    """[B, H]: the encoded inputs of the graph"""
    channels: Tensor
    """[B, N, N, C]: the inputs of pairs"""
    pairs: OfChannels
    """the map from the channels of pairs, first inputs and then hints, to H features"""
    encoding: OfChannels | None
    """the map from the channels of nodes, first inputs and then hints, to H features, where they are not encoded"""
    adjacency: Tensor | None
    """bool [B, N, N]: which nodes inputs join; None where no processor looks at it"""
    hints: dict[Place, LinearMap]
    """the maps from the channels of hints, but those of pairs, and of nodes where they are not encoded"""
    pointers: list[Tensor]
    """each [B, N, N, N]: inputs that are pointers of pairs, where they are kept as triples"""
    pointing: list[Tensor]
    """each [B, N, N]: inputs that are pointers of nodes, where hints are composed with them"""
    processor: Any
    """what `Processor.prepare` returned"""
    drawn: Any
    """what `Processor.draw` returned"""
    decode_hints: decoders.Prepared
    decode_outputs: decoders.Prepared


class Moment(NamedTuple):
    """What one step gives."""

    state: State
    hints: dict[Group, Tensor]
    """the logits of the next hints, [B, k, ...]"""
    outputs: dict[str, Logits]
    """the logits of those samples that end here"""
    losses: dict[str, Tensor]
    """the processor's own, [B]"""


class Heads(nn.Module):
    """What belongs to one task: its encoders and decoders."""

    def __init__(
        self,
        spec: Spec,
        processor: Processor,
        feeding: Feeding,
        xavier_on_scalars: bool,
        pointers: Pointers,
        composed: Marks,
        transposed: bool,
    ):
        super().__init__()
        self.spec = spec
        self.predicts_permutations = any(feature.kind == "permutation" for feature in spec.outputs.values())
        self.encoded_hints = spec.hints if feeding.mode == "encoded and decoded" else {}
        self.decoded_hints = spec.hints if feeding.mode != "none" else {}
        size = processor.size
        kept = sum(map(points_from_pairs, [*spec.inputs.values(), *self.encoded_hints.values()]))
        self.codes = Codes(kept, processor.triplet_width) if kept and pointers == "triplets" else None
        """of pointers of pairs, where they are kept as triples"""
        widths = Widths(
            size, processor.node_width, size + processor.edge_width, kept if pointers == "triplets" else None
        )
        self.inputs = Encoders(spec.inputs, size)
        self.hints = Encoders(self.encoded_hints, size, xavier_on_scalars, transposed)
        self.decode_hints = Decoders(self.decoded_hints, widths, processor.pointers_from_edges)
        self.decode_outputs = Decoders(spec.outputs, widths, processor.pointers_from_edges)
        self.composed = composed_of(spec.inputs, self.encoded_hints, composed, size)
        self.marks = marks(self.encoded_hints, composed)
        self.reads_pairs = self.decode_hints.reads_pairs or self.decode_outputs.reads_pairs


class Reasoner(nn.Module):
    """A network that learns to execute one task, or several that share its processor.

    `prepare` encodes the inputs of a batch, `forward` takes one step. `rnar.engine` does all of them: it predicts
    (`predict`), and differentiates (`backward`).

    Args:
        specs: The features of each task, by its name.
        processor: What turns a state into the next one.
        feeding: How hints are used.
        xavier_on_scalars: Do hints that are numbers begin with small weights?
        pointers: Are pointers of pairs kept as "triplets", besides the "means" of the benchmark?
        composed: Which hints that mark nodes are also encoded together with pointers: what a marked node points at, and
            what points at it?
        without_positions: In training, the probability for each batch that the input `pos` is not seen.
        transposed: Is the transpose of each hint that is a node pointer encoded too, by a map of its own?
    """

    precision: Precision = "float32"
    """In training, of the largest products: those of pairs, and large maps of nodes. All else is in float32."""
    tried_in: Precision = "float32"
    """The same of a network that is not in training."""

    def __init__(
        self,
        specs: dict[str, Spec],
        processor: Processor,
        feeding: Feeding | None = None,
        xavier_on_scalars: bool = True,
        pointers: Pointers = "means",
        composed: Marks = "none",
        without_positions: float = 0.0,
        transposed: bool = False,
    ):
        super().__init__()
        if not 0 <= without_positions <= 1:
            raise ValueError(f"without_positions is a probability, from 0 to 1, not {without_positions}")
        if pointers == "triplets" and not processor.triplet_width:
            raise ValueError(
                f"{type(processor).__name__} has no messages of three nodes that pointers of pairs could be part of; "
                'give it some (MessagePassing(..., triplets=8)), or leave pointers="means"'
            )
        self.processor = processor
        self.without_positions = without_positions
        self.feeding = feeding = feeding or Feeding()
        self.heads = nn.ModuleDict(
            {
                _key(task): Heads(spec, processor, feeding, xavier_on_scalars, pointers, composed, transposed)
                for task, spec in specs.items()
            }
        )

    @property
    def rounding(self) -> torch.dtype | None:
        """The precision of the largest products now; None: that of the weights."""
        return PRECISIONS[self.precision if self.training else self.tried_in]

    @property
    def tasks(self) -> list[str]:
        """What it has learned, or is to learn."""
        return [key.replace("/", ".") for key in self.heads]

    def heads_of(self, task: str) -> Heads:
        """The part of the network that belongs to a task."""
        if _key(task) not in self.heads:
            raise ValueError(f"this network has not learned {task}; it knows {', '.join(self.tasks)}")
        heads = self.heads[_key(task)]
        assert isinstance(heads, Heads)
        return heads

    def prepare(self, task: str, inputs: dict[str, Tensor], nodes: int, rng: torch.Generator | None = None) -> Prepared:
        """What is the same at every step of samples whose inputs are these, in stored form [B, ...].

        `rng` decides what is drawn once a batch: whether positions are seen, and what a processor draws.
        """
        heads, size = self.heads_of(task), self.processor.size
        like = next(self.processor.parameters())
        if self._forgets_positions(rng) and "pos" in inputs:
            inputs = {**inputs, "pos": torch.zeros_like(inputs["pos"])}
        wide = {
            group: kind_of(feature).widen(together(group, inputs, 1), nodes)
            for group, feature in heads.inputs.groups.items()
        }
        read, maps, of_hints = heads.inputs(wide), heads.inputs.prepare(), heads.hints.prepare()
        read = {place: channels.to(like.dtype) for place, channels in read.items()}
        batch, zeros, each = len(next(iter(inputs.values()))), like.new_zeros, apart(wide)
        nothing = OfChannels(zeros(0, size), zeros(size))
        pairs, of_nodes = maps.get("edge", nothing), maps.get("node", nothing)
        if "edge" in of_hints:
            pairs = pairs.beside(of_hints.pop("edge"))
        known, encoding = read.get("node", zeros(batch, nodes, 0)), None
        if self._reads_channels(heads):
            encoding = of_nodes.beside(of_hints.pop("node", nothing))
        return Prepared(
            known if encoding else of_nodes(known),
            maps["graph"](read["graph"]) if "graph" in maps else zeros(batch, size),
            read.get("edge", zeros(batch, nodes, nodes, 0)),
            pairs,
            encoding,
            self._adjacency(heads, wide, batch, nodes) if self.processor.uses_adjacency else None,
            {place: of_hints[place].map for place in of_hints},
            [x.to(like.dtype) for x in stacked(heads.spec.inputs, each)] if heads.codes else [],
            [each[name].to(like.dtype) for name in points(heads.spec.inputs)] if heads.composed else [],
            self.processor.prepare(pairs) if encoding is None else self.processor.prepare(pairs, encoding),
            self.processor.draw(nodes, rng),
            heads.decode_hints.prepare(pairs, encoding),
            heads.decode_outputs.prepare(pairs, encoding),
        )

    def _reads_channels(self, heads: Heads) -> bool:
        """Are nodes given to the processor, and to decoders, as what is known of them, so that encoding costs nothing?

        Not in a lower precision: two keys that differ by little would be one number, and are two after an encoding.
        """
        return self.processor.reads_channels and heads.composed is None and self.rounding is None

    def _forgets_positions(self, rng: torch.Generator | None) -> bool:
        if not self.training or not self.without_positions:
            return False
        device = "cpu" if rng is None else rng.device
        return bool(torch.rand((), generator=rng, device=device) < self.without_positions)

    def _adjacency(self, heads: Heads, wide: dict[Group, Tensor], batch: int, nodes: int) -> Tensor:
        device = next(self.processor.parameters()).device
        itself = torch.eye(nodes, dtype=torch.bool, device=device).expand(batch, -1, -1)
        joined = heads.inputs.adjacency(wide)
        return itself if joined is None else itself | joined

    def start(self, prepared: Prepared) -> State:
        """The state before the first step."""
        batch, nodes, _ = prepared.nodes.shape
        return self.processor.start(batch, nodes, next(self.processor.parameters()))

    def forward(
        self,
        task: str,
        prepared: Prepared,
        state: State,
        hints: dict[Group, Tensor],
        ending: slice,
        rng: torch.Generator | None = None,
        noise: Tensor | None = None,
    ) -> Moment:
        """One step of the samples that `state` is of: the first so many of those that were prepared.

        Args:
            task: Of which the samples are.
            prepared: What `prepare` returned.
            state: What the step before left of them: tensors [B, ...].
            hints: What is fed to them, in wide form: [B, k, ...].
            ending: Those samples whose outputs are wanted.
            rng: For processors that draw.
            noise: [ending, N, N], uniform, for permutations in training.
        """
        heads = self.heads_of(task)
        graph = self._graph(heads, prepared, hints, len(state[0]))
        step = self.processor(graph, state, rng)
        if step.losses.keys() != set(self.processor.losses):
            raise ValueError(
                f"{type(self.processor).__name__} says that its losses are {list(self.processor.losses)}, and returned "
                f"{list(step.losses)}; name in `losses` what a step returns"
            )
        pointers = None if graph.triples is None else graph.triples.pointers
        view = View(step.nodes, graph.channels, step.edges, graph.whole, pointers)
        outputs: dict[str, Logits] = {}
        if ending.start < ending.stop:
            outputs = apart(heads.decode_outputs(view.part(ending), prepared.decode_outputs, noise))
        hints = heads.decode_hints(view, prepared.decode_hints)
        return Moment(step.state, hints, outputs, step.losses)

    def _graph(self, heads: Heads, prepared: Prepared, hints: dict[Group, Tensor], active: int) -> Graph:
        """The inputs of the active samples, and the hints that are fed to them."""
        nodes, whole, channels = prepared.nodes[:active], prepared.whole[:active], prepared.channels[:active]
        read = {place: x.to(nodes.dtype) for place, x in heads.hints(hints).items()}
        if "node" in prepared.hints:
            nodes = nodes + prepared.hints["node"](read["node"])
        elif "node" in read:
            nodes = torch.cat([nodes, read["node"]], dim=-1)
        if heads.composed is not None:
            features, each = heads.encoded_hints, apart(hints)
            marked = torch.stack([each[name] for name in heads.marks], dim=-1).to(nodes.dtype)
            pointing = [x[:active] for x in prepared.pointing] + [each[n].to(nodes.dtype) for n in points(features)]
            nodes = nodes + heads.composed(marked, torch.stack(pointing, dim=1))
        if "graph" in read:
            whole = whole + prepared.hints["graph"](read["graph"])
        if "edge" in read:
            channels = torch.cat([channels, read["edge"]], dim=-1)
        adjacency = None if prepared.adjacency is None else prepared.adjacency[:active]
        if adjacency is not None:
            joined = heads.hints.adjacency(hints)
            adjacency = adjacency if joined is None else adjacency | joined
        triples = self._triples(heads, prepared, hints, active)
        return Graph(
            nodes,
            channels,
            prepared.pairs,
            whole,
            adjacency,
            heads.reads_pairs,
            prepared.processor,
            self.rounding,
            prepared.drawn,
            prepared.encoding,
            triples,
        )

    def _triples(self, heads: Heads, prepared: Prepared, hints: dict[Group, Tensor], active: int) -> Triples | None:
        """The pointers of pairs, where they are kept as triples."""
        if heads.codes is None:
            return None
        of_hints = [x.to(prepared.nodes.dtype) for x in stacked(heads.encoded_hints, apart(hints))]
        return Triples(torch.stack([x[:active] for x in prepared.pointers] + of_hints, dim=1), heads.codes.weight)


def _key(task: str) -> str:
    """The name of a task's part of the network: modules cannot have dots in theirs."""
    return task.replace(".", "/")
