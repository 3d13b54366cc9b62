from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rnar.clrs import ALGORITHMS, Batch, Sample, find, sample, trace


def batch_of(task: str, size: int, seed: int = 0) -> Batch:
    algorithm = find(task)
    return algorithm.sample(np.random.RandomState(seed), 20, size, **algorithm.problem.training)


def assert_equal(a: Sample, b: Sample) -> None:
    assert a.task == b.task
    for ours, theirs in ((a.inputs, b.inputs), (a.hints, b.hints), (a.outputs, b.outputs)):
        assert ours.keys() == theirs.keys()
        for name in ours:
            np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name, strict=True)


@pytest.mark.parametrize("task", ALGORITHMS)
def test_hints_are_zero_after_a_samples_own_length(task):
    batch = batch_of(task, 6)
    assert batch.own_steps.shape == (batch.lengths.max(), 6)
    assert batch.own_steps.sum(axis=0).tolist() == batch.lengths.tolist()
    for hint in batch.hints.values():
        assert not hint[~batch.own_steps].any()


@pytest.mark.parametrize("task", ALGORITHMS)
def test_a_large_batch_is_the_small_ones_one_after_the_other(task):
    algorithm, rng = find(task), np.random.RandomState(0)
    large = batch_of(task, 6)
    small = [algorithm.sample(rng, 20, 3, **algorithm.problem.training) for _ in range(2)]
    for b in range(6):
        assert_equal(large.sample(b), small[b // 3].sample(b % 3))


@pytest.mark.parametrize("task", ALGORITHMS)
def test_a_part_is_trimmed_to_its_own_longest(task):
    batch = batch_of(task, 6)
    part = batch.part(slice(4, 6))
    assert (part.size, part.nodes) == (2, batch.nodes)
    assert {len(hint) for hint in part.hints.values()} == {part.lengths.max()}
    for b in range(2):
        assert_equal(part.sample(b), batch.sample(4 + b))


@pytest.mark.parametrize("task", ALGORITHMS)
def test_a_problem_is_not_changed_by_solving_it_and_its_solution_is_always_the_same(task):
    algorithm = find(task)
    problems = algorithm.draw(np.random.RandomState(3), 20, 3, **algorithm.problem.training)
    before = [argument.copy() for argument in problems]
    first, second = algorithm.solve(problems), algorithm.solve(problems)
    for b in range(3):
        assert_equal(first.sample(b), second.sample(b))
    for argument, copy in zip(problems, before, strict=True):
        np.testing.assert_array_equal(argument, copy)


@pytest.mark.parametrize("task", ["quicksort", "bubble_sort", "bridges"])
def test_a_run_longer_than_any_before_is_recorded_whole(task):
    """Room is guessed from earlier runs; here a fresh copy of the task has seen none."""
    fresh = replace(find(task), _longest={})
    batch = fresh.sample(np.random.RandomState(5), 24, 4)
    assert batch.lengths.max() > 64
    again = fresh.sample(np.random.RandomState(5), 24, 4)
    for b in range(4):
        assert_equal(batch.sample(b), again.sample(b))
    assert {len(hint) for hint in batch.hints.values()} == {batch.lengths.max()}


@pytest.mark.parametrize("task", ALGORITHMS)
def test_own_and_drawn_problems_are_solved_by_the_same_compiled_code(task):
    """Each type of the arguments would be compiled anew."""
    algorithm = find(task)
    problems = algorithm.draw(np.random.RandomState(0), 20, 1)
    first = [argument[0] for argument in problems]
    algorithm.solve(problems)
    algorithm.trace(*([first[0][: first[1]], first[0][first[1] :]] if "string" in algorithm.problem.inputs else first))
    assert len(algorithm.run.signatures) == 1  # type: ignore[attr-defined]


def test_a_sample_knows_its_steps_and_nodes():
    found = trace("insertion_sort", [3.0, 1.0, 2.0])
    assert (found.steps, found.nodes, found.task) == (3, 3, "insertion_sort")
    assert found.hints["pred_h"].tolist() == [[0, 0, 1], [1, 1, 0], [2, 1, 1]]
    assert found.outputs["pred"].tolist() == [2, 1, 1]


def test_a_seed_gives_what_a_generator_of_that_seed_gives():
    batch = sample("bfs", n=9, batch=2, seed=4, p=0.3)
    other = find("bfs").sample(np.random.RandomState(4), 9, 2, p=0.3)
    for b in range(2):
        assert_equal(batch.sample(b), other.sample(b))
