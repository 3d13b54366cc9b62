from __future__ import annotations

import numpy as np
import pytest

from rnar.clrs import ALGORITHMS, Feature, edge, find, graph, node
from rnar.clrs.spec import DTYPES, MOST_NODES
from rnar.clrs.splits import facts

FIXED_ORDER = {
    "activity_selector",
    "binary_search",
    "find_maximum_subarray_kadane",
    "jarvis_march",
    "kmp_matcher",
    "lcs_length",
    "matrix_chain_order",
    "minimum",
    "naive_string_matcher",
    "optimal_bst",
    "task_scheduling",
}


@pytest.mark.parametrize(
    "feature, shape",
    [
        (node.scalar, (5,)),
        (node.mask, (5,)),
        (node.mask_one, ()),
        (node.pointer, (5,)),
        (node.permutation, (5,)),
        (node.categorical(3), (5,)),
        (edge.scalar, (5, 5)),
        (edge.pointer, (5, 5)),
        (edge.categorical(4), (5, 5)),
        (graph.scalar, ()),
        (graph.categorical(2), ()),
    ],
)
def test_a_feature_is_stored_as_what_it_is(feature, shape):
    assert feature.shape(5) == shape
    assert feature.width(5) == int(np.prod(shape))


def test_features_are_written_as_they_are_read():
    assert [str(x) for x in (node.pointer, edge.categorical(4), graph.scalar)] == [
        "node.pointer",
        "edge.categorical(4)",
        "graph.scalar",
    ]
    assert node.categorical(3) == Feature("node", "categorical", 3) != node.categorical(4)


def test_the_index_of_every_node_fits_its_dtype():
    for kind in ("mask_one", "pointer", "permutation"):
        assert np.iinfo(DTYPES[kind]).max >= MOST_NODES - 1


def test_eleven_tasks_have_a_fixed_order_as_in_the_reference():
    assert {task for task in facts() if "pred" in find(task).spec.inputs} == FIXED_ORDER


@pytest.mark.parametrize("task", ALGORITHMS)
def test_every_task_has_positions_hints_and_outputs(task):
    spec = find(task).spec
    assert spec.inputs["pos"] == node.scalar
    assert spec.hints and spec.outputs
    for feature in (*spec.inputs.values(), *spec.hints.values(), *spec.outputs.values()):
        assert (feature.classes is not None) == (feature.kind == "categorical")
    assert not any(feature.kind == "permutation" for feature in (*spec.inputs.values(), *spec.hints.values()))


def is_legal(feature: Feature, stored: np.ndarray, nodes: int) -> bool:
    """Is every value one that a feature of that kind can have?"""
    if feature.kind == "scalar":
        return bool(np.isfinite(stored).all())
    low, high = {
        "mask": (-1, 1),
        "categorical": (-1, (feature.classes or 0) - 1),
        "mask_one": (0, nodes - 1),
        "pointer": (0, nodes - 1),
        "permutation": (0, nodes - 1),
    }[feature.kind]
    return bool(((stored >= low) & (stored <= high)).all())


@pytest.mark.parametrize("n", [4, 17])
@pytest.mark.parametrize("task", ALGORITHMS)
def test_a_batch_holds_what_its_spec_declares_and_nothing_else(task, n):
    algorithm = find(task)
    if "needle" in algorithm.problem.options:
        n += 13
    batch = algorithm.sample(np.random.RandomState(2), n, 5, **algorithm.problem.training)
    steps = batch.lengths.max()
    for features, arrays, leading in (
        (algorithm.spec.inputs, batch.inputs, (5,)),
        (algorithm.spec.hints, batch.hints, (steps, 5)),
        (algorithm.spec.outputs, batch.outputs, (5,)),
    ):
        assert list(features) == list(arrays)
        for name, feature in features.items():
            assert arrays[name].dtype == feature.dtype, name
            assert arrays[name].shape == (*leading, *feature.shape(batch.nodes)), name
            assert is_legal(feature, arrays[name], batch.nodes), name
    assert batch.lengths.dtype == np.int32 and batch.lengths.shape == (5,)
