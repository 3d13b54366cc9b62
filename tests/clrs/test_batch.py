from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from rnar.clrs import ALGORITHMS, Batch, Sample, find, sample, stacked, trace


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


def test_a_batch_is_a_sequence_of_its_samples():
    batch = batch_of("bfs", 5)
    assert len(batch) == len(list(batch)) == 5
    for k, one in enumerate(batch):
        assert_equal(one, batch[k])
        assert_equal(one, batch.sample(k))
    assert_equal(batch[-1], batch[4])
    with pytest.raises(IndexError):
        batch[5]
    assert list(batch.stages) == ["inputs", "hints", "outputs"] and batch.stages["hints"] is batch.hints
    assert repr(batch) == f"Batch(bfs: 5 samples of {batch.nodes} nodes, up to {batch.lengths.max()} steps)"


def test_a_batch_cannot_be_changed_by_accident():
    with pytest.raises(AttributeError):
        batch_of("bfs", 2).task = "dfs"  # type: ignore[misc]


def test_parts_may_be_named_by_a_list_or_a_mask():
    batch, chosen = batch_of("quickselect", 5), [4, 0, 2]
    for part in (batch.part(chosen), batch.part(np.array(chosen))):
        for one, k in zip(part, chosen, strict=True):
            assert_equal(one, batch[k])
    assert batch.part(batch.lengths < batch.lengths.max()).lengths.max() < batch.lengths.max()


def test_tensors_have_the_numbers_of_the_arrays():
    batch = batch_of("heapsort", 4)
    frozen = {name: np.broadcast_to(x[:, :1], x.shape) for name, x in batch.outputs.items()}  # cannot be written to
    for expected in (batch, replace(batch, outputs=frozen)):
        found = expected.to("cpu")
        for stage, arrays in found.stages.items():
            for name, x in arrays.items():
                assert isinstance(x, torch.Tensor)
                np.testing.assert_array_equal(x.numpy(), expected.stages[stage][name], strict=True)
        assert isinstance(found.lengths, np.ndarray) and found.nodes == batch.nodes
        np.testing.assert_array_equal(found.part([1, 3]).hints["parent"], expected.part([1, 3]).hints["parent"])
        for one, other in zip(found.numpy(), expected.numpy(), strict=True):
            assert_equal(one, other)
        assert found.to("meta").inputs["pos"].device.type == "meta"


def test_a_batch_is_pinned_as_a_loader_wants_it(monkeypatch):
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda x: x + 1)  # which works beside a GPU only
    batch = batch_of("bfs", 2)
    assert torch.equal(batch.pin_memory().outputs["pi"], batch.to("cpu").outputs["pi"] + 1)


@pytest.mark.parametrize("how", [{}, {"collate_fn": stacked}], ids=["alone", "stacked"])
def test_a_loader_takes_the_samples_of_a_batch(how):
    batch = batch_of("quicksort", 5)
    first, *_, last = DataLoader(batch, batch_size=2, **how)  # type: ignore[arg-type]
    assert (len(first), len(last)) == (2, 1)
    for one, expected in zip([*first, *last], [batch[0], batch[1], batch[4]], strict=True):
        assert_equal(one, expected)


def test_some_samples_are_chosen_by_their_numbers_or_by_a_mask():
    batch = batch_of("quicksort", 5)
    mask = np.array([True, False, False, True, False])
    for chosen in (batch[[0, 3]], batch[np.array([0, 3])], batch[mask]):
        for one, expected in zip(chosen, [batch[0], batch[3]], strict=True):
            assert_equal(one, expected)
    assert_equal(batch[np.int64(-1)], batch[4])
