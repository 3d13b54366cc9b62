from __future__ import annotations

import numpy as np
import pytest

from rnar.clrs import (
    ALGORITHMS,
    Batch,
    Spec,
    find,
    order_as_hint,
    randomise_positions,
    reverse_pointers,
)
from rnar.clrs.spec import edge, node
from rnar.clrs.transforms import (
    reverse_inputs,
    spec_with_order_as_hint,
    spec_with_reversed_inputs,
    spec_with_reversed_pointers,
)

SORTS = [task for task in ALGORITHMS if find(task).spec.outputs.get("pred") == node.permutation]
ORDERED = [task for task in ALGORITHMS if "pred" in find(task).spec.inputs]
POINTING = [task for task in ALGORITHMS if node.pointer in find(task).spec.hints.values()]


def others(tasks: list[str]) -> list[str]:
    return [task for task in ALGORITHMS if task not in tasks]


def some(task: str, n: int = 20, batch: int = 6) -> Batch:
    algorithm = find(task)
    return algorithm.sample(np.random.RandomState(1), n, batch, **algorithm.problem.training)


def positions_as_in_the_reference(pos: np.ndarray, rng: np.random.RandomState) -> np.ndarray:
    """Each string's numbers are sorted apart from the other's; a string begins where the position is zero."""
    drawn = rng.uniform(size=pos.shape)
    rows = []
    for row, old in zip(drawn, pos, strict=True):
        starts = np.flatnonzero(old == 0.0)[1:]
        rows.append(np.concatenate([np.sort(part) for part in np.split(row, starts)]))
    return np.array(rows, np.float32)


@pytest.mark.parametrize("task", ALGORITHMS)
def test_random_positions_are_those_of_the_reference(task):
    batch = some(task)
    ours, theirs = np.random.RandomState(4), np.random.RandomState(4)
    found = randomise_positions(batch, ours)
    expected = positions_as_in_the_reference(batch.inputs["pos"], theirs)
    np.testing.assert_array_equal(found.inputs["pos"], expected, strict=True)
    assert ours.randint(2**31) == theirs.randint(2**31)


@pytest.mark.parametrize("task", ALGORITHMS)
def test_random_positions_change_nothing_else_and_not_the_batch_itself(task):
    batch, again = some(task), some(task)
    found = randomise_positions(batch, np.random.RandomState(4))
    np.testing.assert_array_equal(batch.inputs["pos"], again.inputs["pos"])
    assert not np.array_equal(found.inputs["pos"], batch.inputs["pos"])
    assert found.hints is batch.hints and found.outputs is batch.outputs and found.lengths is batch.lengths
    assert all(found.inputs[name] is batch.inputs[name] for name in batch.inputs if name != "pos")


def assert_fits(batch: Batch, spec: Spec) -> None:
    """The names and kinds of a batch are those of a spec, in its order."""
    assert list(batch.inputs) == list(spec.inputs)
    assert list(batch.hints) == list(spec.hints)
    for name, feature in spec.hints.items():
        assert batch.hints[name].dtype == feature.dtype
        assert batch.hints[name].shape[2:] == feature.shape(batch.nodes)


@pytest.mark.parametrize("task", ORDERED)
def test_the_fixed_order_as_a_hint_is_the_same_at_each_step(task):
    batch = some(task)
    found = order_as_hint(batch)
    assert_fits(found, spec_with_order_as_hint(find(task).spec))
    assert list(found.hints) == ["pred_h", *batch.hints] and "pred" not in found.inputs
    assert "pred" in batch.inputs, "the batch itself was changed"
    for b in range(batch.size):
        steps = batch.lengths[b]
        assert (found.hints["pred_h"][:steps, b] == batch.inputs["pred"][b]).all()
        assert (found.hints["pred_h"][steps:, b] == 0).all()


@pytest.mark.parametrize("task", others(ORDERED))
def test_without_a_fixed_order_there_is_nothing_to_be_made_a_hint(task):
    spec, batch = find(task).spec, some(task)
    assert order_as_hint(batch) is batch and spec_with_order_as_hint(spec) == spec


@pytest.mark.parametrize("task", ORDERED)
def test_a_fixed_order_starts_anew_with_each_string(task):
    batch = some(task)
    for pos, pred in zip(batch.inputs["pos"], batch.inputs["pred"], strict=True):
        assert pred.tolist() == [i if pos[i] == 0 else i - 1 for i in range(batch.nodes)]


@pytest.mark.parametrize("task", POINTING)
def test_a_reversed_pointer_marks_the_edge_from_the_node_that_is_pointed_at(task):
    algorithm, batch = find(task), some(task, n=17, batch=3)
    pointers = [name for name, feature in algorithm.spec.hints.items() if feature == node.pointer]
    assert pointers
    spec, found = spec_with_reversed_pointers(algorithm.spec), reverse_pointers(batch)
    assert_fits(found, spec)
    assert list(found.hints) == [*batch.hints, *(f"{name}_reversed" for name in pointers)]
    for name in pointers:
        assert spec.hints[f"{name}_reversed"] == edge.mask
        expected = np.zeros((*batch.hints[name].shape, batch.nodes), np.int8)
        for t, b, i in np.ndindex(batch.hints[name].shape):
            if t < batch.lengths[b]:
                expected[t, b, batch.hints[name][t, b, i], i] = 1
        np.testing.assert_array_equal(found.hints[f"{name}_reversed"], expected, strict=True)
    assert all(found.hints[name] is batch.hints[name] for name in batch.hints)


@pytest.mark.parametrize("task", others(POINTING))
def test_without_pointers_of_nodes_nothing_is_reversed(task):
    spec, batch = find(task).spec, some(task)
    assert spec_with_reversed_pointers(spec) == spec
    assert list(reverse_pointers(batch).hints) == list(batch.hints)


@pytest.mark.parametrize("task", ORDERED)
def test_a_reversed_input_marks_the_edge_from_the_node_that_is_pointed_at(task):
    algorithm, batch = find(task), some(task, n=17, batch=3)
    spec, found = spec_with_reversed_inputs(algorithm.spec), reverse_inputs(batch)
    assert_fits(found, spec)
    assert spec.inputs["pred_reversed"] == edge.mask and found.hints is batch.hints
    expected = np.zeros((batch.size, batch.nodes, batch.nodes), np.int8)
    for b, i in np.ndindex(batch.inputs["pred"].shape):
        expected[b, batch.inputs["pred"][b, i], i] = 1
    np.testing.assert_array_equal(found.inputs["pred_reversed"], expected, strict=True)


@pytest.mark.parametrize("task", others(ORDERED))
def test_without_inputs_that_point_none_is_reversed(task):
    spec, batch = find(task).spec, some(task)
    assert spec_with_reversed_inputs(spec) == spec and reverse_inputs(batch) is batch


def test_reversal_can_be_followed_by_the_order_as_a_hint():
    task = "kmp_matcher"
    found = order_as_hint(reverse_pointers(some(task)))
    assert_fits(found, spec_with_order_as_hint(spec_with_reversed_pointers(find(task).spec)))


def test_the_order_as_a_hint_can_be_followed_by_reversal():
    task = "kmp_matcher"
    found = reverse_pointers(order_as_hint(some(task)))
    assert_fits(found, spec_with_reversed_pointers(spec_with_order_as_hint(find(task).spec)))


def test_the_four_sorts_give_permutations():
    assert set(SORTS) == {"insertion_sort", "bubble_sort", "heapsort", "quicksort"}
