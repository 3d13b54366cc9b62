"""What a user may give, and what is said where it cannot be: one clear ValueError each."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest

from rnar.clrs import ALGORITHMS, find, sample, trace

RING = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]
LINE = [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
FORWARD = [[0, 1, 1], [0, 0, 1], [0, 0, 0]]
UNDIRECTED = [
    "articulation_points",
    "bellman_ford",
    "bfs",
    "bridges",
    "dijkstra",
    "floyd_warshall",
    "mst_kruskal",
    "mst_prim",
]
ROOTED = ["bellman_ford", "bfs", "dag_shortest_paths", "dijkstra", "mst_prim"]
NAMES = {name: find(name).problem.inputs for name in ALGORITHMS}
OF_NUMBERS = [task for task, inputs in NAMES.items() if "key" in inputs and inputs["key"].kind == "scalar"]


@pytest.mark.parametrize("task", ALGORITHMS)
def test_a_drawn_problem_can_be_given_as_an_own_one(task):
    algorithm = find(task)
    problems = algorithm.draw(np.random.RandomState(0), 20, 1, **algorithm.problem.training)
    arguments = [argument[0] for argument in problems]
    if "string" in algorithm.problem.inputs:
        key, first = arguments
        arguments = [key[:first], key[first:]]
    own, drawn = trace(task, *arguments), algorithm.solve(problems).sample(0)
    for ours, theirs in ((own.inputs, drawn.inputs), (own.hints, drawn.hints), (own.outputs, drawn.outputs)):
        assert ours.keys() == theirs.keys()
        for name in ours:
            np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name, strict=True)


def test_lists_arrays_and_whole_numbers_mean_the_same():
    expected = trace("heapsort", [3.0, 1.0, 2.0]).outputs["pred"]
    strided, readonly = np.array([3, 0, 1, 0, 2, 0])[::2], np.array([3.0, 1.0, 2.0])
    readonly.flags.writeable = False
    for key in (
        [3, 1, 2],
        (3, 1, 2),
        np.array([3, 1, 2], np.uint8),
        np.array([3, 1, 2], np.float32),
        strided,
        readonly,
    ):
        np.testing.assert_array_equal(trace("heapsort", key).outputs["pred"], expected)


def test_matrices_may_have_any_layout():
    A = np.asfortranarray(FORWARD)
    assert trace("dfs", A).outputs["pi"].tolist() == trace("dfs", FORWARD).outputs["pi"].tolist() == [0, 0, 1]


def test_letters_may_be_small_or_codes():
    expected = trace("kmp_matcher", "ATCGATC", "GAT")
    for haystack, needle in (("atcgatc", "gat"), ([0, 1, 2, 3, 0, 1, 2], [3, 0, 1])):
        found = trace("kmp_matcher", haystack, needle)
        np.testing.assert_array_equal(found.inputs["key"], expected.inputs["key"])
        assert found.outputs["match"] == expected.outputs["match"] == 3


def test_arguments_may_be_named():
    assert trace("dijkstra", A=LINE, s=2).outputs["pi"].tolist() == [1, 2, 2]
    assert trace("kmp_matcher", needle="T", haystack="AT").outputs["match"] == 1


NOT_NUMBERS: list[tuple[Any, str]] = [
    ([1.0], "must be a list of at least 2 numbers, not of shape (1,)"),
    ([], "must be a list of at least 2 numbers, not of shape (0,)"),
    (3.0, "must be a list of at least 2 numbers, not of shape ()"),
    ([[1.0, 2.0]], "must be a list of at least 2 numbers, not of shape (1, 2)"),
    ([1.0, float("nan")], "must be finite in 32 bits, but holds nan at [1]"),
    ([float("inf"), 1.0], "must be finite in 32 bits, but holds inf at [0]"),
    ([1.0, float("-inf")], "must be finite in 32 bits, but holds -inf at [1]"),
    (["a", "b"], "must hold numbers only, not ['a', 'b']"),
    ([1.0, 1e300], "must be finite in 32 bits, but holds 1e+300 at [1]"),
    ([1.0, 10**400], "holds a number that is too large"),
    ([1.0, None], "must be"),
    ([[1.0], [2.0, 3.0]], "must hold numbers only, not [[1.0], [2.0, 3.0]]"),
]


@pytest.mark.parametrize("key, message", NOT_NUMBERS)
@pytest.mark.parametrize("task", OF_NUMBERS)
def test_keys_that_are_no_list_of_finite_numbers_are_refused(task, key, message):
    with pytest.raises(ValueError, match=f"^{task}: key ") as refused:
        trace(task, key, *([0.5] if task == "binary_search" else []))
    assert message in str(refused.value)


BAD: list[tuple[str, tuple[Any, ...], str]] = [
    ("binary_search", ([2.0, 1.0], 1.5), "key must be sorted in ascending order"),
    ("binary_search", ([1.0, 2.0], float("nan")), "target must be finite in 32 bits, but holds nan at []"),
    ("binary_search", ([1.0, 2.0], [1.0]), "target must be one number, not of shape (1,)"),
    ("matrix_chain_order", ([1.0, 0.0],), "p must be positive, but holds 0.0"),
    ("matrix_chain_order", ([1.0, -2.0],), "p must be positive, but holds -2.0"),
    ("optimal_bst", ([0.5], [0.5]), "q must be a list of at least 2 numbers, not of shape (1,)"),
    ("optimal_bst", ([0.5, 0.5], [0.5, 0.5]), "q must have one entry more than p, but they have 2 and 2"),
    ("optimal_bst", ([-0.5], [0.5, 1.0]), "probabilities must not be negative"),
    ("activity_selector", ([1.0, 2.0], [3.0, 1.0]), "activity 1 finishes at 1.0, and not after it starts at 2.0"),
    ("activity_selector", ([1.0, 2.0], [3.0, 4.0, 5.0]), "lists of one length are needed, not s: 2, f: 3"),
    ("task_scheduling", ([0, 1], [1.0, 1.0]), "a deadline must be at least 1, but d holds 0.0"),
    ("task_scheduling", ([1, 1, 1], [1.0, 1.0]), "lists of one length are needed, not d: 3, w: 2"),
    ("segments_intersect", ([0, 1, 2], [0, 1, 2]), "two segments have four ends, but x and y have 3 and 3 entries"),
    ("graham_scan", ([0, 1, 2], [0, 1]), "lists of one length are needed, not x: 3, y: 2"),
    ("graham_scan", ([0, 5, 1, 2], [0, 1, 1, 2]), "points 2, 0 and 3 lie on one line along the hull"),
    ("jarvis_march", ([0, 1, 2], [1, 1, 1]), "points 0, 1 and 2 lie on one line along the hull"),
    ("kmp_matcher", ("AT", "ATC"), "the needle (3 letters) is longer than the haystack (2)"),
    ("naive_string_matcher", ("AT", "ATC"), "the needle (3 letters) is longer than the haystack (2)"),
    ("kmp_matcher", ("AT", ""), "needle is empty; at least one letter is needed"),
    ("kmp_matcher", ("", "A"), "haystack is empty; at least one letter is needed"),
    ("kmp_matcher", ("AXT", "A"), "haystack holds 'X'; the letters are A, T, C, G"),
    ("kmp_matcher", ([0, 4], [0]), "haystack must be a string over ATCG or a list of codes from 0 to 3"),
    ("kmp_matcher", ([0, -1], [0]), "haystack must be a string over ATCG or a list of codes from 0 to 3"),
    ("kmp_matcher", ([0.5, 1.0], [0]), "haystack must be a string over ATCG or a list of codes from 0 to 3"),
    ("kmp_matcher", (None, "A"), "haystack must be a string over ATCG or a list of codes from 0 to 3"),
    ("lcs_length", ("AT", ""), "y is empty; at least one letter is needed"),
    ("lcs_length", ("A?", "A"), "x holds '?'; the letters are A, T, C, G"),
    ("dfs", ([[0, 1, 0], [0, 0, 1]],), "A must be a square matrix of at least 2 x 2, not of shape (2, 3)"),
    ("dfs", ([[1]],), "A must be a square matrix of at least 2 x 2, not of shape (1, 1)"),
    ("dfs", ([1, 2],), "A must be a square matrix of at least 2 x 2, not of shape (2,)"),
    ("dfs", ([[0, float("nan")], [0, 0]],), "A must be finite in 32 bits, but holds nan at [0, 1]"),
    ("dfs", ([[0, -1], [0, 0]],), "A must not hold negative weights, but it holds -1.0"),
    ("strongly_connected_components", ([[0, -1], [0, 0]],), "A must not hold negative weights, but it holds -1.0"),
    ("dijkstra", ([[0, -1], [-1, 0]], 0), "A must not hold negative weights, but it holds -1.0"),
    ("dag_shortest_paths", (RING, 0), "A must be the matrix of an acyclic graph, but it has a cycle"),
    ("topological_sort", (RING,), "A must be the matrix of an acyclic graph, but it has a cycle"),
    ("topological_sort", (np.eye(2),), "A must be the matrix of an acyclic graph, but it has a cycle"),
    ("dfs", (RING, 0), "this task has no source, but one was given"),
]


@pytest.mark.parametrize("task, arguments, message", BAD)
def test_what_no_algorithm_can_solve_is_refused(task, arguments, message):
    with pytest.raises(ValueError) as refused:
        trace(task, *arguments)
    assert str(refused.value).startswith(f"{task}: {message}")


@pytest.mark.parametrize("task", UNDIRECTED)
def test_a_matrix_that_is_not_symmetric_is_refused_by_tasks_on_undirected_graphs(task):
    said = r"A must be symmetric, .* undirected graphs, but A\[0, 1\] is 1.0 and A\[1, 0\] is 0.0"
    with pytest.raises(ValueError, match=f"^{task}: {said}"):
        trace(task, RING, *([0] if task in ROOTED else []))


@pytest.mark.parametrize("task", ROOTED)
def test_a_source_is_needed_and_must_be_a_node(task):
    A = FORWARD if task == "dag_shortest_paths" else LINE
    with pytest.raises(ValueError, match=f"^{task}: this task needs a source: give the node to start from as s"):
        trace(task, A)
    for s in (3, -1, 1.5, True, "0"):
        with pytest.raises(ValueError, match=f"^{task}: the source s must be a node from 0 to 2, not {s!r}"):
            trace(task, A, s)


@pytest.mark.parametrize(
    "arguments, named, given",
    [
        ((), {}, "nothing"),
        (([1.0, 2.0], 3.0), {}, "2 arguments"),
        (([1.0, 2.0],), {"s": 0}, "1 argument, s"),
        ((), dict.fromkeys("abcdefg", 0), "a, b, c, d, e, 2 more"),
    ],
)
def test_missing_superfluous_and_misnamed_arguments_are_value_errors(arguments, named, given):
    with pytest.raises(ValueError, match=f"^heapsort takes values, but was given {given}$"):
        trace("heapsort", *arguments, **named)


def test_only_a_task_with_a_source_says_that_it_takes_one():
    for task, takes in (("topological_sort", "A"), ("dag_shortest_paths", "A, s")):
        with pytest.raises(ValueError, match=f"^{task} takes {takes}, but was given roads$"):
            trace(task, roads=[[0, 1]])


def test_more_nodes_than_an_index_can_name_are_refused():
    with pytest.raises(ValueError, match="minimum: "):
        trace("minimum", np.arange(40_000.0)[::-1])


def test_an_unknown_task_is_refused_with_the_nearest_or_all():
    yours = "; an algorithm of your own is module:function$"
    with pytest.raises(ValueError, match=r"^no task 'heap_sort' \(did you mean 'heapsort'\?\)" + yours):
        trace("heap_sort", [1.0, 2.0])
    with pytest.raises(ValueError, match="no task 'xyzzy'; there are activity_selector, .*, topological_sort" + yours):
        sample("xyzzy", 4, 1, 0)


def test_graphs_of_other_libraries_lists_of_edges_and_pairs_are_taken():
    graph = nx.Graph([("a", "b", {"weight": 2}), ("b", "c", {"weight": 3})])
    rows = [("a", "b", 2.0), ("b", "c", 3.0)]
    expected = trace("dijkstra", [[0, 2, 0], [2, 0, 3], [0, 3, 0]], 0)
    by_name = {"edges": [list(row) for row in rows], "nodes": ["a", "b", "c"], "s": "a"}
    numbered = np.array([[0, 1, 2], [1, 2, 3]])
    for arguments, named in (((graph, "a"), {}), ((rows, "a"), {}), (("a",), {"edges": rows}), ((), by_name),
                             ((), {"edges": numbered, "s": 0})):  # fmt: skip
        found = trace("dijkstra", *arguments, **named)
        np.testing.assert_array_equal(found.inputs["A"], expected.inputs["A"])
        assert found.outputs["pi"].tolist() == expected.outputs["pi"].tolist()
    assert find("dijkstra").own(edges=[(10, 9), (9, 101)], s=101).names == ("9", "10", "101")
    np.testing.assert_array_equal(trace("graham_scan", [[0, 0], [4, 0], [2, 3]]).inputs["x"], [0, 4, 2])
    assert trace("activity_selector", [(0, 2), (1, 3), (3, 4)]).inputs["f"].tolist() == [2, 3, 4]


@pytest.mark.parametrize("task, rows", [("dfs", [[0, 1], [1, 2]]), ("bfs", [[0, 1, 5], [1, 2, 5], [2, 3, 5]])])
def test_a_matrix_that_may_be_a_list_of_edges_is_asked_about(task, rows):
    said = f"is a matrix of {len(rows)} nodes .*or a list of {len(rows)} edges .*edges=..., or --edges"
    with pytest.raises(ValueError, match=said):
        trace(task, rows, *([0] if task == "bfs" else []))
    source = {"s": 0} if task == "bfs" else {}
    assert trace(task, edges=rows, **source).nodes == len(rows) + 1
    if task == "dfs":
        assert trace(task, A=rows).nodes == trace(task, np.array(rows)).nodes == 2
    for matrix in ([[0, 1], [1, 0]], [[0, 1], [0, 0]], [[1, 1], [1, 1]], FORWARD, LINE, RING):
        assert trace("dfs", matrix).nodes == len(matrix)


@pytest.mark.parametrize("rows, said", [
    ([("a", "b", 0)], "the edge from a to b has weight 0, as where there is no edge"),
    ([("a", "b", 1), ("b", "a", 2)], "the edge from b to a is there with weights 1 and 2; give one"),
    ([("a", "b", "far")], "the edge from a to b has weight 'far', which is no number"),
    ([("a",)], "a graph has nodes, each with an id, and edges, each with source and target, or a row of the two"),
    ([("a", "b", 1, 2)], "a graph has nodes"),
])  # fmt: skip
def test_a_list_of_no_edges_is_refused(rows, said):
    with pytest.raises(ValueError, match=f"^bfs: {said}"):
        trace("bfs", "a", edges=rows)
