"""Evaluation: the same scores as the benchmark's, in little memory, whatever the pieces and threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch

import rnar.clrs
from helpers.evaluating import SAMPLES, prepared
from helpers.scoring import decide, score, scores
from rnar.clrs import Batch
from rnar.evaluation.evaluate import Evaluation, evaluate
from rnar.runtime.workers import Workers

TASKS = (
    "find_maximum_subarray_kadane",  # two outputs
    "insertion_sort",  # a permutation
    "segments_intersect",  # of the whole graph
    "lcs_length",  # classes of edges, some of which are not judged
    "floyd_warshall",  # pointers of edges, and numbers
    "mst_kruskal",  # a mask of edges
    "binary_search",
)


def same(one: Evaluation, other: Evaluation) -> bool:
    """Are all counts the same, but for the last bits of squared errors?"""
    pairs = [(one.tallies[k], other.tallies[k]) for k in one.tallies] + [
        (one.hints[k], other.hints[k]) for k in one.hints
    ]
    keys = one.tallies.keys() == other.tallies.keys() and one.hints.keys() == other.hints.keys()
    return keys and all(np.allclose(x.counts, y.counts, rtol=1e-4) for x, y in pairs)


@pytest.mark.parametrize("name", ["rnar", "rt"])
@pytest.mark.parametrize("task", TASKS)
def test_the_score_is_that_of_the_benchmark_over_the_whole_batch(task, name):
    model, reasoner, batch = prepared(task, name)
    with torch.no_grad():
        expected = scores(model.spec(task), reasoner(batch).outputs, batch.outputs)
    found = evaluate(Workers(reasoner, 1), batch)
    assert {**found.outputs, "score": found.score} == pytest.approx(expected, abs=1e-6)
    assert found.samples == SAMPLES and found.hints == {}


@pytest.mark.parametrize("task", TASKS)
def test_exact_is_the_share_of_samples_without_any_wrong_entry(task):
    """A network with fresh weights is never right on some tasks: every third truth is made what it says."""
    model, reasoner, batch = prepared(task, samples=40, n=4)
    with torch.no_grad():
        outputs = reasoner(batch).outputs
    said = {name: decide(feature, outputs[name]).numpy() for name, feature in model.spec(task).outputs.items()}
    true = {name: truth.copy() for name, truth in batch.outputs.items()}
    for name, truth in true.items():
        truth[::3] = np.where(truth[::3] >= 0, said[name][::3], truth[::3])
    right = np.ones(batch.size, bool)
    for name, truth in true.items():
        wrong = (said[name] != truth) & (truth >= 0)
        right &= ~wrong.reshape(batch.size, -1).any(axis=1)
    assert right[::3].all() and not right.all()
    assert evaluate(Workers(reasoner, 2), batch._replace(outputs=true)).exact == pytest.approx(right.mean())


@pytest.mark.parametrize("task", TASKS)
def test_hints_along_the_steps_are_scored_as_outputs_are(task):
    model, reasoner, batch = prepared(task)
    with torch.no_grad():
        predicted = reasoner(batch, hints=True).hints
    found = evaluate(Workers(reasoner, 2), batch, hints=True).hints
    assert found.keys() == model.spec(task).hints.keys()
    for name, feature in model.spec(task).hints.items():
        for t in range(batch.lengths.max() - 1):
            own = np.flatnonzero(batch.lengths > t + 1)
            truth = torch.from_numpy(batch.hints[name][t + 1, own])
            expected = score(feature, decide(feature, predicted[name][t, own]), truth)
            assert found[name].each[t] == pytest.approx(expected, abs=1e-6, rel=1e-4, nan_ok=True)
        assert len(found[name].each) == batch.lengths.max() - 1
        assert found[name].measure.is_error == (feature.kind == "scalar")


@pytest.mark.parametrize("name", ["rnar", "rnar-janossy-2", "rt", "g-forgetnet"])
@pytest.mark.parametrize("task", ["quickselect", "bellman_ford"])
def test_pieces_and_threads_do_not_matter(task, name):
    _, reasoner, batch = prepared(task, name)
    whole = evaluate(Workers(reasoner, 1), batch, hints=True)
    assert same(whole, evaluate(Workers(reasoner, 1), batch, hints=True, budget=1))
    assert same(whole, evaluate(Workers(reasoner, 3), batch, hints=True))
    assert same(whole, evaluate(Workers(reasoner, 9), batch, hints=True))


def test_what_the_model_sees_may_be_made_piece_by_piece_and_without_hints_but_the_first():
    model, reasoner, batch = prepared("quickselect")
    raw, seen = rnar.clrs.sample("quickselect", 6, SAMPLES, seed=5), []

    def view(piece: Batch) -> Batch:
        seen.append((piece.size, len(piece.hints["pred_h"])))
        return model.batch(piece)

    workers = Workers(reasoner, 2)
    assert same(evaluate(workers, raw, view=view, budget=1), evaluate(workers, batch))
    assert seen == [(1, 1)] * SAMPLES
    assert same(evaluate(workers, raw, view=view, hints=True), evaluate(workers, batch, hints=True))


def test_evaluations_of_parts_add_up_to_that_of_the_whole():
    _, reasoner, batch = prepared("quickselect")
    workers = Workers(reasoner, 1)
    parts = [evaluate(workers, batch.part(some), hints=True) for some in (slice(0, 3), slice(3, None))]
    assert same(parts[0] + parts[1], evaluate(workers, batch, hints=True))


def test_training_goes_on_as_it_was():
    _, reasoner, batch = prepared("insertion_sort")
    expected = evaluate(Workers(reasoner, 2), batch)
    reasoner.train()
    assert same(evaluate(Workers(reasoner, 2), batch), expected)
    assert all(module.training for module in reasoner.modules())
    assert all(parameter.grad is None for parameter in reasoner.parameters())


def test_progress_is_told_shares_of_the_whole():
    _, reasoner, batch = prepared("quickselect")
    told = []
    evaluate(Workers(reasoner, 2), batch, progress=told.append)
    assert sum(told) == pytest.approx(1)
    assert len(told) > batch.lengths.min()  # often: after each step of the samples that are tried here


def test_where_one_thread_fails_the_others_stop_and_the_failure_is_told():
    _, reasoner, batch = prepared("bubble_sort", n=8)
    workers, calls = Workers(reasoner, 2), []

    def fail(share: float) -> None:
        calls.append(threading.get_ident())
        if len(calls) == 5:
            raise MemoryError("no more")

    with pytest.raises(MemoryError, match="no more"):
        evaluate(workers, batch, progress=fail)
    assert len(calls) < 2 * batch.lengths.max() - 10
    assert evaluate(workers, batch).samples == batch.size


def test_a_task_that_was_not_learned_is_refused():
    _, reasoner, _ = prepared("bfs")
    with pytest.raises(ValueError, match="not learned dfs; it knows bfs"):
        evaluate(Workers(reasoner, 1), rnar.clrs.sample("dfs", 4, 2, seed=0))


def test_products_may_be_rounded_to_bfloat16_and_are_exact_again_afterwards():
    _, reasoner, batch = prepared("floyd_warshall", "rnar")
    workers = Workers(reasoner.float(), 2)
    exact = evaluate(workers, batch, hints=True)
    rough = evaluate(workers, batch, hints=True, precision="bfloat16").hints["D"].counts
    assert not np.array_equal(rough, exact.hints["D"].counts)
    np.testing.assert_allclose(rough, exact.hints["D"].counts, rtol=0.05)
    assert same(evaluate(workers, batch, hints=True), exact)
