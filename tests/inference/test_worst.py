"""The samples that went most wrong."""

from __future__ import annotations

import numpy as np

from helpers.evaluating import prepared
from rnar.clrs.batch import stacked
from rnar.evaluation.beliefs import believed
from rnar.evaluation.evaluate import evaluate
from rnar.evaluation.sets import ProblemSet
from rnar.inference.worst import picked, worst

SET = ProblemSet("bfs", 6, 20, 4, False)


def test_they_are_those_of_the_least_scores_and_then_of_the_fewest_right_hints():
    model, network, _ = prepared("bfs")
    (batch,) = SET.batches()
    evaluation = evaluate(network, batch, view=model.batch)
    found = worst(network, model.batch, SET, evaluation, 3)
    beliefs = believed(network, batch, model.batch)
    scores = [belief.score for belief in beliefs]
    assert [beliefs[k].score for k, _ in found] == sorted(scores)[:3]
    for k, belief in found:
        assert belief.score == scores[k] and belief.sample.inputs["A"].tolist() == batch.inputs["A"][k].tolist()
    keys = [(belief.score, belief.hints_right) for _, belief in found]
    assert keys == sorted(keys)


def test_a_sample_that_is_all_right_is_not_among_them():
    model, network, _ = prepared("bfs")
    (batch,) = SET.batches()
    evaluation = evaluate(network, batch, view=model.batch)
    evaluation.tallies["pi"].counts[:, 0] = evaluation.tallies["pi"].counts[:, 1]
    assert worst(network, model.batch, SET, evaluation, 3) == []
    evaluation.tallies["pi"].counts[7, 0] = 0
    assert [k for k, _ in worst(network, model.batch, SET, evaluation, 3)] == [7]


def test_samples_are_picked_by_their_numbers_from_any_batch(monkeypatch):
    from rnar.evaluation import sets

    (whole,) = SET.batches()
    monkeypatch.setattr(sets, "at_once", lambda n: 6)
    found = picked(SET, [13, 2, 19])
    assert [sample.outputs["pi"].tolist() for sample in found] == whole.outputs["pi"][[13, 2, 19]].tolist()


def test_samples_that_are_stacked_are_the_batch_that_they_came_from():
    (batch,) = SET.batches()
    again = stacked([batch.sample(b) for b in range(batch.size)])
    for ours, theirs in zip(again.stages.values(), batch.stages.values(), strict=True):
        for name in theirs:
            np.testing.assert_array_equal(ours[name], theirs[name])
    assert again.lengths.tolist() == batch.lengths.tolist()
