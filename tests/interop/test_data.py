"""Batches as other libraries have them; those that are not installed are stood in for."""

from __future__ import annotations

import sys
from collections import namedtuple
from types import ModuleType, SimpleNamespace
from typing import Any

import networkx
import numpy as np
import pytest
import torch

from rnar.clrs import ALGORITHMS, find, sample, to_dm_clrs
from rnar.interop import to_feedback, to_networkx, to_pyg

GRAPHS = [task for task in ALGORITHMS if "A" in find(task).spec.inputs]


@pytest.fixture
def dm_clrs(monkeypatch):
    """As much of it as makes a Feedback."""
    module: Any = ModuleType("clrs")
    module.DataPoint = lambda name, location, type_, data: SimpleNamespace(
        name=name, location=location, type_=type_, data=data
    )
    module.Features = namedtuple("Features", ["inputs", "hints", "lengths"])
    module.Feedback = namedtuple("Feedback", ["features", "outputs"])
    monkeypatch.setitem(sys.modules, "clrs", module)


@pytest.mark.parametrize("task", ALGORITHMS)
def test_a_feedback_has_the_arrays_of_dm_clrs_with_their_kinds(task, dm_clrs):
    batch = sample(task, n=6 if "string" not in find(task).spec.inputs else 20, batch=3, seed=0)
    found, arrays = to_feedback(batch.to("cpu")), to_dm_clrs(batch)
    stages = {"input": found.features.inputs, "hint": found.features.hints, "output": found.outputs}
    points = {f"{stage}/{point.name}": point for stage, points in stages.items() for point in points}
    assert points.keys() == arrays.keys() - {"lengths"}
    for name, point in points.items():
        np.testing.assert_array_equal(point.data, arrays[name], strict=True)
    np.testing.assert_array_equal(found.features.lengths, batch.lengths.astype(np.float32), strict=True)
    kinds = {(point.location, point.type_) for point in points.values()}
    assert ("node", "permutation") not in kinds and ("node", "scalar") in kinds


def test_what_is_sorted_is_to_become_a_permutation(dm_clrs):
    found = to_feedback(sample("heapsort", n=5, batch=2, seed=0))
    assert [(point.name, point.type_) for point in found.outputs] == [("pred", "should_be_permutation")]
    assert found.features.hints[0].name == "pred_h"


@pytest.mark.parametrize("task", GRAPHS)
def test_a_graph_of_networkx_has_the_matrix_that_it_was_made_of(task):
    batch = sample(task, n=7, batch=3, seed=1)
    for one, graph in zip(batch, to_networkx(batch), strict=True):
        matrix = networkx.to_numpy_array(graph, nodelist=range(7), dtype=np.float32)
        np.testing.assert_array_equal(matrix, one.inputs["A"])
        assert graph.graph["task"] == task and graph.is_directed() == bool((one.inputs["A"] != one.inputs["A"].T).any())


def test_networkx_finds_the_distances_of_the_answer():
    graph = sample("dijkstra", n=9, batch=4, seed=2)[3].to_networkx()
    (source,) = (k for k, marked in graph.nodes(data="s") if marked)
    for node, length in networkx.single_source_dijkstra_path_length(graph, source).items():
        before, pi = 0.0, graph.nodes(data="pi")
        while node != source:
            before, node = before + graph[node][pi[node]]["weight"], pi[node]
        assert before == pytest.approx(length)


def test_answers_of_pairs_are_of_the_edges_and_of_the_graph():
    batch = sample("mst_kruskal", n=6, batch=1, seed=0, p=0.9)
    (graph,) = to_networkx(batch)
    chosen = {frozenset(edge[:2]) for edge in graph.edges(data="in_mst") if edge[2] and edge[0] != edge[1]}
    tree = networkx.minimum_spanning_tree(graph)
    assert chosen == {frozenset(edge) for edge in tree.edges}
    np.testing.assert_array_equal(graph.graph["in_mst"], batch.outputs["in_mst"][0])


def test_pyg_gets_a_graph_as_a_list_of_edges(monkeypatch):
    stand_in: Any = ModuleType("torch_geometric.data")
    stand_in.Data = SimpleNamespace
    monkeypatch.setitem(sys.modules, "torch_geometric", ModuleType("torch_geometric"))
    monkeypatch.setitem(sys.modules, "torch_geometric.data", stand_in)
    batch = sample("bridges", n=7, batch=2, seed=0).to("cpu")
    for one, data in zip(batch, to_pyg(batch), strict=True):
        A = torch.zeros(7, 7).index_put(tuple(data.edge_index), data.edge_weight)
        assert torch.equal(A, one.inputs["A"]) and data.num_nodes == 7
        assert torch.equal(data.is_bridge, one.outputs["is_bridge"][tuple(data.edge_index)])
        assert torch.equal(data.pos, one.inputs["pos"]) and torch.equal(one.to_pyg().edge_index, data.edge_index)


def test_what_is_not_about_graphs_or_not_installed_is_said(monkeypatch):
    with pytest.raises(ValueError, match="minimum is not about graphs; those that are: bfs, dfs"):
        to_networkx(sample("minimum", n=4, batch=1, seed=0))
    with pytest.raises(ValueError, match="a batch .* is expected, not 3"):
        to_networkx(3)  # type: ignore[arg-type]
    for function, module in ((to_feedback, "clrs"), (to_networkx, "networkx"), (to_pyg, "torch_geometric.data")):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(ModuleNotFoundError, match="this needs .*; pip install"):
            function(sample("bfs", n=4, batch=1, seed=0))
