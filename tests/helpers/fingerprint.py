"""Everything the compiled code computes, in small and awkward sizes, as one digest for each task.

Run as a program it prints them, so that processes with other settings of numba can be compared.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from rnar.clrs import ALGORITHMS, Algorithm, find, trace
from rnar.clrs.batch import Arrays

SIZES = (2, 3, 4, 5, 8)  # an edge case of most, and the first that is none
STRING_SIZES = (3, 17, 20)

LONELY, LOOPS, FULL = np.zeros((3, 3)), np.eye(2), np.ones((4, 4))
FORWARD = np.triu(FULL, 1)
EQUAL = [0.5, 0.5, 0.5]

SEARCHED_GRAPHS = [(LONELY,), (LOOPS,), (FULL,)]
ROOTED_GRAPHS = [(LONELY, 2), (LOOPS, 0), (FULL, 3)]
STRINGS = [("A", "A"), ("A", "T"), ("ATC", "ATC"), ("AAAT", "AAC")]

OWN: dict[str, list[tuple[Any, ...]]] = {
    **dict.fromkeys(["insertion_sort", "bubble_sort", "heapsort", "quicksort", "minimum", "quickselect"], [(EQUAL,)]),
    **dict.fromkeys(["dfs", "strongly_connected_components"], [*SEARCHED_GRAPHS, (FORWARD,)]),
    **dict.fromkeys(["articulation_points", "bridges", "mst_kruskal", "floyd_warshall"], SEARCHED_GRAPHS),
    **dict.fromkeys(["bfs", "bellman_ford", "dijkstra", "mst_prim"], ROOTED_GRAPHS),
    **dict.fromkeys(["naive_string_matcher", "kmp_matcher"], STRINGS),
    "topological_sort": [(LONELY,), (FORWARD,)],
    "dag_shortest_paths": [(LONELY, 1), (FORWARD, 0), (FORWARD, 3)],
    "lcs_length": [("A", "A"), ("A", "T"), ("AAAA", "T"), ("T", "ATTA")],
    "binary_search": [(EQUAL, 0.0), (EQUAL, 0.5), (EQUAL, 1.0)],
    "find_maximum_subarray_kadane": [([-1.0, -1.0],), ([0.0, 0.0],)],
    "matrix_chain_order": [(EQUAL,)],
    "optimal_bst": [([0.0], [0.0, 0.0]), ([0.2, 0.2], [0.2, 0.2, 0.2])],
    "activity_selector": [([0.0, 0.0], [1.0, 1.0])],
    "task_scheduling": [([1, 1, 9], EQUAL)],
    "segments_intersect": [([0.0, 1.0, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0])],
    "graham_scan": [([0.0, 1.0], [0.0, 0.0])],
    "jarvis_march": [([0.0, 1.0], [0.0, 0.0])],
}


def fingerprints() -> dict[str, str]:
    return {task: digest(arrays_of(task)) for task in ALGORITHMS}


def arrays_of(task: str) -> Iterator[Arrays]:
    for own in OWN.get(task, []):
        sample = trace(task, *own)
        yield from (sample.inputs, sample.hints, sample.outputs)
    algorithm, rng = find(task), np.random.RandomState(7)
    for n, options in settings(algorithm):
        batch = algorithm.sample(rng, n, 2, **options)
        yield from (batch.inputs, batch.hints, batch.outputs, {"lengths": batch.lengths})
    yield {"where the generator stopped": np.array(rng.randint(2**31))}


def settings(algorithm: Algorithm) -> list[tuple[int, dict[str, Any]]]:
    """The sizes that a task can have, with the options of the official sets and with those of training."""
    problem = algorithm.problem
    sizes = STRING_SIZES if "needle" in problem.options else SIZES
    return [(n, options) for n in sizes for options in ({}, problem.training) if can_be(algorithm, n, options)]


def can_be(algorithm: Algorithm, n: int, options: dict[str, Any]) -> bool:
    try:
        algorithm.check(n, 2, options)
    except ValueError:
        return False
    return True


def digest(stages: Iterable[Arrays]) -> str:
    found = hashlib.sha256()
    for arrays in stages:
        for name, array in arrays.items():
            found.update(f"{name} {array.dtype} {array.shape}".encode())
            found.update(array.tobytes())
    return found.hexdigest()


if __name__ == "__main__":
    print(json.dumps(fingerprints()))
