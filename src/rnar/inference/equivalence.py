"""Answers that differ from the algorithm's and are as good: another order of equal keys, another shortest path."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from rnar.clrs import Sample
from rnar.clrs.naming import letters
from rnar.clrs.pointers import in_order, path

Outputs = dict[str, np.ndarray]
DIAGONAL, UP, LEFT = 0, 1, 2  # as the table of a longest common subsequence has them


def equally_good(sample: Sample, outputs: Outputs) -> str:
    """How an answer differs from the algorithm's, if it solves the problem as well; else an empty string."""
    check, words = CHECKS.get(sample.task, (None, ""))
    return words if check and check(sample, outputs, sample.outputs) else ""


def quirk(sample: Sample) -> str:
    """In which way the benchmark's own answer is not the best, in words; empty if it is."""
    if sample.task != "task_scheduling":
        return ""
    d, w, best = sample.inputs["d"], sample.inputs["w"].astype(float), []
    for task in np.argsort(-w, kind="stable"):  # the most valuable first, if all can still be done in time
        best += [task] if _in_time(d[[*best, task]]) else []
    worth = w[best].sum()
    is_best = worth <= w[sample.outputs["selected"] == 1].sum() + 1e-6
    return "" if is_best else f"the benchmark's algorithm misses the best schedule here, worth {worth:.4g}"


def length_of(A: np.ndarray, way: list[int]) -> float:
    """The length of a path, given from its end; infinite where there is no edge."""
    weights = [float(A[u, v]) for u, v in pairwise(reversed(way))]
    return sum(weights) if all(weights) else np.inf


def way_back(before: np.ndarray, i: int, j: int) -> list[int]:
    """From j back to i, or as far as the pointers go. (A pointer of i itself may lead on, by a loop.)"""
    way = [j]
    while way[-1] != i and int(before[way[-1]]) not in way:
        way.append(int(before[way[-1]]))
    return way


def _sorted(sample: Sample, ours: Outputs, theirs: Outputs) -> bool:
    order = in_order(ours["pred"])
    return len(order) == sample.nodes and bool((np.diff(sample.inputs["key"][order]) >= 0).all())


def _same_key(sample: Sample, ours: Outputs, theirs: Outputs) -> bool:
    (mine,), (other,), key = ours.values(), theirs.values(), sample.inputs["key"]
    return bool(key[int(mine)] == key[int(other)])


def _same_target(sample: Sample, ours: Outputs, theirs: Outputs) -> bool:
    return bool(sample.inputs["key"][int(ours["return"])] == sample.inputs["target"])


def _same_sum(sample: Sample, ours: Outputs, theirs: Outputs) -> bool:
    sums = [sample.inputs["key"][int(x["start"]) : int(x["end"]) + 1].sum(dtype=float) for x in (ours, theirs)]
    return int(ours["start"]) <= int(ours["end"]) and bool(np.isclose(*sums))


def _as_many(sample: Sample, ours: Outputs, theirs: Outputs) -> bool:
    """As many activities, none of which begins before the one before it has finished."""
    mine = np.flatnonzero(ours["selected"])
    order = mine[np.argsort(sample.inputs["s"][mine], kind="stable")]
    compatible = (sample.inputs["s"][order[1:]] >= sample.inputs["f"][order[:-1]]).all()
    return bool(compatible) and len(mine) == int((theirs["selected"] == 1).sum())


def _worth_as_much(sample: Sample, ours: Outputs, theirs: Outputs) -> bool:
    """Worth as much or more, with at most t tasks whose deadline is t or earlier."""
    w = sample.inputs["w"].astype(float)
    mine, yours = (x["selected"] == 1 for x in (ours, theirs))
    return _in_time(sample.inputs["d"][mine]) and w[mine].sum() > w[yours].sum() - 1e-6


def _in_time(deadlines: np.ndarray) -> bool:
    return bool((np.sort(deadlines) >= np.arange(1, len(deadlines) + 1)).all())


def _as_short(sample: Sample, ours: Outputs, theirs: Outputs) -> bool:
    A = 1.0 * (sample.inputs["A"] != 0) if sample.task == "bfs" else sample.inputs["A"]
    for v in range(sample.nodes):
        mine, other = path(ours["pi"], v), path(theirs["pi"], v)
        if mine[-1] != other[-1] or not np.isclose(length_of(A, mine), length_of(A, other)):
            return False
    return True


def _all_as_short(sample: Sample, ours: Outputs, theirs: Outputs) -> bool:
    lengths = []
    for outputs in (ours, theirs):
        ways = [(i, way_back(outputs["Pi"][i], i, j)) for i, j in np.ndindex(sample.nodes, sample.nodes)]
        lengths.append([length_of(sample.inputs["A"], way) if way[-1] == i else np.inf for i, way in ways])
    return np.allclose(lengths[0], lengths[1])


def _topological(sample: Sample, ours: Outputs, theirs: Outputs) -> bool:
    order = path(ours["topo"], int(ours["topo_head"]))
    place = np.argsort(order)
    return len(order) == sample.nodes and all(place[u] < place[v] for u, v in np.argwhere(sample.inputs["A"] != 0))


def _same_components(sample: Sample, ours: Outputs, theirs: Outputs) -> bool:
    return np.array_equal(*(x["scc_id"][:, None] == x["scc_id"] for x in (ours, theirs)))


def _spanning_edges(sample: Sample, ours: Outputs, theirs: Outputs) -> bool:
    return _same_tree(sample.inputs["A"], ours["in_mst"] == 1, theirs["in_mst"] == 1)


def _spanning_tree(sample: Sample, ours: Outputs, theirs: Outputs) -> bool:
    """Pointers that lead to the source, along edges of a minimum spanning tree."""
    roots = [[path(x["pi"], v)[-1] for v in range(sample.nodes)] for x in (ours, theirs)]
    pointing = (x["pi"][:, None] == np.arange(sample.nodes) for x in (ours, theirs))
    return roots[0] == roots[1] and _same_tree(sample.inputs["A"], *pointing)


def _same_tree(A: np.ndarray, *trees: np.ndarray) -> bool:
    """True if two sets of edges [n, n] are as many, of one weight, and connect the same nodes."""
    loops, counts, weights, reached = np.eye(len(A), dtype=bool), [], [], []
    for edges in trees:
        edges = (edges | edges.T) & ~loops
        counts.append(edges.sum())
        weights.append(np.inf if (edges & (A == 0)).any() else A[np.triu(edges)].sum(dtype=float))
        connected = edges | loops
        for k in range(len(A)):
            connected |= connected[:, k : k + 1] & connected[k]
        reached.append(connected)
    return counts[0] == counts[1] and bool(np.isclose(*weights)) and np.array_equal(*reached)


def _same_subsequence(sample: Sample, ours: Outputs, theirs: Outputs) -> bool:
    """True if each arrow of the table leads along a longest common subsequence."""
    first, key = int((sample.inputs["string"] == 0).sum()), np.array(letters(sample))
    equal, arrows = key[:first, None] == key[first:], ours["b"][:first, first:]
    longest = np.zeros((equal.shape[0] + 1, equal.shape[1] + 1), int)
    for i, j in np.ndindex(equal.shape):
        longest[i + 1, j + 1] = longest[i, j] + 1 if equal[i, j] else max(longest[i, j + 1], longest[i + 1, j])
    up, left = longest[:-1, 1:] == longest[1:, 1:], longest[1:, :-1] == longest[1:, 1:]
    return bool(((arrows == DIAGONAL) & equal | (arrows == UP) & up | (arrows == LEFT) & left).all())


CHECKS: dict[str, tuple[Callable[[Sample, Outputs, Outputs], bool], str]] = {
    **dict.fromkeys(
        ("insertion_sort", "bubble_sort", "heapsort", "quicksort"), (_sorted, "another order among equals")
    ),
    **dict.fromkeys(("minimum", "quickselect"), (_same_key, "another of equal numbers")),
    "binary_search": (_same_target, "another place of the same number"),
    "find_maximum_subarray_kadane": (_same_sum, "another range of the same sum"),
    "activity_selector": (_as_many, "other activities, as many"),
    "task_scheduling": (_worth_as_much, "other tasks, worth as much or more"),
    **dict.fromkeys(("bfs", "bellman_ford", "dijkstra", "dag_shortest_paths"), (_as_short, "other paths, as short")),
    "floyd_warshall": (_all_as_short, "other paths, as short"),
    "topological_sort": (_topological, "another topological order"),
    "strongly_connected_components": (_same_components, "the same components, named by other nodes"),
    "mst_kruskal": (_spanning_edges, "another tree of the same weight"),
    "mst_prim": (_spanning_tree, "another tree of the same weight"),
    "lcs_length": (_same_subsequence, "other arrows, to a subsequence as long"),
}
"""by task: whether (problem, answer, the algorithm's answer) are equally good, and what is said of it"""
