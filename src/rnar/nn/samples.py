"""A batch as tensors on a network's device, the longest samples first."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from rnar.clrs.batch import Batch
from rnar.clrs.spec import Spec


class Part(NamedTuple):
    """The samples of a larger batch that these are."""

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
    judged: list[int]
    """for each step, of how many samples the hint it predicts is judged: those that go on for so long"""
    truth: Tensor
    """int [all that are judged]: where their true hints are, one step after the other, if steps and samples are one"""


def load(spec: Spec, batch: Batch, device: torch.device, part: Part | None = None) -> Samples:
    """The features of a batch that a spec names, on a device."""
    order = np.argsort(-batch.lengths, kind="stable")
    lengths = batch.lengths[order]
    goes_on = lengths > np.arange(1, max(2, lengths[0]))[:, None]  # [steps, B]
    part = part or Part(np.arange(batch.size), batch.size)
    arrays = {"input": batch.inputs, "hint": batch.hints, "output": batch.outputs}
    some = {"input": order, "hint": (slice(int(lengths[0])), order), "output": order}

    def loaded(array: np.ndarray) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(device, non_blocking=True)

    features = []
    for (stage, stored), names in zip(arrays.items(), spec, strict=True):
        if missing := [name for name in names if name not in stored]:
            raise ValueError(
                f"this batch of {batch.task} has no {stage} {missing[0]!r}, which the network expects; it must be as "
                "its model sees it: model.batch(batch)"
            )
        features.append({name: loaded(stored[name][some[stage]]) for name in names})
    return Samples(
        batch.task,
        *features,
        lengths=lengths.tolist(),
        back=loaded(np.argsort(order)),
        places=loaded(part.places[order]),
        whole=part.whole,
        nodes=batch.nodes,
        judged=goes_on.sum(axis=1).tolist(),
        truth=loaded(np.flatnonzero(goes_on) + len(order)),
    )
