"""The samples of a set that went most wrong."""

from collections.abc import Sequence

import numpy as np

from rnar.clrs import Sample
from rnar.clrs.batch import stacked
from rnar.evaluation.beliefs import Belief, believed
from rnar.evaluation.evaluate import View
from rnar.evaluation.evaluation import Evaluation
from rnar.evaluation.sets import ProblemSet
from rnar.nn.reasoner import Reasoner

LOOKED_AT = 4  # times as many as are wanted: of those with one score, hints tell which is worse


def worst(
    reasoner: Reasoner, view: View, problems: ProblemSet, evaluation: Evaluation, count: int
) -> list[tuple[int, Belief]]:
    """The `count` samples that went most wrong, the worst first: their numbers in the set, and what was predicted.

    By their scores; samples of one score by how many hints were right. Those that are all right are never among them.
    """
    scores = np.mean([tally.each for tally in evaluation.tallies.values()], axis=0)
    right = np.all([tally.right for tally in evaluation.tallies.values()], axis=0)
    order = [int(k) for k in np.argsort(scores, kind="stable") if not right[k]][: LOOKED_AT * count]
    if not order:
        return []
    beliefs = zip(order, believed(reasoner, stacked(picked(problems, order)), view), strict=True)
    return sorted(beliefs, key=lambda item: (scores[item[0]], item[1].hints_right, item[0]))[:count]


def picked(problems: ProblemSet, numbers: Sequence[int]) -> list[Sample]:
    """Samples of a set by their numbers, in that order."""
    samples, start = {}, 0
    for batch in problems.batches():
        samples |= {k: batch.sample(k - start) for k in numbers if start <= k < start + batch.size}
        start += batch.size
    return [samples[k] for k in numbers]
