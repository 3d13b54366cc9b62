"""What predictions cost: named losses, each a mean over its own entries."""

from __future__ import annotations

import torch
from torch import Tensor

from rnar.clrs.batch import Batch
from rnar.nn.heads import TaskHeads
from rnar.nn.kinds import LossSum, kind_of
from rnar.nn.rollout import Steps
from rnar.nn.samples import Samples

STEPS = ""
"""the name of the number of steps of all samples, by which auxiliary losses are divided"""
Counts = dict[str, int]
"""by how many entries each loss is divided"""


def losses_of(heads: TaskHeads, samples: Samples, steps: Steps) -> dict[str, LossSum]:
    """The losses of all outputs and hints, and the auxiliary ones."""
    found: dict[str, LossSum] = {}
    for name, feature in heads.spec.outputs.items():
        parts = kind_of(feature).losses(steps.outputs[name], samples.outputs[name])
        found |= {name + part: loss for part, loss in parts.items()}
    for name, of_steps in steps.hints.items():
        logits, truth = torch.cat(of_steps), samples.hints[name].flatten(0, 1)[samples.truth]
        if len(logits) > len(truth):  # only a first step is taken by samples that it is not judged of: the last ones
            logits = torch.cat([logits[: samples.judged[0]], logits[len(samples.lengths) :]])
        parts = kind_of(heads.spec.hints[name]).losses(logits, truth)
        found |= {name + part: loss for part, loss in parts.items()}
    for name, each in steps.losses.items():
        loss = torch.cat(each)
        found[name] = LossSum(loss.sum(), torch.tensor(loss.numel(), device=loss.device))
    return found


def counts(heads: TaskHeads, batch: Batch) -> Counts:
    """The number of entries of each loss of a batch: it can be told without the network's predictions."""
    found: Counts = {}
    for name, feature in heads.spec.outputs.items():
        found |= {name + part: n for part, n in kind_of(feature).counts(batch.outputs[name]).items()}
    predicted = batch.own_steps[1:]  # the first hint is given
    for name, feature in heads.decoded_hints.items():
        parts = kind_of(feature).counts(batch.hints[name][1 : len(predicted) + 1][predicted])
        found |= {name + part: n for part, n in parts.items()}
    return {**found, STEPS: int((batch.lengths - 1).clip(min=1).sum())}


def total_loss(losses: dict[str, LossSum], of: Counts | None = None) -> Tensor:
    """The sum of the mean losses; `of` are the numbers of entries in the whole batch, if this is a part of it."""
    totals = torch.stack([total for total, _ in losses.values()])
    if of is None:
        entries = torch.stack([count for _, count in losses.values()])
    else:
        entries = torch.tensor([of.get(name, of[STEPS]) for name in losses], device=totals.device)
    return (totals / entries.clamp(min=1)).sum()
