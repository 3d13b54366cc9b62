"""Answers that are as good as the algorithm's, and those that are not."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

from rnar.clrs import find, sample, trace
from rnar.inference.equivalence import CHECKS, equally_good, quirk

SQUARE = [[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 0, 1], [0, 1, 1, 0]]  # 0 – 1 – 3 – 2 – 0
FORK = [[0, 1, 1, 0], [0, 0, 0, 1], [0, 0, 0, 1], [0, 0, 0, 0]]
PAIRS = [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]]
BOTH = np.array(SQUARE)

AS_GOOD: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("heapsort", ([2, 1, 2],), {"pred": [1, 1, 0]}),
    ("minimum", ([2, 1, 1],), {"min": 2}),
    ("quickselect", ([1, 2, 2, 3],), {"median": 1}),
    ("binary_search", ([1, 2, 2, 3], 2), {"return": 2}),
    ("find_maximum_subarray_kadane", ([1, -1, 1],), {"start": 0, "end": 2}),
    ("activity_selector", ([0, 1, 3], [2, 3, 4]), {"selected": [0, 1, 1]}),
    ("task_scheduling", ([1, 1, 2], [5, 5, 3]), {"selected": [0, 1, 1]}),
    ("bfs", (7 * BOTH, 0), {"pi": [0, 0, 0, 2]}),
    ("dijkstra", (SQUARE, 0), {"pi": [0, 0, 0, 2]}),
    ("bellman_ford", (SQUARE, 0), {"pi": [0, 0, 0, 2]}),
    ("dag_shortest_paths", (FORK, 0), {"pi": [0, 0, 0, 1]}),
    ("topological_sort", (FORK,), {"topo": [1, 2, 3, 3], "topo_head": 0}),
    ("strongly_connected_components", (PAIRS,), {"scc_id": [1, 1, 3, 3]}),
    ("mst_kruskal", (SQUARE,), {"in_mst": [[0, 1, 1, 0], [1, 0, 0, 0], [1, 0, 0, 1], [0, 0, 1, 0]]}),
    ("mst_prim", (SQUARE, 0), {"pi": [0, 0, 0, 2]}),
    ("lcs_length", ("AT", "TA"), {"b": None}),
]
WRONG: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("heapsort", ([2, 1, 2],), {"pred": [0, 0, 1]}),
    ("heapsort", ([2, 1, 2],), {"pred": [1, 1, 1]}),
    ("binary_search", ([1, 3, 3], 2), {"return": 2}),
    ("activity_selector", ([0, 1, 3], [2, 3, 4]), {"selected": [1, 1, 0]}),
    ("task_scheduling", ([1, 1, 2], [5, 5, 3]), {"selected": [1, 1, 0]}),
    ("dijkstra", (SQUARE, 0), {"pi": [0, 3, 0, 2]}),
    ("dijkstra", (SQUARE, 0), {"pi": [0, 0, 0, 0]}),
    ("dijkstra", (SQUARE, 0), {"pi": [1, 0, 0, 1]}),
    ("topological_sort", (FORK,), {"topo": [3, 2, 3, 3], "topo_head": 0}),
    ("strongly_connected_components", (PAIRS,), {"scc_id": [0, 0, 0, 0]}),
    ("mst_kruskal", (SQUARE,), {"in_mst": SQUARE}),
    ("mst_prim", (SQUARE, 0), {"pi": [0, 3, 3, 1]}),
]


@pytest.mark.parametrize(("task", "arguments", "outputs"), AS_GOOD, ids=[task for task, *_ in AS_GOOD])
def test_another_answer_may_be_as_good(task, arguments, outputs):
    one = trace(task, *arguments)
    if task == "lcs_length":  # up and left are as good where none of the letters is common
        outputs = {"b": np.where(one.outputs["b"] == 1, 2, one.outputs["b"])}
    found = {name: np.asarray(x) for name, x in outputs.items()}
    assert any(not np.array_equal(found[name], x) for name, x in one.outputs.items())
    assert equally_good(one, found) == CHECKS[task][1]


@pytest.mark.parametrize(("task", "arguments", "outputs"), WRONG, ids=range(len(WRONG)))
def test_an_answer_that_is_worse_is_not(task, arguments, outputs):
    assert equally_good(trace(task, *arguments), {name: np.asarray(x) for name, x in outputs.items()}) == ""


def test_where_the_benchmark_misses_the_best_schedule_it_is_told():
    one = trace("task_scheduling", [2, 1], [2, 1])
    assert one.outputs["selected"].tolist() == [1, 0]
    assert quirk(one) == "the benchmark's algorithm misses the best schedule here, worth 3"
    assert equally_good(one, {"selected": np.array([1, 1])}) == "other tasks, worth as much or more"
    assert quirk(trace("task_scheduling", [1, 1], [2, 1])) == quirk(trace("minimum", [2, 1])) == ""


@pytest.mark.parametrize("seed", range(5))
def test_the_best_schedule_is_that_of_trying_all(seed):
    one = sample("task_scheduling", 6, 1, seed=seed).sample(0)
    d, w = one.inputs["d"], one.inputs["w"]
    sets = [list(some) for k in range(7) for some in combinations(range(6), k)]
    best = max(w[some].sum() for some in sets if all((d[some] <= t).sum() <= t for t in range(1, 7)))
    missed = best > w[one.outputs["selected"] == 1].sum() + 1e-6
    assert quirk(one).endswith(f"worth {best:.4g}") if missed else quirk(one) == ""


@pytest.mark.parametrize("task", CHECKS)
@pytest.mark.parametrize("seed", range(3))
def test_the_algorithms_own_answer_is_as_good_and_a_random_one_is_not(task, seed):
    one, rng = sample(task, 10, 1, seed=seed).sample(0), np.random.default_rng(seed)
    if task != "binary_search":  # whose check is of the target, which is not among the keys
        assert equally_good(one, one.outputs)
    outputs = {}
    for name, feature in find(task).spec.outputs.items():
        many = 2 if feature.kind == "mask" else feature.classes or one.nodes
        outputs[name] = rng.integers(many, size=np.shape(one.outputs[name])).astype(feature.dtype)
    if any(not np.array_equal(outputs[name], x) for name, x in one.outputs.items()):
        assert not equally_good(one, outputs)
