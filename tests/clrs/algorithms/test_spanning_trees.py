from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.instances import path_to, solved, undirected
from rnar.clrs import trace


def lightest(graph: nx.Graph) -> float:
    return nx.minimum_spanning_tree(graph).size(weight="weight")


def check_forest(A: np.ndarray, in_mst: np.ndarray) -> None:
    graph, forest = nx.from_numpy_array(A), nx.from_numpy_array(A * in_mst)
    np.testing.assert_array_equal(in_mst, in_mst.T)
    assert not (in_mst.astype(bool) & (A == 0)).any(), "only edges of the graph are chosen"
    assert forest.number_of_edges() == len(A) - nx.number_connected_components(graph)
    assert nx.is_forest(forest)
    assert forest.size(weight="weight") == pytest.approx(lightest(graph))


def test_kruskal_finds_a_lightest_tree_of_each_component():
    for (A,), sample in solved("mst_kruskal"):
        check_forest(A, sample.outputs["in_mst"])


@given(A=undirected())
def test_kruskal_finds_a_lightest_tree_among_equal_weights(A):
    check_forest(A, trace("mst_kruskal", A).outputs["in_mst"])


def check_tree(A: np.ndarray, s: int, pi: np.ndarray) -> None:
    graph = nx.from_numpy_array(A)
    component = nx.node_connected_component(graph, s)
    for v in range(len(A)):
        assert path_to(v, pi)[0] == (s if v in component else v)
    edges = [(v, int(pi[v])) for v in component - {s}]
    assert all(A[u, v] != 0 for u, v in edges)
    assert sum(A[u, v] for u, v in edges) == pytest.approx(lightest(graph.subgraph(component)))


def test_prim_finds_a_lightest_tree_of_the_component_of_its_source():
    for (A, s), sample in solved("mst_prim"):
        check_tree(A, int(s), sample.outputs["pi"])


@given(A=undirected(), data=st.data())
def test_prim_finds_a_lightest_tree_among_equal_weights(A, data):
    s = data.draw(st.integers(0, len(A) - 1))
    check_tree(A, s, trace("mst_prim", A, s).outputs["pi"])
