from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import shortest_path

from helpers.instances import acyclic, path_to, solved, undirected
from rnar.clrs import trace

FROM_ONE_NODE = ["bellman_ford", "dijkstra"]


def length(path: list[int], A: np.ndarray) -> float:
    """The sum of the weights on a path, all of whose edges must exist."""
    weights = [float(A[u, v]) for u, v in zip(path, path[1:], strict=False)]
    assert 0.0 not in weights, "an edge of the path does not exist"
    return sum(weights)


def check_from_one_node(A: np.ndarray, s: int, pi: np.ndarray, shortest: np.ndarray) -> None:
    for v in range(len(A)):
        path = path_to(v, pi)
        if np.isinf(shortest[v]):
            assert path == [v]
        else:
            assert path[0] == s and length(path, A) == pytest.approx(shortest[v])


@pytest.mark.parametrize("task", FROM_ONE_NODE)
def test_paths_from_one_node_are_as_short_as_those_of_scipy(task):
    for (A, s), sample in solved(task):
        check_from_one_node(A, int(s), sample.outputs["pi"], shortest_path(A, indices=int(s)))


@pytest.mark.parametrize("task", FROM_ONE_NODE)
@given(A=undirected(), data=st.data())
def test_paths_with_equal_weights_are_as_short_as_those_of_scipy(task, A, data):
    s = data.draw(st.integers(0, len(A) - 1))
    check_from_one_node(A, s, trace(task, A, s).outputs["pi"], shortest_path(A, indices=s))


def shortest_in(A: np.ndarray, s: int) -> np.ndarray:
    """By networkx, because weights may be negative and scipy's search for negative cycles wants one graph."""
    found = nx.single_source_bellman_ford_path_length(nx.from_numpy_array(A, create_using=nx.DiGraph), s)
    return np.array([found.get(v, np.inf) for v in range(len(A))])


def test_paths_in_acyclic_graphs_are_as_short_as_those_of_networkx():
    for (A, s), sample in solved("dag_shortest_paths"):
        check_from_one_node(A, int(s), sample.outputs["pi"], shortest_in(A, int(s)))


@given(A=acyclic(), data=st.data())
def test_weights_of_acyclic_graphs_may_be_negative(A, data):
    A = A * data.draw(st.sampled_from([1.0, -1.0])) + (A == 2) * -5.0
    s = data.draw(st.integers(0, len(A) - 1))
    check_from_one_node(A, s, trace("dag_shortest_paths", A, s).outputs["pi"], shortest_in(A, s))


def check_between_all(A: np.ndarray, Pi: np.ndarray) -> None:
    """Away from the diagonal: there the reference begins with the weights of self-loops."""
    shortest = shortest_path(A)
    for i, j in np.argwhere(~np.eye(len(A), dtype=bool)):
        if np.isinf(shortest[i, j]):
            assert Pi[i, j] == i
            continue
        path = [int(j)]
        while path[-1] != i:
            path.append(int(Pi[i, path[-1]]))
            assert len(path) <= len(A), "the predecessors go round in a circle"
        assert length(path[::-1], A) == pytest.approx(shortest[i, j])


def test_paths_between_all_nodes_are_as_short_as_those_of_scipy():
    for (A,), sample in solved("floyd_warshall", batch=4):
        check_between_all(A, sample.outputs["Pi"])


@given(A=undirected())
def test_paths_between_all_nodes_of_any_graph_are_as_short_as_those_of_scipy(A):
    check_between_all(A, trace("floyd_warshall", A).outputs["Pi"])
