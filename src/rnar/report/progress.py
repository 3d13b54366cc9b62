"""What an algorithm itself has of its answer before it has ended."""

from collections.abc import Iterator, Sequence
from statistics import mean

import numpy as np
import torch

from rnar.clrs import find
from rnar.clrs.spec import Feature
from rnar.evaluation.measures import measure_of
from rnar.evaluation.sets import ProblemSet


def algorithm(problems: ProblemSet, shares: Sequence[float]) -> list[float]:
    """The score of what the algorithm itself has after each share of its steps; nothing where no hint becomes the
    answer."""
    spec, becomes = find(problems.task).spec, dict(becoming(problems.task))
    if len(becomes) < len(spec.outputs):
        return []
    measures = {name: measure_of(spec.outputs[name]) for name in becomes}
    sums = [{name: np.zeros(measure.width) for name, measure in measures.items()} for _ in shares]
    for batch in problems.batches():
        for share, total in zip(shares, sums, strict=True):
            last = batch.beginning(share).lengths - 1
            for name, hint in becomes.items():
                state, truth = batch.hints[hint][last, range(batch.size)], batch.outputs[name]
                counts = measures[name].counts(torch.from_numpy(state), torch.from_numpy(truth))
                total[name] += counts.numpy().sum(axis=0)
    return [mean(float(measures[name].score(total[name])) for name in becomes) for total in sums]


def becoming(task: str) -> Iterator[tuple[str, str]]:
    """The outputs of a task that are the last state of a hint, and that hint: pi is pi_h, pred is pred_h."""
    spec = find(task).spec
    for name, feature in spec.outputs.items():
        hint = f"{name}_h"
        if hint in spec.hints and _form(spec.hints[hint]) == _form(feature):
            yield name, hint


def _form(feature: Feature) -> tuple[str, str]:
    """What is stored in the same way: an order is stored as pointers."""
    return feature.place, "pointer" if feature.kind == "permutation" else feature.kind
