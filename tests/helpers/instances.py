"""Instances to try the algorithms on: drawn as in training, and made by hypothesis with many ties and corner cases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import hypothesis.strategies as st
import numpy as np
from hypothesis.extra.numpy import arrays

from rnar.clrs import Sample, find

SIZES = range(2, 21)

letters = st.text("ATCG", min_size=1, max_size=10)
few_letters = st.text("AT", min_size=1, max_size=10)


def solved(task: str, sizes: Iterable[int] = SIZES, batch: int = 8) -> list[tuple[tuple[Any, ...], Sample]]:
    """Random problems of each size, drawn as in training, each with its solution."""
    algorithm, rng = find(task), np.random.RandomState(0)
    found = []
    for n in sizes:
        problems = algorithm.draw(rng, n, batch, **algorithm.problem.training)
        solutions = algorithm.solve(problems)
        found += [(tuple(argument[b] for argument in problems), solutions.sample(b)) for b in range(batch)]
    return found


def numbers(low: float = -1e3, high: float = 1e3, most: int = 20, least: int = 2) -> st.SearchStrategy[list[float]]:
    """Lists of any numbers, or of a few whole numbers, so that some are equal."""
    of_any = st.floats(low, high, allow_subnormal=False)
    of_few = st.integers(int(np.ceil(low)), int(np.ceil(low)) + 3).map(float)
    return st.lists(of_any, min_size=least, max_size=most) | st.lists(of_few, min_size=least, max_size=most)


def directed(most: int = 8) -> st.SearchStrategy[np.ndarray]:
    """Matrices of directed graphs, self-loops included, with few different weights."""
    weights = st.sampled_from([0.0, 0.0, 1.0, 2.0, 5.0])
    return st.integers(2, most).flatmap(lambda n: arrays(np.float64, (n, n), elements=weights))


def undirected(most: int = 8) -> st.SearchStrategy[np.ndarray]:
    """The same, symmetric."""
    return directed(most).map(lambda A: np.triu(A) + np.triu(A, 1).T)


def acyclic(most: int = 8) -> st.SearchStrategy[np.ndarray]:
    """The same, directed and without cycles, under any numbering of the nodes."""

    def renumbered(A: np.ndarray) -> st.SearchStrategy[np.ndarray]:
        return st.permutations(range(len(A))).map(lambda order: np.triu(A, 1)[np.ix_(order, order)])

    return directed(most).flatmap(renumbered)


def path_to(v: int, pi: np.ndarray) -> list[int]:
    """The nodes from the root of v's tree to v, where pi has each node's parent."""
    path = [int(v)]
    while pi[path[-1]] != path[-1]:
        path.append(int(pi[path[-1]]))
        assert len(path) <= len(pi), "the parents go round in a circle"
    return path[::-1]
