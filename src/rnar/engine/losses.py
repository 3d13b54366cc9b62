"""What a network's predictions cost: named losses, each a mean over its own entries."""

import torch
from torch import Tensor

from rnar.clrs.batch import Batch
from rnar.engine.samples import Samples
from rnar.engine.unroll import Unrolled
from rnar.nn.kinds import Judged, kind_of
from rnar.nn.reasoner import Reasoner

Counts = dict[str, int]
"""by how many entries each loss is divided"""


def judge(reasoner: Reasoner, samples: Samples, run: Unrolled) -> dict[str, Judged]:
    """The losses of all outputs and hints, and the processor's own."""
    heads, found = reasoner.heads_of(samples.task), {}
    for name, feature in heads.spec.outputs.items():
        parts = kind_of(feature).losses(run.outputs[name], samples.outputs[name])
        found |= {name + part: judged for part, judged in parts.items()}
    for name, feature in heads.decoded_hints.items():
        logits = torch.cat([step[name][:k] for step, k in zip(run.hints, samples.judged, strict=True)])
        parts = kind_of(feature).losses(logits, samples.judged_hints(name))
        found |= {name + part: judged for part, judged in parts.items()}
    for name in reasoner.processor.losses:
        each = torch.cat([step[name] for step in run.losses])
        found[name] = Judged(each.sum(), torch.tensor(each.numel()))
    return found


def counts(reasoner: Reasoner, batch: Batch) -> Counts:
    """The number of entries of each loss of a batch: it can be told without the network's predictions."""
    heads, found = reasoner.heads_of(batch.task), {}
    for name, feature in heads.spec.outputs.items():
        found |= {name + part: n for part, n in kind_of(feature).counts(batch.outputs[name]).items()}
    predicted = batch.own_steps[1:]  # the first hint is given
    for name, feature in heads.decoded_hints.items():
        parts = kind_of(feature).counts(batch.hints[name][1 : len(predicted) + 1][predicted])
        found |= {name + part: n for part, n in parts.items()}
    steps = int((batch.lengths - 1).clip(min=1).sum())
    return found | dict.fromkeys(reasoner.processor.losses, steps)


def total_loss(judged: dict[str, Judged], of: Counts | None = None) -> Tensor:
    """The sum of the mean losses; `of` are the numbers of entries in the whole batch, if this is a part of it."""
    means = [total / (max(1, of[name]) if of else count.clamp(min=1)) for name, (total, count) in judged.items()]
    return torch.stack(means).sum()
