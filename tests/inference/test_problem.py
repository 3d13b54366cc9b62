"""Problems as users have them: graphs with names, points as pairs, the benchmark's names."""

from __future__ import annotations

import types

import networkx as nx
import numpy as np
import pytest
import scipy.sparse

from helpers.inference import forged
from rnar.clrs import trace
from rnar.inference.answer import Answer
from rnar.inference.problem import Problem

PATH = [[0, 2, 0], [2, 0, 3], [0, 3, 0]]  # a –2– b –3– c
NAMES = ("a", "b", "c")
NODE_LINK = {
    "nodes": [{"id": name} for name in NAMES],
    "edges": [{"source": "a", "target": "b", "weight": 2}, {"source": "b", "target": "c", "weight": 3}],
}
GRAPHS = {
    "networkx": nx.Graph([("a", "b", {"weight": 2}), ("b", "c", {"weight": 3})]),
    "node-link": NODE_LINK,
    "links": {"nodes": NODE_LINK["nodes"], "links": NODE_LINK["edges"]},
    "neighbours": {"a": {"b": 2}, "b": {"a": 2, "c": 3}, "c": {"b": 3}},
    "one direction": {"a": {"b": 2}, "b": {"c": 3}, "c": []},
}


@pytest.mark.parametrize("graph", GRAPHS.values(), ids=GRAPHS)
def test_a_graph_may_have_names(graph):
    problem = Problem.own("dijkstra", graph, "b")
    assert problem.names == NAMES and problem.sample.inputs["s"] == 1
    np.testing.assert_array_equal(problem.sample.inputs["A"], np.float32(PATH))
    answer = Answer(problem.sample, forged(problem.sample, wrong=0.0), names=problem.names)
    assert answer.algorithm == "from node b: a from b (2.0) and c from b (3.0)"
    assert answer.plain()["names"] == list(NAMES) and '"labels":["a","b","c"]' in answer.view().html


def test_a_graph_may_be_of_other_libraries():
    data = types.SimpleNamespace(
        edge_index=np.array([[0, 1, 1, 2], [1, 0, 2, 1]]), edge_weight=np.array([2.0, 2.0, 3.0, 3.0]), num_nodes=3
    )
    for graph in (scipy.sparse.csr_matrix(PATH), data):
        problem = Problem.own("dijkstra", graph, 1)
        np.testing.assert_array_equal(problem.sample.inputs["A"], np.float32(PATH))


def test_a_directed_graph_stays_directed():
    chain = nx.DiGraph([("x", "y"), ("y", "z")])
    assert Problem.own("topological_sort", chain).sample.inputs["A"].tolist() == [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    assert Problem.own("topological_sort", {"x": ["y"], "y": []}).names == ("x", "y")


def test_a_json_object_may_be_all_of_a_problem():
    by_name = Problem.own("dijkstra", **{"A": NODE_LINK, "s": "c"})
    whole = Problem.own("dijkstra", **NODE_LINK, s="c")
    assert by_name.sample.inputs["s"] == whole.sample.inputs["s"] == 2


def test_points_and_intervals_may_be_pairs_and_inputs_have_the_names_of_the_benchmark():
    pairs = Problem.own("graham_scan", [[0, 0], [4, 0], [2, 3], [2, 1]]).sample
    np.testing.assert_array_equal(pairs.inputs["x"], [0, 4, 2, 2])
    assert Problem.own("activity_selector", [(0, 2), (1, 3), (3, 4)]).sample.inputs["f"].tolist() == [2, 3, 4]
    assert Problem.own("minimum", key=[3, 1]).sample.inputs["key"].tolist() == [3, 1]
    assert trace("minimum", values=[3, 1]).inputs["key"].tolist() == [3, 1]


@pytest.mark.parametrize(
    ("arguments", "named", "said"),
    [((NODE_LINK, "d"), {}, "no node 'd'; the nodes are a, b, c"),
     ((), {"self": 1}, "dijkstra takes A, s, but was given self"),
     ((), {"task": "bfs", "s": 1}, "dijkstra takes A, s, but was given task"),
     (({"a": ["b"]}, "a"), {}, "the edge from a to b has an end that is not among the nodes: 'b'"),
     (({"nodes": [{"name": "a"}], "edges": []}, "a"), {}, "a graph has nodes, each with an id"),
     (({"a": {"b": "far"}, "b": []}, "a"), {}, "has weight 'far', which is no number")],
)  # fmt: skip
def test_what_is_no_graph_is_refused_in_one_line(arguments, named, said):
    with pytest.raises(ValueError, match=said.replace("(", r"\(")) as error:
        Problem.own("dijkstra", *arguments, **named)
    assert "\n" not in str(error.value)
