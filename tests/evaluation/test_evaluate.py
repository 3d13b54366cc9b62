"""Evaluation: the same scores as the benchmark's, in little memory, and how far they can be trusted."""

from __future__ import annotations

import threading

import numpy as np
import pytest
import torch

import rnar.clrs
from rnar.clrs import ALGORITHMS, Batch, node
from rnar.clrs.spec import graph
from rnar.clrs.splits import size_of
from rnar.engine.workers import Workers
from rnar.evaluation.evaluate import Evaluation, cut, evaluate
from rnar.evaluation.evaluation import DRAWS_SEED
from rnar.evaluation.measures import Tally, measure_of
from rnar.evaluation.memory import samples_at_once, step_bytes
from rnar.evaluation.sets import SEED, at_once, problem_set, problem_sets
from rnar.models import Model, find
from rnar.nn.kinds import kind_of
from rnar.nn.reasoner import Reasoner, decide, score, scores

TASKS = (
    "find_maximum_subarray_kadane",  # two outputs
    "insertion_sort",  # a permutation
    "segments_intersect",  # of the whole graph
    "lcs_length",  # classes of edges, some of which are not judged
    "floyd_warshall",  # pointers of edges, and numbers
    "mst_kruskal",  # a mask of edges
    "binary_search",
)
SAMPLES = 7


def prepared(task: str, name: str = "rnar", n: int = 6, samples: int = SAMPLES) -> tuple[Model, Reasoner, Batch]:
    """A model, a small network of it with fresh weights, and samples as it sees them.

    In double precision: a decision that hangs on the last bit of a sum may fall either way in single precision, if
    other samples are beside it or the machine is another one.
    """
    model = find(name)
    network = model.build(task, size=16, seed=1).double().eval()
    return model, network, model.batch(rnar.clrs.sample(task, n, samples, seed=5))


def same(one: Evaluation, other: Evaluation) -> bool:
    """Are all counts the same, but for the last bits of squared errors?"""
    pairs = [(one.tallies[k], other.tallies[k]) for k in one.tallies] + [
        (one.hints[k], other.hints[k]) for k in one.hints
    ]
    keys = one.tallies.keys() == other.tallies.keys() and one.hints.keys() == other.hints.keys()
    return keys and all(np.allclose(x.counts, y.counts, rtol=1e-4) for x, y in pairs)


# ---- scores


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
    model, reasoner, batch = prepared(task, samples=40, n=4)
    with torch.no_grad():
        outputs = reasoner(batch).outputs
    right = np.ones(batch.size, bool)
    for name, feature in model.spec(task).outputs.items():
        truth = batch.outputs[name]
        wrong = (decide(feature, outputs[name]).numpy() != truth) & (truth >= 0)
        right &= ~wrong.reshape(batch.size, -1).any(axis=1)
    assert evaluate(Workers(reasoner, 2), batch).exact == pytest.approx(right.mean())


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


@pytest.mark.parametrize("kind", [node.pointer, node.mask_one, node.categorical(3), node.mask, node.scalar])
def test_every_measure_is_that_of_its_kind(kind):
    rng = np.random.default_rng(0)
    for _ in range(50):
        low = -1 if kind.kind in ("mask", "categorical") else 0
        truth = torch.from_numpy(rng.integers(low, 2, (3, 4)))
        said = torch.from_numpy(rng.integers(0, 2, (3, 4)))
        if kind.kind == "scalar":
            truth, said = truth.float() / 3, said.float() / 7
        tally = Tally(measure_of(kind), measure_of(kind).counts(said, truth).numpy())
        assert tally.score == pytest.approx(kind_of(kind).score(said, truth).item(), abs=1e-6, nan_ok=True)


def test_what_is_not_judged_has_no_score_and_is_not_wrong():
    truth = torch.tensor([-1, -1])
    accuracy = Tally(
        measure_of(graph.categorical(3)), measure_of(graph.categorical(3)).counts(truth + 1, truth).numpy()
    )
    assert np.isnan(accuracy.score) and accuracy.right.all()
    f1 = Tally(measure_of(graph.mask), measure_of(graph.mask).counts(truth + 2, truth).numpy())
    assert f1.score == 1 and f1.right.all()


# ---- pieces and threads


@pytest.mark.parametrize("name", ["rnar", "rnar-janossy-2", "rt", "g-forgetnet"])
@pytest.mark.parametrize("task", ["quickselect", "bellman_ford"])
def test_pieces_and_threads_do_not_matter(task, name):
    _, reasoner, batch = prepared(task, name)
    whole = evaluate(Workers(reasoner, 1), batch, hints=True)
    assert same(whole, evaluate(Workers(reasoner, 1), batch, hints=True, budget=1))
    assert same(whole, evaluate(Workers(reasoner, 3), batch, hints=True))
    assert same(whole, evaluate(Workers(reasoner, 9), batch, hints=True))


def test_pieces_hold_every_sample_once_and_are_of_like_work():
    lengths = np.random.default_rng(0).integers(1, 500, 100)
    pieces = cut(lengths, 8)
    assert sorted(np.concatenate(pieces)) == list(range(100))
    assert max(map(len, pieces)) <= 8
    work = [lengths[piece].sum() for piece in pieces]
    assert max(work) < 1.3 * min(work)


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


def test_less_memory_or_larger_problems_mean_fewer_samples_at_once():
    model = find("rnar")
    reasoner = model.build("floyd_warshall")
    batches = [rnar.clrs.sample("floyd_warshall", n, 2, seed=0) for n in (8, 16, 32, 64)]
    sizes = [samples_at_once(reasoner, batch, False, 10**9) for batch in batches]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1] > 1
    assert samples_at_once(reasoner, batches[-1], False, 1) == 1
    assert samples_at_once(reasoner, batches[-1], True, 10**9) < sizes[-1]
    assert step_bytes(reasoner, "floyd_warshall", 64) > 5 * 4 * 64 * 64 * 128


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
    assert len(told) > batch.lengths.max()


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


# ---- intervals


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


# ---- what networks are tried on


def test_by_default_it_is_the_official_test_set():
    for asked in (problem_set("bfs"), problem_set("bfs", 64)):
        (batch,), official = asked.batches(), rnar.clrs.official("bfs", "test")
        assert asked.official and (asked.n, asked.samples) == (64, 32)
        assert all(np.array_equal(batch.inputs[name], x) for name, x in official.inputs.items())


@pytest.mark.parametrize("task", ALGORITHMS)
def test_other_sizes_are_drawn_as_the_official_set_is_whatever_is_in_memory_at_a_time(task, monkeypatch):
    monkeypatch.setattr("rnar.evaluation.sets.MOST_AT_ONCE", 4)
    problems = problem_set(task, 8, 7)
    whole, batches = rnar.clrs.sample(task, problems.length, 7, SEED), list(problems.batches())
    assert [batch.size for batch in batches] == [4, 3]
    for name, expected in whole.inputs.items():
        assert np.array_equal(np.concatenate([batch.inputs[name] for batch in batches]), expected)
    assert problem_set(task, 8).samples == problem_set(task).samples == size_of(task, "test").samples


def test_of_larger_problems_fewer_are_in_memory_at_a_time():
    found = [at_once(n) for n in (2, 16, 64, 128, 256, 10_000)]
    assert found == sorted(found, reverse=True) and (found[0], found[-1]) == (1024, 1)


def test_of_a_string_matcher_the_haystack_has_the_size_and_the_needle_comes_on_top():
    for task in ("kmp_matcher", "naive_string_matcher"):
        batch = next(problem_set(task, 32, 2).batches())
        assert (batch.inputs["string"] == 0).sum(axis=1).tolist() == [32, 32]
        assert batch.nodes == 40
        assert next(problem_set(task).batches()).nodes == 80


def test_two_segments_have_one_size_and_are_tried_once():
    (problems,) = problem_sets("segments_intersect", (16, 32, 64), None)
    assert problems.official and problems.n == 4
    assert [problems.n for problems in problem_sets("bfs", (16, 64, 16), None)] == [16, 64]


@pytest.mark.parametrize(
    ("n", "samples", "said"), [(0, None, "n=0"), (-3, 5, "n=-3"), (8, 0, "at least 1"), (10**9, 1, "too large")]
)
def test_a_set_that_cannot_be_drawn_is_refused(n, samples, said):
    with pytest.raises(ValueError, match=said):
        problem_set("bfs", n, samples)
