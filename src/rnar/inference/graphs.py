"""Graphs as users have them: of networkx, PyTorch Geometric or SciPy, or dictionaries as JSON has them."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

NODE_LINK = ("links", "edges")


def is_graph(value: Any) -> bool:
    """True for a graph in one of the forms that `as_matrix` takes, and not for a matrix."""
    if isinstance(value, Mapping):
        neighbours = all(isinstance(ends, (Mapping, list)) for ends in value.values())
        return any(key in value for key in NODE_LINK) or (neighbours and not set(value) <= {"A", "s"})
    return any(hasattr(value, name) for name in ("edge_index", "toarray", "is_directed"))


def as_matrix(graph: Any, directed: bool) -> tuple[np.ndarray, list[str]]:
    """The weights of the edges of a graph [n, n], and the names of its nodes, where they have names.

    Args:
        graph: A graph of networkx, a `Data` of PyTorch Geometric, a sparse matrix of SciPy; or a dictionary: node-link
            (`{"nodes": [{"id": "a"}, ...], "edges": [{"source": "a", "target": "b", "weight": 2}, ...]}`) or neighbours
            by node (`{"a": {"b": 2}, "b": ["c"], "c": []}`). An edge without a weight has weight 1.
        directed: True if the task is about directed graphs. If not, each edge is one in both directions.
    """
    if hasattr(graph, "toarray"):
        return graph.toarray(), []
    if hasattr(graph, "edge_index"):  # PyTorch Geometric
        given = [w for key in ("edge_weight", "edge_attr") if (w := getattr(graph, key, None)) is not None]
        ends = np.asarray(graph.edge_index)
        edges = np.column_stack([*ends, np.ravel(given[0]) if given else np.ones(ends.shape[1])]).tolist()
        return _matrix(range(graph.num_nodes), [(int(u), int(v), w) for u, v, w in edges], directed)
    if not isinstance(graph, Mapping):  # networkx
        return _matrix(graph.nodes, graph.edges(data="weight", default=1.0), directed and graph.is_directed())
    key = next((key for key in NODE_LINK if key in graph), None)
    if key is None:
        pairs = {
            u: ends.items() if isinstance(ends, Mapping) else ((v, 1.0) for v in ends) for u, ends in graph.items()
        }
        return _matrix(graph, [(u, v, w) for u, weighted in pairs.items() for v, w in weighted], directed)
    try:
        edges = [(edge["source"], edge["target"], edge.get("weight", 1.0)) for edge in graph[key]]
        nodes = [node["id"] for node in graph.get("nodes", [])] or [end for *ends, _ in edges for end in ends]
    except (KeyError, TypeError, AttributeError):
        said = f"a graph in JSON has nodes, each with an id, and {key}, each with source and target"
        raise ValueError(said) from None
    return _matrix(nodes, edges, directed and graph.get("directed") is not False)


def _matrix(
    nodes: Iterable[Any], edges: Iterable[tuple[Any, Any, Any]], directed: bool
) -> tuple[np.ndarray, list[str]]:
    names = list(dict.fromkeys(map(str, nodes)))
    place, A = {name: i for i, name in enumerate(names)}, np.zeros((len(names), len(names)))
    for u, v, weight in edges:
        try:
            i, j = place[str(u)], place[str(v)]
            A[i, j] = weight
        except KeyError as end:
            raise ValueError(f"the edge from {u} to {v} has an end that is not among the nodes: {end}") from None
        except (TypeError, ValueError):
            raise ValueError(f"the edge from {u} to {v} has weight {weight!r}, which is no number") from None
        if not directed:
            A[j, i] = A[i, j]
    return A, names
