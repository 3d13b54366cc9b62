"""Answers about graphs: who is reached from where, in which order, what holds them together."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from numpy import ndarray as Array

from rnar.clrs.pointers import path
from rnar.inference.equivalence import length_of, way_back
from rnar.inference.words.saying import MOST, chosen, exact, named, several

PAIRS = 6  # paths, or components, that are told
Names = Sequence[str]


def _joined(*parts: object) -> str:
    return "; ".join(str(part) for part in parts if part)


def _reached(A: Array, s: Array, pi: Array, names: Names) -> str:
    """Paths from the source, with their lengths where edges have any."""
    weighted, start = bool(((A != 0) & (A != 1)).any()), names[int(s)]
    told, astray, none = [], [], []
    for v in (v for v in range(len(A)) if v != s):
        way = path(pi, v)
        length = length_of(A, way)
        if len(way) == 1:
            none.append(names[v])
        elif way[-1] != s or length == np.inf:
            astray.append(names[v])
        else:
            told.append(f"{names[v]} from {names[way[1]]}" + (f" ({exact(length)})" if weighted else ""))
    return _joined(
        f"from node {start}: {several(told)}" if told else f"nothing is reached from node {start}",
        none and f"no path to {named('node', none)}",
        astray and f"what should lead to {named('node', astray)} is no path from {start}",
    )


def _searched(pi: Array, names: Names) -> str:
    roots = [names[v] for v, before in enumerate(pi) if before == v]
    begins = f"at {named('node', roots)}" if roots else "nowhere"
    reached = several(f"{names[v]} from {names[before]}" for v, before in enumerate(pi) if before != v)
    return _joined(f"the search begins {begins}", reached)


def _topological(topo: Array, topo_head: Array, names: Names) -> str:
    order = [names[v] for v in path(topo, int(topo_head))]
    said = " → ".join(order if len(order) <= 2 * MOST else [*order[: 2 * MOST], "…"])
    return f"in order: {said}" if len(order) == len(topo) else f"{said}, {len(order)} of {len(topo)} nodes"


def _components(scc_id: Array, names: Names) -> str:
    groups: dict[int, list[str]] = {}
    for name, of in zip(names, scc_id, strict=True):
        groups.setdefault(int(of), []).append(name)
    parts = [f"{{{', '.join(nodes)}}}" for nodes in groups.values() if len(nodes) > 1]
    alone = [nodes[0] for nodes in groups.values() if len(nodes) == 1]
    return _joined(parts and named("component", parts, PAIRS), alone and f"alone: {several(alone)}")


def _cut_points(is_cut: Array, names: Names) -> str:
    some = [names[v] for v in chosen(is_cut)]
    return f"without {named('node', some)} the graph falls apart" if some else "there is no cut node"


def _bridges(A: Array, is_bridge: Array, names: Names) -> str:
    edges, _ = _pairs(is_bridge == 1, A, names)  # of pairs without an edge nothing is asked
    return named("bridge", edges) if edges else "there is no bridge"


def _spanning_edges(A: Array, in_mst: Array, names: Names) -> str:
    joined = in_mst == 1
    edges, others = _pairs(joined, A, names)
    weight = np.triu(A * (joined | joined.T), 1).astype(float).sum()
    return _joined(
        f"the tree has {named('edge', edges)}, of weight {exact(weight)}" if edges else "no edge is in the tree",
        others and f"it has {named('pair', others)} too, where there is no edge",
    )


def _pairs(mask: Array, A: Array, names: Names) -> tuple[list[str], list[str]]:
    """The chosen edges, and chosen pairs without an edge: `0–3`, or `0→3` where only one direction is chosen."""
    edges, others = [], []
    for i, j in np.argwhere(mask & ~np.tril(mask & mask.T, -1)):
        pair = f"{names[i]}{'–' if mask[j, i] else '→'}{names[j]}"
        (edges if A[i, j] != 0 or A[j, i] != 0 else others).append(pair)
    return edges, others


def _spanning_tree(A: Array, s: Array, pi: Array, names: Names) -> str:
    joined = [(int(before), v) for v, before in enumerate(pi) if before != v]
    alone = [names[v] for v, before in enumerate(pi) if before == v != s]
    edges, weight = [f"{names[u]}–{names[v]}" for u, v in joined], sum(float(A[pair]) for pair in joined)
    return _joined(
        f"the tree has {named('edge', edges)}, of weight {exact(weight)}" if edges else "the tree has no edge",
        alone and f"no path to {named('node', alone)}",
    )


def _all_paths(A: Array, Pi: Array, names: Names) -> str:
    """Pi[i, j] is the node before j on the way from i; the ways of most nodes are told, and who has none."""
    ways, none = [], []
    for i, j in combinations(range(len(A)), 2):
        way = way_back(Pi[i], i, j)
        length = length_of(A, way)
        if way[-1] != i or length == np.inf:
            none.append(f"{names[i]} to {names[j]}")
        else:
            ways.append(f"{'→'.join(names[v] for v in reversed(way))} ({exact(length)})")
    longest_first = sorted(ways, key=lambda way: -way.count("→"))
    return _joined(several(longest_first, PAIRS), none and f"no path from {several(none, PAIRS)}")


GRAPHS = {
    **dict.fromkeys(("bfs", "bellman_ford", "dijkstra", "dag_shortest_paths"), _reached),
    "dfs": _searched,
    "topological_sort": _topological,
    "strongly_connected_components": _components,
    "articulation_points": _cut_points,
    "bridges": _bridges,
    "mst_kruskal": _spanning_edges,
    "mst_prim": _spanning_tree,
    "floyd_warshall": _all_paths,
}
