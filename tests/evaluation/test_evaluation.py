"""How far scores can be trusted."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from helpers.evaluating import prepared
from helpers.scoring import decide, score
from rnar.clrs import node
from rnar.evaluation.evaluate import Evaluation, evaluate
from rnar.evaluation.evaluation import DRAWS_SEED
from rnar.evaluation.measures import Tally, measure_of
from rnar.runtime.workers import Workers


def guesses(samples: int, seed: int = 0) -> Evaluation:
    """As if pointers were right with a probability of their sample's own, and a mask were guessed."""
    rng = np.random.default_rng(seed)
    pointers = rng.random((samples, 9)) < rng.random((samples, 1))
    said, true = rng.random((2, samples, 9)) < 0.4
    return Evaluation(
        {
            "pi": Tally(measure_of(node.pointer), np.stack([pointers.sum(1), np.full(samples, 9)], 1).astype(float)),
            "in": Tally(measure_of(node.mask), np.stack([(said & true).sum(1), said.sum(1), true.sum(1)], 1) * 1.0),
        }
    )


@pytest.mark.parametrize("task", ["find_maximum_subarray_kadane", "mst_kruskal", "lcs_length"])
def test_the_interval_is_that_of_drawing_whole_samples_again_and_again(task):
    model, reasoner, batch = prepared(task)
    spec = model.spec(task)
    with torch.no_grad():
        outputs = reasoner(batch).outputs
    decided = {name: decide(feature, outputs[name]) for name, feature in spec.outputs.items()}
    rng, found = np.random.default_rng(DRAWS_SEED), []
    for _ in range(200):
        drawn = rng.integers(batch.size, size=batch.size)
        each = [score(f, decided[k][drawn], torch.from_numpy(batch.outputs[k][drawn])) for k, f in spec.outputs.items()]
        found.append(np.mean(each))
    evaluation = evaluate(Workers(reasoner, 1), batch)
    expected = np.quantile([*found, evaluation.score], [0.025, 0.975])
    assert evaluation.interval(draws=200) == pytest.approx(tuple(expected), abs=1e-6)


def test_the_interval_has_the_score_within_shrinks_with_samples_and_is_always_the_same():
    widths = []
    for samples in (8, 32, 128, 512, 2048):
        evaluation = guesses(samples)
        low, high = evaluation.interval()
        assert 0 <= low < evaluation.score < high <= 1
        assert evaluation.interval() == (low, high)
        widths.append(high - low)
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] == pytest.approx(widths[1] / 8, rel=0.4)  # as one over the root of their number


def test_nineteen_of_twenty_intervals_hold_the_truth():
    truth = guesses(100_000, seed=10_000).score
    intervals = [guesses(64, seed).interval(draws=300) for seed in range(200)]
    assert 0.88 <= np.mean([low <= truth <= high for low, high in intervals]) <= 0.99
