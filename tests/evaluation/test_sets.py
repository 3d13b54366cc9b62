"""What networks are tried on."""

from __future__ import annotations

import numpy as np
import pytest

import rnar.clrs
from rnar.clrs import ALGORITHMS
from rnar.clrs.splits import size_of
from rnar.evaluation.sets import SEED, at_once, problem_set, problem_sets


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
    (problems,) = problem_sets("segments_intersect", (16, 32, 64))
    assert problems.official and problems.n == 4
    assert [problems.n for problems in problem_sets("bfs", (16, 64, 16))] == [16, 64]


def test_samples_are_counted_once_for_all_sizes_or_for_each():
    sizes = (64, 16, 32)
    assert [each.samples for each in problem_sets("bfs", sizes)] == 3 * [32]
    assert [each.samples for each in problem_sets("bfs", sizes, [5])] == [5, 5, 5]
    assert [(each.n, each.samples) for each in problem_sets("bfs", sizes, [3, 8, 4])] == [(64, 3), (16, 8), (32, 4)]
    assert [each.samples for each in problem_sets("segments_intersect", sizes, [3, 8, 4])] == [3]
    with pytest.raises(ValueError, match="2 times for 3 sizes"):
        problem_sets("bfs", sizes, [3, 8])
    with pytest.raises(ValueError, match="2 times for 1 sizes"):
        problem_sets("bfs", samples=[3, 8])


@pytest.mark.parametrize(
    ("n", "samples", "said"), [(0, None, "n=0"), (-3, 5, "n=-3"), (8, 0, "1 to 1,000,000"), (10**9, 1, "too large")]
)
def test_a_set_that_cannot_be_drawn_is_refused(n, samples, said):
    with pytest.raises(ValueError, match=said):
        problem_set("bfs", n, samples)
