"""What a network's predictions cost: named losses, each a mean over its own entries."""

import torch
from torch import Tensor

from rnar.clrs.batch import Batch
from rnar.engine.samples import Samples
from rnar.engine.unroll import Unrolled
from rnar.nn.kinds import Elementwise, Judged, kind_of
from rnar.nn.reasoner import Reasoner

Counts = dict[str, int]
"""by how many entries each loss is divided"""


def judge(reasoner: Reasoner, samples: Samples, run: Unrolled) -> dict[str, Judged]:
    """The losses of all outputs and hints, and the processor's own."""
    heads, found = reasoner.heads_of(samples.task), {}
    for name, feature in heads.spec.outputs.items():
        parts = kind_of(feature).losses(run.outputs[name], samples.outputs[name])
        found |= {name + part: judged for part, judged in parts.items()}
    for group, logits in run.hints.items():
        kind, truth = kind_of(heads.spec.hints[group[0]]), samples.judged_hints(group)
        assert isinstance(kind, Elementwise)
        if len(logits) > len(truth):  # only a first step is taken by samples that it is not judged of: the last ones
            logits = torch.cat([logits[: samples.judged[0]], logits[len(samples.lengths) :]])
        found |= zip(group, kind.losses_of_each(logits, truth), strict=True)
    for name, each in run.losses.items():
        found[name] = Judged(each.sum(), torch.tensor(each.numel(), device=each.device))
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
    totals = torch.stack([total for total, _ in judged.values()])
    if of is None:
        counts = torch.stack([count for _, count in judged.values()])
    else:
        counts = torch.tensor([of[name] for name in judged], device=totals.device)
    return (totals / counts.clamp(min=1)).sum()
