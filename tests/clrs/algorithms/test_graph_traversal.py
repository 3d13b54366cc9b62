from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.instances import acyclic, directed, path_to, solved, undirected
from rnar.clrs import Sample, trace


def without_loops(A: np.ndarray) -> nx.Graph:
    return nx.from_numpy_array(A * (1 - np.eye(len(A))))


def check_breadth(A: np.ndarray, s: int, pi: np.ndarray) -> None:
    depths = nx.single_source_shortest_path_length(nx.from_numpy_array(A), s)
    for v in range(len(A)):
        path = path_to(v, pi)
        if v not in depths:
            assert path == [v]
        else:
            assert path[0] == s and len(path) - 1 == depths[v]
            assert all(A[u, w] != 0 for u, w in zip(path, path[1:], strict=False))


def test_bfs_reaches_each_node_by_as_few_edges_as_possible():
    for (A, s), sample in solved("bfs"):
        check_breadth(A, int(s), sample.outputs["pi"])


@given(A=undirected(), data=st.data())
def test_bfs_leaves_what_it_cannot_reach(A, data):
    s = data.draw(st.integers(0, len(A) - 1))
    check_breadth(A, s, trace("bfs", A, s).outputs["pi"])


def recursive_dfs(A: np.ndarray) -> list[int]:
    """The book's page: each node's parent, itself where it has none."""
    pi, seen = list(range(len(A))), set()

    def visit(u: int) -> None:
        seen.add(u)
        for v in np.flatnonzero(A[u]).tolist():
            if v not in seen:
                pi[v] = u
                visit(v)

    for s in range(len(A)):
        if s not in seen:
            visit(s)
    return pi


def check_depth(A: np.ndarray, sample: Sample) -> None:
    pi, d, f = sample.outputs["pi"], sample.hints["d"][-1], sample.hints["f"][-1]
    assert pi.tolist() == recursive_dfs(A)
    assert len({*d.tolist(), *f.tolist()}) == 2 * len(A)
    for u in range(len(A)):
        for v in range(len(A)):
            apart = f[u] < d[v] or f[v] < d[u]
            inside = d[u] <= d[v] < f[v] <= f[u] or d[v] <= d[u] < f[u] <= f[v]
            assert apart or inside
            if A[u, v] != 0:
                assert d[v] < f[u], "a node was finished before its neighbour was seen"
            if u in path_to(v, pi):
                assert d[u] <= d[v] and f[v] <= f[u]


def test_dfs_is_the_recursive_search_and_its_times_are_nested():
    for (A,), sample in solved("dfs"):
        check_depth(A, sample)


@given(A=directed())
def test_dfs_starts_again_where_it_cannot_go_on(A):
    check_depth(A, trace("dfs", A))


def check_order(A: np.ndarray, sample: Sample) -> None:
    after, order = sample.outputs["topo"], [int(sample.outputs["topo_head"])]
    while after[order[-1]] != order[-1] and len(order) <= len(A):
        order.append(int(after[order[-1]]))
    assert sorted(order) == list(range(len(A)))
    place = np.argsort(order)
    assert all(place[u] < place[v] for u, v in np.argwhere(A != 0))


def test_every_edge_leads_forwards_in_the_topological_order():
    for (A,), sample in solved("topological_sort"):
        check_order(A, sample)


@given(A=acyclic())
def test_graphs_in_parts_are_ordered_too(A):
    check_order(A, trace("topological_sort", A))


def check_components(A: np.ndarray, scc_id: np.ndarray) -> None:
    expected = nx.strongly_connected_components(nx.from_numpy_array(A, create_using=nx.DiGraph))
    found = {frozenset(np.flatnonzero(scc_id == name).tolist()) for name in scc_id}
    assert found == {frozenset(component) for component in expected}
    assert all(scc_id[name] == name for name in scc_id), "a component is named after one of its nodes"


def test_strongly_connected_components_are_those_of_networkx():
    for (A,), sample in solved("strongly_connected_components", sizes=range(4, 21)):
        check_components(A, sample.outputs["scc_id"])


@given(A=directed())
def test_strongly_connected_components_of_any_graph(A):
    check_components(A, trace("strongly_connected_components", A).outputs["scc_id"])


def check_cuts(A: np.ndarray, is_cut: np.ndarray) -> None:
    assert set(np.flatnonzero(is_cut).tolist()) == set(nx.articulation_points(without_loops(A)))


def check_bridges(A: np.ndarray, is_bridge: np.ndarray) -> None:
    expected = {pair for u, v in nx.bridges(without_loops(A)) for pair in [(u, v), (v, u)]}
    assert {(int(u), int(v)) for u, v in np.argwhere(is_bridge == 1)} == expected
    np.testing.assert_array_equal(is_bridge == -1, (A + np.eye(len(A))) == 0)


def test_articulation_points_are_those_of_networkx():
    for (A,), sample in solved("articulation_points"):
        check_cuts(A, sample.outputs["is_cut"])


def test_bridges_are_those_of_networkx_and_only_edges_are_judged():
    for (A,), sample in solved("bridges"):
        check_bridges(A, sample.outputs["is_bridge"])


@given(A=undirected())
def test_articulation_points_and_bridges_of_any_graph(A):
    check_cuts(A, trace("articulation_points", A).outputs["is_cut"])
    check_bridges(A, trace("bridges", A).outputs["is_bridge"])


@pytest.mark.parametrize("size", [2, 12])
def test_in_a_path_all_but_the_ends_cut_and_all_edges_are_bridges(size):
    A = np.eye(size, k=1) + np.eye(size, k=-1)
    assert trace("articulation_points", A).outputs["is_cut"].tolist() == [0] + [1] * (size - 2) + [0]
    np.testing.assert_array_equal(trace("bridges", A).outputs["is_bridge"] == 1, A == 1)
