"""Answers about graphs: who is reached from where, in which order, what holds them together."""

import numpy as np

from rnar.clrs.pointers import path
from rnar.inference.equivalence import length_of, way_back
from rnar.inference.words.saying import MOST, Solution, chosen, exact, named, several

PAIRS = 6  # paths, or components, that are told


def _reached(solution: Solution) -> str:
    """Paths from the source, with their lengths where edges have any."""
    (sample, outputs, names), A = solution, solution.sample.inputs["A"]
    source, weighted = int(sample.inputs["s"]), bool(((A != 0) & (A != 1)).any())
    told, astray, none = [], [], []
    for v in (v for v in range(sample.nodes) if v != source):
        way = path(outputs["pi"], v)
        length = length_of(A, way)
        if len(way) == 1:
            none.append(names[v])
        elif way[-1] != source or length == np.inf:
            astray.append(names[v])
        else:
            told.append(f"{names[v]} from {names[way[1]]}" + (f" ({exact(length)})" if weighted else ""))
    start = names[source]
    return _joined(
        f"from node {start}: {several(told)}" if told else f"nothing is reached from node {start}",
        none and f"no path to {named('node', none)}",
        astray and f"what should lead to {named('node', astray)} is no path from {start}",
    )


def _joined(*parts: object) -> str:
    return "; ".join(str(part) for part in parts if part)


def _searched(solution: Solution) -> str:
    names, pi = solution.names, solution.outputs["pi"]
    roots = [names[v] for v, before in enumerate(pi) if before == v]
    reached = [f"{names[v]} from {names[before]}" for v, before in enumerate(pi) if before != v]
    begins = f"at {named('node', roots)}" if roots else "nowhere"
    return _joined(f"the search begins {begins}", several(reached))


def _topological(solution: Solution) -> str:
    sample, outputs, names = solution
    order = [names[v] for v in path(outputs["topo"], int(outputs["topo_head"]))]
    said = " → ".join(order if len(order) <= 2 * MOST else [*order[: 2 * MOST], "…"])
    return f"in order: {said}" if len(order) == sample.nodes else f"{said}, {len(order)} of {sample.nodes} nodes"


def _components(solution: Solution) -> str:
    groups: dict[int, list[str]] = {}
    for name, of in zip(solution.names, solution.outputs["scc_id"], strict=True):
        groups.setdefault(int(of), []).append(name)
    parts = [f"{{{', '.join(nodes)}}}" for nodes in groups.values() if len(nodes) > 1]
    alone = [nodes[0] for nodes in groups.values() if len(nodes) == 1]
    return _joined(parts and named("component", parts, PAIRS), alone and f"alone: {several(alone)}")


def _cut_points(solution: Solution) -> str:
    some = [solution.names[v] for v in chosen(solution.outputs["is_cut"])]
    return f"without {named('node', some)} the graph falls apart" if some else "there is no cut node"


def _bridges(solution: Solution) -> str:
    edges, _ = _pairs(solution, "is_bridge")  # of pairs without an edge nothing is asked
    return named("bridge", edges) if edges else "there is no bridge"


def _spanning_edges(solution: Solution) -> str:
    A, joined = solution.sample.inputs["A"], solution.outputs["in_mst"] == 1
    edges, others = _pairs(solution, "in_mst")
    weight = np.triu(A * (joined | joined.T), 1).astype(float).sum()
    return _joined(
        f"the tree has {named('edge', edges)}, of weight {exact(weight)}" if edges else "no edge is in the tree",
        others and f"it has {named('pair', others)} too, where there is no edge",
    )


def _pairs(solution: Solution, output: str) -> tuple[list[str], list[str]]:
    """The chosen edges, and chosen pairs without an edge: `0–3`, or `0→3` where only one direction is chosen."""
    A, names, mask = solution.sample.inputs["A"], solution.names, solution.outputs[output] == 1
    edges, others = [], []
    for i, j in np.argwhere(mask & ~(mask.T & np.tri(len(mask), k=-1, dtype=bool))):
        pair = f"{names[i]}{'–' if mask[j, i] else '→'}{names[j]}"
        (edges if A[i, j] != 0 or A[j, i] != 0 else others).append(pair)
    return edges, others


def _spanning_tree(solution: Solution) -> str:
    inputs, names, pi = solution.sample.inputs, solution.names, solution.outputs["pi"]
    edges = [f"{names[before]}–{names[v]}" for v, before in enumerate(pi) if before != v]
    alone = [names[v] for v, before in enumerate(pi) if before == v and v != int(inputs["s"])]
    weight = sum(float(inputs["A"][before, v]) for v, before in enumerate(pi) if before != v)
    return _joined(
        f"the tree has {named('edge', edges)}, of weight {exact(weight)}" if edges else "the tree has no edge",
        alone and f"no path to {named('node', alone)}",
    )


def _all_paths(solution: Solution) -> str:
    """Pi[i, j] is the node before j on the way from i; the ways of most nodes are told, and who has none."""
    (sample, outputs, names), ways, none = solution, [], []
    for i, j in np.argwhere(np.triu(np.ones((sample.nodes, sample.nodes)), 1)):
        way = way_back(outputs["Pi"][i], int(i), int(j))
        length = length_of(sample.inputs["A"], way)
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
