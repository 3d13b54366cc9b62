"""What a network believed: the decisions that its logits suggest, sample by sample, and how sure it was."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import rnar.clrs
from helpers.evaluating import prepared
from helpers.inference import forged
from helpers.scoring import decide
from rnar.clrs import ALGORITHMS, find
from rnar.evaluation import evaluate
from rnar.evaluation.beliefs import SLACK, believed
from rnar.nn.kinds import PermutationLogits
from rnar.runtime.workers import Workers


@pytest.mark.parametrize("task", ALGORITHMS)
def test_decisions_and_probabilities_are_those_of_the_logits(task):
    model, network, batch = prepared(task, samples=3)
    own = rnar.clrs.sample(task, 6, 3, seed=5)
    with torch.no_grad():
        predicted = network(batch, hints=True)
    spec = model.spec(task)
    for b, belief in enumerate(believed(network, own, model.batch)):
        assert belief.hints.keys() == find(task).spec.hints.keys() and belief.sample.steps == own.lengths[b]
        for name, said in belief.hints.items():
            logits = predicted.hints[name][: own.lengths[b] - 1, b]
            np.testing.assert_allclose(said.decided, decide(spec.hints[name], logits), rtol=1e-6)
            compare(spec.hints[name].kind, said, logits, own.hints[name][1 : own.lengths[b], b])
        for name, said in belief.outputs.items():
            logits = predicted.outputs[name]
            logits = PermutationLogits(*(x[b] for x in logits)) if isinstance(logits, PermutationLogits) else logits[b]
            np.testing.assert_array_equal(said.decided, decide(spec.outputs[name], logits))
            if not isinstance(logits, PermutationLogits):
                compare(spec.outputs[name].kind, said, logits, own.outputs[name][b])


def compare(kind, said, logits, truth):
    """With probabilities that are computed here."""
    logits, truth = logits.numpy(), np.asarray(truth)
    if kind == "scalar":
        assert said.sure is None and said.true is None and said.shares is None
        return
    if kind == "mask":
        yes = 1 / (1 + np.exp(-logits))
        expected = [np.where(x == 1, yes, 1 - yes) for x in (said.decided, truth)]
        np.testing.assert_allclose(said.shares, yes, atol=1e-6)
    else:
        wide = np.exp(logits - logits.max(axis=-1, keepdims=True))
        wide /= wide.sum(axis=-1, keepdims=True)
        expected = [
            np.take_along_axis(wide, np.maximum(x, 0)[..., None].astype(int), -1)[..., 0] for x in (said.decided, truth)
        ]
        if kind == "mask_one":
            np.testing.assert_allclose(said.shares, wide, atol=1e-6)
    np.testing.assert_allclose(said.sure, expected[0], atol=1e-6)
    np.testing.assert_allclose(said.true, expected[1], atol=1e-6)


@pytest.mark.parametrize("task", ["quickselect", "bridges", "insertion_sort", "find_maximum_subarray_kadane"])
def test_a_score_is_the_one_that_evaluation_gives_the_sample(task):
    model, network, batch = prepared(task)
    found = evaluate(network, batch)
    each = np.mean([tally.each for tally in found.tallies.values()], axis=0)
    right = np.all([tally.right for tally in found.tallies.values()], axis=0)
    beliefs = believed(network, rnar.clrs.sample(task, 6, batch.size, seed=5), model.batch)
    np.testing.assert_allclose([belief.score for belief in beliefs], each)
    assert [belief.agrees for belief in beliefs] == right.tolist()


def test_how_samples_are_shared_out_changes_nothing():
    model, network, _ = prepared("heapsort")
    batch = rnar.clrs.sample("heapsort", 6, 5, seed=5)
    together = believed(Workers(network, threads=2), batch, model.batch)
    for b, belief in enumerate(together):
        (alone,) = believed(network, batch.sample(b), model.batch)
        for name, said in belief.hints.items():
            np.testing.assert_array_equal(said.decided, alone.hints[name].decided)


def test_progress_adds_up_to_one():
    told: list[float] = []
    model, network, _ = prepared("minimum")
    believed(network, rnar.clrs.sample("minimum", 6, 3, seed=5), model.batch, progress=told.append)
    assert sum(told) == pytest.approx(1)


@pytest.mark.parametrize("task", ["quickselect", "dfs", "bridges", "kmp_matcher"])
def test_the_first_wrong_hint_is_the_first_that_differs(task):
    sample = rnar.clrs.sample(task, 8 if task != "kmp_matcher" else 20, 1, seed=3).sample(0)
    belief = forged(sample, wrong=0.05)
    spec = find(task).spec.hints
    differing = [
        t
        for t in range(1, sample.steps)
        for name, feature in spec.items()
        if feature.kind != "scalar"
        and ((belief.hints[name].decided[t - 1] != sample.hints[name][t]) & (sample.hints[name][t] >= 0)).any()
    ]
    assert belief.first_wrong is not None and belief.first_wrong.step == min(differing)
    assert forged(sample, wrong=0.0).first_wrong is None and forged(sample, wrong=0.0).agrees
    assert forged(sample, wrong=0.0).hints_right == 1


def test_a_number_is_wrong_if_it_is_off_by_more_than_a_tenth_of_its_range():
    sample = rnar.clrs.trace("find_maximum_subarray_kadane", [0.5, -0.25, 1.0, -1.0])
    belief, truth = forged(sample, wrong=0.0), sample.hints["sum"]
    limit = SLACK * (truth.max() - truth.min())
    belief.hints["sum"].decided[:] = truth[1:] + np.array([0.9, 1.1, -1.1], np.float32) * limit
    assert belief.wrong_hints["sum"].tolist() == [False, True, True]


def test_what_is_not_judged_is_neither_wrong_nor_sure():
    A = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    sample = rnar.clrs.trace("bridges", A)
    belief = forged(sample, wrong=0.0)  # anything at all where no edge is
    assert belief.agrees and belief.hints_right == 1
    said = belief.outputs["is_bridge"]
    said.sure[:] = np.where(sample.outputs["is_bridge"] >= 0, 0.75, 0.01)
    assert belief.sure == pytest.approx(0.75) and belief.least_sure == pytest.approx(0.75)


def test_a_run_of_one_step_predicts_no_hint():
    model, network, _ = prepared("bfs")
    (belief,) = believed(network, rnar.clrs.trace("bfs", [[0, 0], [0, 0]], 0), model.batch)
    assert belief.sample.steps == 1 and belief.first_wrong is None and belief.hints["pi_h"].decided.shape == (0, 2)


def test_a_model_without_hints_has_outputs_only():
    from dataclasses import replace

    from rnar.models import find as find_model
    from rnar.nn.heads import HintConfig

    model = replace(find_model("mpnn"), hints=HintConfig("none"))
    network = model.build("minimum", size=8)
    (belief,) = believed(network, rnar.clrs.trace("minimum", [3, 1, 2]), model.batch)
    assert belief.hints == {} and belief.hints_right == 1 and belief.outputs.keys() == {"min"}
