"""Problems about graphs, with their answers, as graphs of networkx and PyTorch Geometric.

Each library is imported where it is asked for.
"""

import importlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from rnar.clrs.batch import Batch, Sample, as_batch
from rnar.clrs.registry import ALGORITHMS, find


def to_networkx(batch: Batch | Sample) -> list[Any]:
    """Returns each sample of a task about graphs as a `networkx.Graph` or `DiGraph` (`pip install networkx`).

    Inputs and outputs are attributes under their own names: those of nodes of each node, those of edges of each edge,
    with the entries of A as `weight`. Outputs of all pairs are attributes of the graph, as matrices.
    """
    networkx, graphs = library("networkx"), []
    for one in _graphs(as_batch(batch)):
        graph = (networkx.DiGraph if one.directed else networkx.Graph)(task=batch.task, **one.pairs)
        graph.add_nodes_from((k, {name: x[k].item() for name, x in one.nodes.items()}) for k in range(one.size))
        edges = {"weight": one.weights, **one.edges}
        for k, (i, j) in enumerate(one.index.T.tolist()):
            graph.add_edge(i, j, **{name: x[k].item() for name, x in edges.items()})
        graphs.append(graph)
    return graphs


def to_pyg(batch: Batch | Sample) -> list[Any]:
    """Returns each sample of a task about graphs as a `torch_geometric.data.Data` (`pip install torch_geometric`).

    Inputs and outputs are attributes under their own names: [n] of nodes, [E] of the edges in `edge_index`, with the
    entries of A as `edge_weight`. A pointer is the number of a node in its own graph, also where graphs are batched.
    """
    import torch

    data, graphs = library("torch_geometric.data", "torch_geometric"), []
    for one in _graphs(as_batch(batch)):
        arrays = {"edge_index": one.index, "edge_weight": one.weights, **one.nodes, **one.edges}
        tensors = {name: torch.as_tensor(np.ascontiguousarray(x)) for name, x in arrays.items()}
        graphs.append(data.Data(num_nodes=one.size, **tensors))
    return graphs


class _Graph(NamedTuple):
    """One sample."""

    directed: bool
    size: int
    index: np.ndarray
    """[2, E]: the senders and the receivers"""
    weights: np.ndarray
    """[E]"""
    nodes: dict[str, np.ndarray]
    """name -> [n]"""
    edges: dict[str, np.ndarray]
    """name -> [E]: outputs"""
    pairs: dict[str, np.ndarray]
    """name -> [n, n]: the same of all pairs"""


def _graphs(batch: Batch) -> Iterator[_Graph]:
    algorithm = find(batch.task)
    if "A" not in algorithm.spec.inputs:
        known = [name for name, other in ALGORITHMS.items() if "A" in other.spec.inputs]
        raise ValueError(f"{batch.task} is not about graphs; those that are: {', '.join(known)}")
    directed = getattr(algorithm.problem, "directed", True)
    for sample in batch.numpy():
        index, nodes, n = np.stack(np.nonzero(sample.inputs["A"])), {}, sample.nodes
        for name, feature in {**algorithm.spec.inputs, **algorithm.spec.outputs}.items():
            if feature.place == "node":
                x = {**sample.inputs, **sample.outputs}[name]
                nodes[name] = np.arange(n) == x if feature.kind == "mask_one" else x
        pairs = {
            name: sample.outputs[name] for name, feature in algorithm.spec.outputs.items() if feature.place == "edge"
        }
        edges = {name: x[tuple(index)] for name, x in pairs.items()}
        yield _Graph(directed, n, index, sample.inputs["A"][tuple(index)], nodes, edges, pairs)


def library(module: str, package: str | None = None) -> Any:
    """A module of another library, or an error that tells how to install it."""
    name = package or module
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"this needs {name}, which is not here ({error}); pip install {name}") from error
