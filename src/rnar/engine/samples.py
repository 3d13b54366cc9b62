"""Samples on a device, the longest first."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from rnar.clrs.batch import Batch
from rnar.nn.reasoner import Reasoner


class Part(NamedTuple):
    """Which samples of a larger batch these are; all of one by default."""

    places: np.ndarray
    """int [B]: where each stands in the whole batch"""
    whole: int
    """how many samples that has"""


class Samples(NamedTuple):
    """A batch as tensors, in stored form, sorted by length so that those that have ended are the last."""

    task: str
    inputs: dict[str, Tensor]
    """[B, ...]"""
    hints: dict[str, Tensor]
    """[T, B, ...]"""
    outputs: dict[str, Tensor]
    """[B, ...]"""
    lengths: list[int]
    """descending"""
    back: Tensor
    """[B]: in which order they stood in their batch"""
    places: Tensor
    """[B]: where each stands in the whole batch, of which this may be a part"""
    whole: int
    """how many samples that has"""
    nodes: int

    @property
    def judged(self) -> list[int]:
        """For each step, of how many samples the hint it predicts is judged: those that go on for so long."""
        steps = max(1, self.lengths[0] - 1)
        return [sum(length > t + 1 for length in self.lengths) for t in range(steps)]

    def judged_hints(self, name: str) -> Tensor:
        """The true hints that are judged, one step after the other."""
        hints = self.hints[name]
        return torch.cat([hints[:0].flatten(0, 1), *(hints[t + 1, :k] for t, k in enumerate(self.judged) if k)])


def load(reasoner: Reasoner, batch: Batch, part: Part | None = None) -> Samples:
    """A batch on the network's device, in what of it the network sees."""
    spec, device = reasoner.heads_of(batch.task).spec, next(reasoner.parameters()).device
    for stage, features, arrays in zip(("input", "hint", "output"), spec, batch[1:4], strict=True):
        for name in features:
            if name not in arrays:
                raise ValueError(f"this batch of {batch.task} has no {stage} {name!r}, which the network expects")
    part = part or Part(np.arange(batch.size), batch.size)
    order = np.argsort(-batch.lengths, kind="stable")
    steps = batch.lengths[order[0]]

    def loaded(array: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(device, non_blocking=True)

    return Samples(
        batch.task,
        {name: loaded(batch.inputs[name][order]) for name in spec.inputs},
        {name: loaded(batch.hints[name][:steps, order]) for name in spec.hints},
        {name: loaded(batch.outputs[name][order]) for name in spec.outputs},
        batch.lengths[order].tolist(),
        loaded(np.argsort(order)),
        loaded(part.places[order]),
        part.whole,
        batch.nodes,
    )
