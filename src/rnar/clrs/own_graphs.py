"""Graphs as users have them: lists of edges, JSON, those of networkx, PyTorch Geometric or SciPy."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

NODE_LINK = ("links", "edges")


def is_graph(value: Any) -> bool:
    """True for a graph in one of the forms that `as_matrix` takes, and not for a matrix."""
    if isinstance(value, Mapping):
        neighbours = all(
            isinstance(x, (Mapping, list)) and not any(isinstance(v, list) for v in x) for x in value.values()
        )
        return any(key in value for key in NODE_LINK) or (neighbours and not set(value) <= {"A", "s"})
    if isinstance(value, (list, tuple)):  # edges between nodes with names
        return bool(value) and all(isinstance(row, (list, tuple)) and row and isinstance(row[0], str) for row in value)
    return any(hasattr(value, name) for name in ("edge_index", "toarray", "is_directed"))


def is_list_of_edges(matrix: Any, directed: bool) -> bool:
    """True for lists of numbers [2, 2] or [3, 3] that are a graph as a matrix, and another one as a list of edges."""
    if not isinstance(matrix, (list, tuple)) or len(matrix) not in (2, 3):
        return False
    try:
        given = np.array(matrix, float)
        A, names = as_matrix({"edges": matrix}, directed)
    except (TypeError, ValueError):
        return False
    plausible = names == [str(i) for i in range(len(A))] and not A.diagonal().any()
    return given.shape == 2 * (len(given),) and plausible and not np.array_equal(A, given)


def as_matrix(graph: Any, directed: bool) -> tuple[np.ndarray, list[str]]:
    """The weights of the edges of a graph [n, n], and the names of its nodes, where they have names.

    Args:
        graph: A graph of networkx, a `Data` of PyTorch Geometric, a sparse matrix of SciPy; a list of edges
            (`[("a", "b", 2.0), ("b", "c")]`); or a dictionary: node-link
            (`{"nodes": [{"id": "a"}, ...], "edges": [{"source": "a", "target": "b", "weight": 2}, ...]}`), whose edges
            may be such a list, or neighbours by node (`{"a": {"b": 2}, "b": ["c"], "c": []}`). An edge without a weight
            has weight 1.
        directed: True if the task is about directed graphs. If not, each edge is one in both directions.
    """
    if hasattr(graph, "toarray"):
        return graph.toarray(), []
    if hasattr(graph, "edge_index"):  # PyTorch Geometric
        given = [w for key in ("edge_weight", "edge_attr") if (w := getattr(graph, key, None)) is not None]
        ends = np.asarray(graph.edge_index)
        edges = np.column_stack([*ends, np.ravel(given[0]) if given else np.ones(ends.shape[1])]).tolist()
        return _matrix(range(graph.num_nodes), [(int(u), int(v), w) for u, v, w in edges], directed)
    if isinstance(graph, (list, tuple)):
        graph = {"edges": graph}
    if not isinstance(graph, Mapping):  # networkx
        return _matrix(graph.nodes, graph.edges(data="weight", default=1.0), directed and graph.is_directed())
    key = next((key for key in NODE_LINK if key in graph), None)
    if key is None:
        pairs = {
            u: ends.items() if isinstance(ends, Mapping) else ((v, 1.0) for v in ends) for u, ends in graph.items()
        }
        return _matrix(graph, [(u, v, w) for u, weighted in pairs.items() for v, w in weighted], directed)
    try:
        edges = [_edge(edge) for edge in _plain(graph[key])]
        nodes = [node["id"] if isinstance(node, Mapping) else node for node in graph.get("nodes") or ()]
    except (KeyError, TypeError, ValueError):
        said = f"a graph has nodes, each with an id, and {key}, each with source and target, or a row of the two"
        raise ValueError(f"{said} and perhaps a weight") from None
    return _matrix(nodes or _ends(edges), edges, directed and graph.get("directed") is not False)


def _plain(rows: Any) -> Any:
    return rows.tolist() if hasattr(rows, "tolist") else rows  # an array or a tensor


def _edge(edge: Any) -> tuple[Any, Any, Any]:
    """(u, v, weight) of a dictionary or a row; whole numbers name nodes as such also where they are floats."""
    if isinstance(edge, Mapping):
        return edge["source"], edge["target"], edge.get("weight", 1.0)
    if isinstance(edge, str):
        raise TypeError
    u, v, weight = edge if len(edge) > 2 else (*edge, 1.0)
    u, v = (int(end) if isinstance(end, float) and end.is_integer() else end for end in (u, v))
    return u, v, weight


def _ends(edges: list[tuple[Any, Any, Any]]) -> list[str]:
    """The nodes of edges: in the order of their numbers, or as they come where they have names."""
    names = list(dict.fromkeys(str(end) for *ends, _ in edges for end in ends))
    return sorted(names, key=int) if all(name.isdecimal() for name in names) else names


def _matrix(
    nodes: Iterable[Any], edges: Iterable[tuple[Any, Any, Any]], directed: bool
) -> tuple[np.ndarray, list[str]]:
    names = list(dict.fromkeys(map(str, nodes)))
    place, A = {name: i for i, name in enumerate(names)}, np.zeros((len(names), len(names)))
    for u, v, given in edges:
        try:
            i, j, weight = place[str(u)], place[str(v)], float(given)
        except KeyError as end:
            raise ValueError(f"the edge from {u} to {v} has an end that is not among the nodes: {end}") from None
        except (TypeError, ValueError):
            raise ValueError(f"the edge from {u} to {v} has weight {given!r}, which is no number") from None
        if weight == 0:
            raise ValueError(f"the edge from {u} to {v} has weight 0, as where there is no edge")
        if A[i, j] not in (0, weight):
            raise ValueError(f"the edge from {u} to {v} is there with weights {A[i, j]:g} and {weight:g}; give one")
        A[i, j] = weight
        if not directed:
            A[j, i] = weight
    return A, names
