"""The reasoner: a network that learns to execute algorithms. `reasoner(batch)` is a whole rollout."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from torch import Tensor, nn

from rnar.clrs.batch import Batch, Sample, as_batch
from rnar.clrs.spec import Spec
from rnar.common.blame import definition_of
from rnar.common.cached import cached_property
from rnar.common.checking import checked
from rnar.nn.composed import Marks
from rnar.nn.decoders import Widths
from rnar.nn.heads import HintConfig, TaskHeads
from rnar.nn.kinds import Logits, LossSum, PermutationLogits
from rnar.nn.linear import Size
from rnar.nn.losses import losses_of, total_loss
from rnar.nn.processors.processor import attribute_of, widths_of
from rnar.nn.rollout import Rollout, Steps
from rnar.nn.samples import Samples, load
from rnar.nn.triples import Pointers

RENAMED = {"to_whole": "to_graph", "from_whole": "from_graph"}
"""parts of the names of weights, as checkpoints of version 1 have them"""


@dataclass
class Prediction:
    """What a network says, in the batch's own order."""

    outputs: dict[str, Logits]
    """[B, ...]"""
    hints: dict[str, Tensor]
    """[T-1, B, ...]: of the hints at steps 1 to T-1; zero after a sample's own length. Empty if not asked for."""
    _run: tuple[TaskHeads, Samples, Steps] = field(repr=False)

    @cached_property
    def losses(self) -> dict[str, LossSum]:
        """The loss of each output and hint, and the auxiliary ones, before they are averaged."""
        return losses_of(*self._run)

    @property
    def loss(self) -> Tensor:
        """The sum of the mean losses."""
        return total_loss(self.losses)


class Reasoner(nn.Module):
    """A network that learns to execute one task, or several that share its processor.

        loss = reasoner.loss(batch)        # of model.batch(rnar.sample("bfs", n=16, batch=32))
        loss.backward()

    It runs on the device where its weights are. `torch.autocast(..., dtype=torch.bfloat16)` takes its large products
    in that precision. `rnar.runtime` does the same on all cores and in less memory.

    Args:
        specs: The features of each task, by its name.
        processor: Any module with `forward(graph, state) -> ProcessorOutput`.
        hints: How hints are used.
        size: H, the number of features of a node, an edge and the graph; None: `processor.size`.
        xavier_on_scalars: Start with small weights for hints that are numbers.
        pointers: Keep pointers of edges as "triplets", besides the "means" of the benchmark.
        composed: Which hints that mark nodes are also encoded composed with pointers (`rnar.nn.composed`).
        without_positions: In training, the probability for each batch that the input `pos` is not seen.
        transposed: Encode the transpose of each hint that is a node pointer too, by a map of its own.
    """

    @checked
    def __init__(
        self,
        specs: dict[str, Spec],
        processor: nn.Module,
        hints: HintConfig | None = None,
        size: Size | None = None,
        xavier_on_scalars: bool = True,
        pointers: Pointers = "means",
        composed: Marks = "none",
        without_positions: float = 0.0,
        transposed: bool = False,
    ):
        super().__init__()
        if not 0 <= without_positions <= 1:
            raise ValueError(f"without_positions is a probability, from 0 to 1, not {without_positions}")
        triplet_width = attribute_of(processor, "triplet_width") or 0
        if pointers == "triplets" and not triplet_width:
            raise ValueError(
                f"{type(processor).__name__} has no messages of three nodes that pointers of edges could be part of; "
                'give it some (MessagePassing(..., triplets=8)), or leave pointers="means"'
            )
        self.processor = processor
        self.size: int = size or attribute_of(processor, "size")  # type: ignore[assignment]
        if not self.size:
            raise ValueError(
                f"{type(processor).__name__} does not tell how many features it reads: give it an attribute `size`, "
                f"or the network one, Reasoner(..., size=128){definition_of(type(processor))}"
            )
        self.hints = hints = hints or HintConfig()
        self.without_positions = without_positions
        nodes, edges = widths_of(processor, self.size, triplet_width if pointers == "triplets" else 0)
        widths = Widths(self.size, nodes, self.size + edges)
        how = xavier_on_scalars, pointers, triplet_width, composed, transposed
        from_edges = bool(attribute_of(processor, "pointers_from_edges"))
        self.heads = nn.ModuleDict(
            {_key(task): TaskHeads(spec, widths, hints, *how, from_edges) for task, spec in specs.items()}
        )
        self.register_load_state_dict_pre_hook(_rename)

    @property
    def tasks(self) -> list[str]:
        """What it has learned, or is to learn."""
        return [key.replace("/", ".") for key in self.heads]

    def heads_of(self, task: str) -> TaskHeads:
        """The part of the network that belongs to a task."""
        if _key(task) not in self.heads:
            raise ValueError(f"this network has not learned {task}; it knows {', '.join(self.tasks)}")
        heads = self.heads[_key(task)]
        assert isinstance(heads, TaskHeads)
        return heads

    def forward(
        self, batch: Batch | Sample, seed: int = 0, hints: bool = True, through_padding: bool = False
    ) -> Prediction:
        """Run through all steps of a batch.

        No truth is used but the first hint and the lengths, unless `HintConfig` says so.

        Args:
            batch: Samples of one of its tasks, as its model sees them (`model.batch`).
            seed: Decides all that is drawn.
            hints: Return the hints too; losses need them.
            through_padding: Go on predicting hints to the end of the batch, where samples have ended long since.
        """
        samples = self.load(batch)
        rollout = Rollout(self, samples, seed)
        steps = rollout.run(keep_hints=hints)
        logits = steps.hints
        if through_padding:
            rollout = Rollout(self, samples, seed, [max(samples.lengths)] * len(samples.lengths))
            logits = rollout.run().hints
        outputs = {name: _reordered(x, samples.back) for name, x in steps.outputs.items()}
        padded = {name: _padded(each, samples.back) for name, each in logits.items()}
        return Prediction(outputs, padded, (self.heads_of(samples.task), samples, steps))

    def loss(self, batch: Batch | Sample, seed: int = 0) -> Tensor:
        """The sum of the mean losses of a batch's outputs and hints: `reasoner.loss(batch).backward()`."""
        return self(batch, seed).loss

    def load(self, batch: Batch | Sample) -> Samples:
        """A batch on the network's device."""
        batch = as_batch(batch)
        return load(self.heads_of(batch.task).spec, batch, next(self.parameters()).device)


def old_name(name: str) -> str:
    """The name of a weight as checkpoints of version 1 have it."""
    for old, new in RENAMED.items():
        name = name.replace(new, old)
    return name


def current_name(name: str) -> str:
    """The name of a weight now, of its name in a checkpoint of any version."""
    for old, new in RENAMED.items():
        name = name.replace(old, new)
    return name


def _rename(module: nn.Module, weights: dict[str, Any], *_: Any) -> None:
    for name in [name for name in weights if current_name(name) != name]:
        weights[current_name(name)] = weights.pop(name)


def _reordered(logits: Logits, back: Tensor) -> Logits:
    if isinstance(logits, PermutationLogits):
        return PermutationLogits(*(x[back] for x in logits))
    return logits[back]


def _padded(steps: list[Tensor], back: Tensor) -> Tensor:
    """Steps [active, ...] of ever fewer samples -> [T-1, B, ...] in the batch's order."""
    full = steps[0].new_zeros(len(steps), len(back), *steps[0].shape[1:])
    for t, step in enumerate(steps):
        full[t, : len(step)] = step
    return full[:, back]


def _key(task: str) -> str:
    """The name of a task's part of the network: modules cannot have dots in theirs."""
    return task.replace(".", "/")
