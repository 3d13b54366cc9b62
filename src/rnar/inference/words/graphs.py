"""Of graphs: who is reached from where, in which order, what holds them together."""

from collections.abc import Sequence

import numpy as np

from rnar.clrs import Sample
from rnar.clrs.pointers import path
from rnar.inference.equivalence import length_of
from rnar.inference.words.saying import MOST, Outputs, chosen, exact, named, several


def _reached(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    """Paths from the source, with their lengths where edges have any."""
    source, pi, A = int(sample.inputs["s"]), outputs["pi"], sample.inputs["A"]
    weighted, start = bool(((A != 0) & (A != 1)).any()), names[source]
    told, astray, none = [], [], []
    for v in (v for v in range(sample.nodes) if v != source):
        way = path(pi, v)
        length = length_of(A, way)
        if len(way) == 1:
            none.append(names[v])
        elif way[-1] != source or length is None:
            astray.append(names[v])
        else:
            told.append(f"{names[v]} from {names[way[1]]}" + (f" ({exact(length)})" if weighted else ""))
    said = [f"from node {start}: {several(told)}" if told else f"nothing is reached from node {start}"]
    if none:
        said.append(f"no path to {named('node', none)}")
    if astray:
        said.append(f"what should lead to {named('node', astray)} is no path from {start}")
    return "; ".join(said)


def _searched(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    pi = outputs["pi"]
    roots = [names[v] for v in range(sample.nodes) if pi[v] == v]
    found = [f"{names[v]} from {names[pi[v]]}" for v in range(sample.nodes) if pi[v] != v]
    begins = f"the search begins at {named('node', roots)}" if roots else "the search begins nowhere"
    return f"{begins}; {several(found)}" if found else begins


def _topological(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    order = [names[v] for v in path(outputs["topo"], int(outputs["topo_head"]))]
    said = " → ".join(order if len(order) <= 2 * MOST else [*order[: 2 * MOST], "…"])
    return f"in order: {said}" if len(order) == sample.nodes else f"{said}, {len(order)} of {sample.nodes} nodes"


def _components(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    groups: dict[int, list[str]] = {}
    for v, of in enumerate(outputs["scc_id"]):
        groups.setdefault(int(of), []).append(names[v])
    parts = [f"{{{', '.join(nodes)}}}" for nodes in groups.values() if len(nodes) > 1]
    alone = [nodes[0] for nodes in groups.values() if len(nodes) == 1]
    said = [named("component", parts, 6)] if parts else []
    return "; ".join([*said, *([f"alone: {several(alone)}"] if alone else [])])


def _cut_points(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    found = [names[v] for v in chosen(outputs["is_cut"])]
    return f"without {named('node', found)} the graph falls apart" if found else "there is no cut node"


def _bridges(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    edges, _ = _pairs(outputs["is_bridge"], sample.inputs["A"], names)  # of other pairs nothing is asked
    return named("bridge", edges) if edges else "there is no bridge"


def _spanning_edges(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    A, joined = sample.inputs["A"], outputs["in_mst"]
    edges, others = _pairs(joined, A, names)
    weight = (A * ((joined == 1) | (joined.T == 1)))[np.triu_indices(sample.nodes, 1)].astype(float).sum()
    said = f"the tree has {named('edge', edges)}, of weight {exact(weight)}" if edges else "no edge is in the tree"
    return f"{said}; it has {named('pair', others)} too, where there is no edge" if others else said


def _spanning_tree(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    source, pi, A = int(sample.inputs["s"]), outputs["pi"], sample.inputs["A"]
    joined = [v for v in range(sample.nodes) if pi[v] != v]
    alone = [names[v] for v in range(sample.nodes) if pi[v] == v and v != source]
    weight = sum(float(A[pi[v], v]) for v in joined)
    edges = [f"{names[pi[v]]}–{names[v]}" for v in joined]
    said = [f"the tree has {named('edge', edges)}, of weight {exact(weight)}"] if edges else ["the tree has no edge"]
    return "; ".join([*said, *([f"no path to {named('node', alone)}"] if alone else [])])


def _pairs(chosen: np.ndarray, A: np.ndarray, names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The edges that are chosen, and other pairs: `0–3`, or `0→3` where it is so in one direction only."""
    edges, others = [], []
    for i, j in np.argwhere(chosen == 1):
        both = chosen[j, i] == 1
        if not both or i <= j:
            (edges if A[i, j] != 0 or A[j, i] != 0 else others).append(f"{names[i]}{'–' if both else '→'}{names[j]}")
    return edges, others


SAYINGS = {
    **dict.fromkeys(("bfs", "bellman_ford", "dijkstra", "dag_shortest_paths"), _reached),
    "dfs": _searched,
    "topological_sort": _topological,
    "strongly_connected_components": _components,
    "articulation_points": _cut_points,
    "bridges": _bridges,
    "mst_kruskal": _spanning_edges,
    "mst_prim": _spanning_tree,
}
