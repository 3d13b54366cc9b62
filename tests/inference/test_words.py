"""Answers in words of their problems: those of the algorithms, and those of networks, which may make no sense."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.own_tasks import SORT, written
from rnar.clrs import ALGORITHMS, find, sample, trace
from rnar.clrs.splits import facts
from rnar.inference.words import SAYINGS, say
from rnar.inference.words.saying import exact, named, percent, several

PATH = [[0, 2, 0, 0], [2, 0, 3, 0], [0, 3, 0, 0], [0, 0, 0, 0]]  # 0 –2– 1 –3– 2, and node 3 alone
CHAIN = [[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0]]  # 0 → 1 → 2 ← 3

SAID: list[tuple[str, tuple[Any, ...], str]] = [
    ("insertion_sort", ([5, 2, 9],), "in order: 2.0, 5.0, 9.0"),
    ("bubble_sort", ([5, 2, 9],), "in order: 2.0, 5.0, 9.0"),
    ("heapsort", ([5, 2, 9],), "in order: 2.0, 5.0, 9.0"),
    ("quicksort", ([5, 2, 9],), "in order: 2.0, 5.0, 9.0"),
    ("minimum", ([5, 2, 9],), "the minimum is 2.0, at place 1"),
    ("quickselect", ([5, 2, 9],), "the median is 5.0, at place 0"),
    ("binary_search", ([1, 3, 5], 3), "3.0 is at place 1"),
    ("binary_search", ([1, 3, 5], 4), "4.0 belongs at place 2, where 5.0 is"),
    ("binary_search", ([1, 3, 5], 7), "7.0 is larger than all, so that the last place is the answer, 2"),
    ("find_maximum_subarray_kadane", ([1, -3, 2, 2, -1],), "the largest sum is 4.0, of places 2 to 3"),
    ("activity_selector", ([0, 1, 3], [2, 3, 4]), "activities 0 and 2 are selected"),
    ("task_scheduling", ([1, 1, 2], [5, 1, 3]), "tasks 0 and 2 are scheduled, worth 8.0"),
    ("matrix_chain_order", ([10, 100, 5, 50],), "((M1 M2) M3), with 7500.0 multiplications"),
    ("lcs_length", ("ATCGA", "TGA"), "the longest common subsequence is TGA, 3 letters"),
    ("lcs_length", ("AT", "GA"), "the longest common subsequence is A, 1 letter"),
    ("lcs_length", ("AA", "TT"), "they have no letter in common"),
    ("optimal_bst", ([0.6, 0.1], [0.1, 0.1, 0.1]), "the tree 0(– 1), of cost 1.6"),
    ("segments_intersect", ([0, 2, 0, 2], [0, 2, 2, 0]), "the segments cross"),
    ("segments_intersect", ([0, 1, 0, 1], [0, 0, 1, 2]), "the segments do not cross"),
    ("graham_scan", ([0, 4, 2, 2], [0, 0, 3, 1]), "the hull has points 0, 1 and 2"),
    ("jarvis_march", ([0, 4, 2, 2], [0, 0, 3, 1]), "the hull has points 0, 1 and 2"),
    ("bfs", (PATH, 0), "from node 0: 1 from 0 (2.0) and 2 from 1 (5.0); no path to node 3"),
    ("bellman_ford", (PATH, 0), "from node 0: 1 from 0 (2.0) and 2 from 1 (5.0); no path to node 3"),
    ("dijkstra", (PATH, 0), "from node 0: 1 from 0 (2.0) and 2 from 1 (5.0); no path to node 3"),
    ("dijkstra", (PATH, 3), "nothing is reached from node 3; no path to nodes 0, 1 and 2"),
    ("dag_shortest_paths", (CHAIN, 0), "from node 0: 1 from 0 and 2 from 1; no path to node 3"),
    ("dfs", (CHAIN,), "the search begins at nodes 0 and 3; 1 from 0 and 2 from 1"),
    ("topological_sort", (CHAIN,), "in order: 3 → 0 → 1 → 2"),
    ("strongly_connected_components", ([[0, 1, 0], [1, 0, 1], [0, 0, 0]],), "component {0, 1}; alone: 2"),
    ("articulation_points", (PATH,), "without node 1 the graph falls apart"),
    ("articulation_points", ([[0, 1], [1, 0]],), "there is no cut node"),
    ("bridges", (PATH,), "bridges 0–1 and 1–2"),
    ("bridges", ([[0, 1, 1], [1, 0, 1], [1, 1, 0]],), "there is no bridge"),
    ("mst_kruskal", (PATH,), "the tree has edges 0–1 and 1–2, of weight 5.0"),
    ("mst_prim", (PATH, 0), "the tree has edges 0–1 and 1–2, of weight 5.0; no path to node 3"),
    ("floyd_warshall", (PATH,),
     "0→1→2 (5.0), 0→1 (2.0) and 1→2 (3.0); no path from 0 to 3, 1 to 3 and 2 to 3"),
    ("naive_string_matcher", ("ATCGAT", "CGA"), "the needle is at place 2 of the haystack"),
    ("kmp_matcher", ("ATCGAT", "CGA"), "the needle is at place 2 of the haystack"),
    ("kmp_matcher", ("ATCG", "AA"), "the needle is not in the haystack"),
]  # fmt: skip


@pytest.mark.parametrize(("task", "arguments", "said"), SAID, ids=[f"{task}-{k}" for k, (task, *_) in enumerate(SAID)])
def test_an_answer_is_told_in_words_of_its_problem(task, arguments, said):
    one = trace(task, *arguments)
    assert say(one, one.outputs) == said


def test_every_task_of_the_benchmark_has_words_of_its_own():
    assert SAYINGS.keys() == facts().keys() == {task for task, *_ in SAID}  # others are told by their kinds


@pytest.mark.parametrize("task", ALGORITHMS)
@pytest.mark.parametrize("seed", range(20))
def test_any_answer_at_all_can_be_told(task, seed):
    rng, one = np.random.default_rng(seed), sample(task, 20, 1, seed=seed).sample(0)
    outputs = {}
    for name, feature in find(task).spec.outputs.items():
        many = 2 if feature.kind == "mask" else feature.classes or one.nodes
        outputs[name] = rng.integers(many, size=np.shape(one.outputs[name])).astype(feature.dtype)
    text = say(one, outputs)
    assert text and "\n" not in text and len(text) < 1000


WRONG: list[tuple[str, tuple[Any, ...], dict[str, Any], str]] = [
    ("insertion_sort", ([5, 2, 9],), {"pred": [1, 1, 2]}, "no order of all: it has 2.0 and 5.0, and breaks off"),
    ("insertion_sort", ([5, 2, 9],), {"pred": [1, 2, 0]}, "no order of all: it has no first"),
    ("find_maximum_subarray_kadane", ([1, 2],), {"start": 1, "end": 0}, "the end lies before the start"),
    ("dijkstra", (PATH, 0), {"pi": [0, 0, 0, 3]}, "what should lead to node 2 is no path from 0"),
    ("bfs", (PATH, 0), {"pi": [0, 2, 1, 3]}, "what should lead to nodes 1 and 2 is no path from 0"),
    ("topological_sort", (CHAIN,), {"topo": [1, 0, 2, 3], "topo_head": 0}, "0 → 1, 2 of 4 nodes"),
    ("mst_kruskal", (PATH,), {"in_mst": np.eye(4)}, "no edge is in the tree; it has pairs 0–0"),
    ("bridges", (PATH,), {"is_bridge": np.triu(np.ones((4, 4)))}, "bridges 0→1 and 1→2"),
    ("matrix_chain_order", ([1, 2, 3],), {"s": np.full((3, 3), 2)}, "no order"),
    ("optimal_bst", ([0.6, 0.1], [0.1, 0.1, 0.1]), {"root": np.full((3, 3), 2)}, "a root lies outside of its range"),
    (
        "lcs_length",
        ("AT", "TA"),
        {"b": np.zeros((4, 4))},
        "the longest common subsequence is AT, 2 letters, of which 2",
    ),
    ("lcs_length", ("AT", "TA"), {"b": np.full((4, 4), 3)}, "lead nowhere"),
]


@pytest.mark.parametrize(("task", "arguments", "outputs", "said"), WRONG, ids=range(len(WRONG)))
def test_an_answer_that_makes_no_sense_is_told_as_such(task, arguments, outputs, said):
    assert said in say(trace(task, *arguments), {name: np.asarray(x).astype(int) for name, x in outputs.items()})


def test_an_answer_of_an_own_algorithm_is_told_by_the_kinds_of_its_outputs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in written(tmp_path):
        one = trace(SORT, [3.0, 1.0, 2.0])
        assert say(one, one.outputs) == "pred: 1, 2 and 3"
        other = trace("pack.age:minimum", [4.0, 7.0])
        assert say(other, other.outputs) == "last: node 1 (key 7)"


@pytest.mark.parametrize("task", ALGORITHMS)
def test_any_output_can_be_told_by_its_kind(task):
    from rnar.inference.words import of_any

    one = sample(task, 20, 1, seed=1).sample(0)
    text = of_any(one, one.outputs)
    assert all(f"{name}: " in text for name in one.outputs)


def test_numbers_and_lists_are_short():
    assert [percent(x) for x in (0, 0.001, 0.5, 0.996, 1)] == ["0%", "<1%", "50%", ">99%", "100%"]
    assert [exact(x) for x in (5, 0.25, 1 / 3, 1e10)] == ["5.0", "0.25", "0.3333", "1e+10"]
    assert [several("abc"), several("a"), several("")] == ["a, b and c", "a", ""]
    assert several(range(20)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 and 8 more"
    assert [named("node", [1]), named("node", [1, 2]), named("activity", [3, 4])] == [
        "node 1", "nodes 1 and 2", "activities 3 and 4"]  # fmt: skip
