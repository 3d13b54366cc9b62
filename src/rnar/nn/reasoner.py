"""The reasoner: encode, process, decode, feed back, T times."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from rnar.clrs.batch import Batch
from rnar.clrs.spec import Feature, Spec
from rnar.engine.unroll import Context, Tensors, Unrolled, unroll, unroll_backward
from rnar.nn.decoders import Decoders, Logits, Widths
from rnar.nn.encoders import Encoders
from rnar.nn.kinds import Judged, Permutation, Ring, kind_of
from rnar.nn.processors.processor import Processor

HintSource = Literal["network", "truth", "nothing"]
HintMode = Literal["encoded and decoded", "decoded", "none"]


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


class Prediction(NamedTuple):
    """What the network says, in the batch's own order."""

    outputs: dict[str, Logits]
    """[B, ...]"""
    hints: dict[str, Tensor]
    """[T-1, B, ...]: of the hints at steps 1 to T-1; zero after a sample's own length. Empty if not asked for."""


class Heads(nn.Module):
    """What belongs to one task: its encoders and decoders."""

    def __init__(self, spec: Spec, processor: Processor, feeding: Feeding, xavier_on_scalars: bool):
        super().__init__()
        self.spec = spec
        self.predicts_permutations = any(feature.kind == "permutation" for feature in spec.outputs.values())
        self.encoded_hints = spec.hints if feeding.mode == "encoded and decoded" else {}
        self.decoded_hints = spec.hints if feeding.mode != "none" else {}
        size = processor.size
        widths = Widths(size, processor.node_width, size + processor.edge_width)
        self.inputs = Encoders(spec.inputs, size)
        self.hints = Encoders(self.encoded_hints, size, xavier_on_scalars)
        self.decode_hints = Decoders(self.decoded_hints, widths, processor.pointers_from_edges)
        self.decode_outputs = Decoders(spec.outputs, widths, processor.pointers_from_edges)
        self.reads_pairs = self.decode_hints.reads_pairs or self.decode_outputs.reads_pairs


class Reasoner(nn.Module):
    """A network that learns to execute one task, or several that share its processor."""

    def __init__(
        self,
        specs: dict[str, Spec],
        processor: Processor,
        feeding: Feeding | None = None,
        xavier_on_scalars: bool = True,
    ):
        super().__init__()
        self.processor = processor
        self.feeding = feeding = feeding or Feeding()
        self.heads = nn.ModuleDict({_key(t): Heads(s, processor, feeding, xavier_on_scalars) for t, s in specs.items()})

    def forward(self, batch: Batch, hints: bool = False, through_padding: bool = False, seed: int = 0) -> Prediction:
        """Predict the outputs, and the hints if asked for. No truth is used but the first hint and the lengths.

        `through_padding`: go on predicting hints to the end of the batch, where samples have ended long since. `seed`
        is for aggregators that draw.
        """
        data = self.tensors(batch)
        run = unroll(self._context(batch.task, data, seed), keep_hints=hints)
        outputs, steps = run.outputs, run.hints
        if through_padding:
            steps = unroll(self._context(batch.task, data, seed, max(data.lengths)), keep_hints=True).hints
        back = torch.argsort(data.order)
        return Prediction(
            {name: Ring(*(x[back] for x in o)) if isinstance(o, Ring) else o[back] for name, o in outputs.items()},
            {name: _padded([step[name] for step in steps], back) for name in (steps[0] if steps else {})},
        )

    def losses(self, batch: Batch, seed: int = 0) -> dict[str, Judged]:
        """The loss of each output and hint, before it is averaged. `seed` decides all that is drawn."""
        data = self.tensors(batch)
        run = unroll(self._context(batch.task, data, seed), keep_hints=True)
        return self._judge(batch.task, data, run)

    def backward(
        self,
        batch: Batch,
        seed: int = 0,
        counts: dict[str, Tensor] | None = None,
        part: np.ndarray | None = None,
        memory: int = 0,
    ) -> dict[str, Judged]:
        """Add the gradient of the mean losses' sum to the parameters, in little memory; return the losses.

        `part`: only these samples of the batch, of which `counts` then says by how many entries each loss is divided.
        `memory`: how many bytes may be spent on not computing steps twice.
        """
        data = self.tensors(batch, part)
        judged: dict[str, Judged] = {}

        def loss(run: Unrolled) -> Tensor:
            judged.update(self._judge(batch.task, data, run))
            return total_loss(judged, counts)

        unroll_backward(self._context(batch.task, data, seed), loss, memory)
        return {name: Judged(total.detach(), count) for name, (total, count) in judged.items()}

    def counts(self, batch: Batch) -> dict[str, Tensor]:
        """By how many entries each loss of a batch is divided: this can be told without the network."""
        heads, data = self._heads(batch.task), self.tensors(batch)
        found = {}
        for name, feature in heads.spec.outputs.items():
            if feature.kind == "permutation":
                found[name] = torch.tensor(data.outputs[name].numel())
                found[f"{name}_first"] = torch.tensor(batch.size)
            else:
                found[name] = kind_of(feature).judged(data.outputs[name]).sum()
        for name, feature in heads.decoded_hints.items():
            found[name] = kind_of(feature).judged(_judged_hints(data, name)).sum()
        found["penalty"] = torch.tensor(sum(max(1, length - 1) for length in data.lengths))
        return found

    def tensors(self, batch: Batch, part: np.ndarray | None = None) -> Tensors:
        """A batch, or some of its samples, on this network's device, the longest first."""
        spec, device = self._heads(batch.task).spec, next(self.parameters()).device
        for stage, features, arrays in zip(("input", "hint", "output"), spec, batch[1:4], strict=True):
            for name in features:
                if name not in arrays:
                    raise ValueError(f"this batch of {batch.task} has no {stage} {name!r}, which the network expects")
        part = np.arange(batch.size) if part is None else part
        order = part[np.argsort(-batch.lengths[part], kind="stable")]
        steps = batch.lengths[order[0]]

        def load(array: np.ndarray) -> Tensor:
            return torch.from_numpy(np.ascontiguousarray(array)).to(device, non_blocking=True)

        return Tensors(
            {name: load(batch.inputs[name][order]) for name in spec.inputs},
            {name: load(batch.hints[name][:steps, order]) for name in spec.hints},
            {name: load(batch.outputs[name][order]) for name in spec.outputs},
            batch.lengths[order].tolist(),
            torch.from_numpy(order).to(device),
            batch.size,
            batch.nodes,
        )

    def _heads(self, task: str) -> Heads:
        if _key(task) not in self.heads:
            known = ", ".join(key.replace("-", ".") for key in self.heads)
            raise ValueError(f"this network has not learned {task}; it knows {known}")
        heads = self.heads[_key(task)]
        assert isinstance(heads, Heads)
        return heads

    def _context(self, task: str, data: Tensors, seed: int, length: int | None = None) -> Context:
        lengths = data.lengths if length is None else [length] * len(data.lengths)
        return Context(self, self._heads(task), data, lengths, seed)

    def _judge(self, task: str, data: Tensors, run: Unrolled) -> dict[str, Judged]:
        heads, found = self._heads(task), {}
        for name, feature in heads.spec.outputs.items():
            logits = run.outputs[name]
            if isinstance(logits, Ring):
                parts = Permutation.loss(logits, data.outputs[name])
                found.update({name + part: judged for part, judged in parts.items()})
            else:
                found[name] = kind_of(feature).loss(logits, data.outputs[name])
        for name, feature in heads.decoded_hints.items():
            logits = torch.cat([step[name][:k] for step, k in zip(run.hints, _judged_at(data), strict=True)])
            found[name] = kind_of(feature).loss(logits, _judged_hints(data, name))
        if run.penalties:
            penalties = torch.cat(run.penalties)
            found["penalty"] = Judged(self.processor.penalty_weight * penalties.sum(), torch.tensor(penalties.numel()))
        return found


def _key(task: str) -> str:
    """A task's name as that of a module, which has no dots: `pack.age:sort` is `pack-age:sort`."""
    return task.replace(".", "-")


def total_loss(judged: dict[str, Judged], counts: dict[str, Tensor] | None = None) -> Tensor:
    """The sum over features of their mean losses; `counts` are those of the whole batch, if this is a part of it."""
    return torch.stack(
        [total / (count if counts is None else counts[name]).clamp(min=1) for name, (total, count) in judged.items()]
    ).sum()


def _judged_at(data: Tensors) -> list[int]:
    """For each step, of how many samples the hint it predicts is judged: those that go on for so long."""
    steps = max(1, data.lengths[0] - 1)
    return [sum(length > t + 1 for length in data.lengths) for t in range(steps)]


def _judged_hints(data: Tensors, name: str) -> Tensor:
    """The true hints that are judged, one after the other."""
    hints = data.hints[name]
    return torch.cat([hints[:0].flatten(0, 1), *(hints[t + 1, :k] for t, k in enumerate(_judged_at(data)) if k)])


def _padded(steps: list[Tensor], back: Tensor) -> Tensor:
    """Steps [active, ...] of ever fewer samples -> [T-1, B, ...] in the batch's order."""
    full = steps[0].new_zeros(len(steps), len(back), *steps[0].shape[1:])
    for t, step in enumerate(steps):
        full[t, : len(step)] = step
    return full[:, back]


def scores(spec: Spec, outputs: dict[str, Logits], truth: dict[str, np.ndarray]) -> dict[str, float]:
    """The micro-F1 of each output as the benchmark defines it, over all samples at once, and their mean as "score"."""
    found = {}
    for name, feature in spec.outputs.items():
        found[name] = score(feature, decide(feature, outputs[name]).cpu(), torch.from_numpy(truth[name]))
    return {**found, "score": sum(found.values()) / len(found)}


def decide(feature: Feature, logits: Logits) -> Tensor:
    """Logits -> the stored form."""
    return Permutation.decide(logits) if isinstance(logits, Ring) else kind_of(feature).decide(logits)


def score(feature: Feature, decided: Tensor, stored: Tensor) -> float:
    if feature.kind == "permutation":
        return Permutation.score(decided, stored).item()
    return kind_of(feature).score(decided, stored).item()
