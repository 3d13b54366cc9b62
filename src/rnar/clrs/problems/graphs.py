"""Random graphs, as the reference draws them.

Two of its quirks decide the distribution and are kept (google-deepmind/clrs #9, #107): an undirected graph
is a directed one times its transpose, so that an edge has probability p squared and a self-loop p; and
the weight of an undirected edge is sqrt(w_ij w_ji + 0.001), which is not uniform.
"""

import math
from typing import Any

import numpy as np

from rnar.clrs.mersenne import Mersenne, below, permutation, trials, uniform
from rnar.clrs.problems.problem import Arguments, Problem, positions, square_matrix
from rnar.clrs.spec import edge, node
from rnar.common.compiling import entry_point, kernel

TRAINING_P = tuple(0.1 + 0.1 * i for i in range(9))
SPARSE_TRAINING_P = tuple(p / 2 for p in TRAINING_P)


class Graphs(Problem):
    """Erdős-Rényi graphs with edge probability p, or one chosen from a tuple for each graph.

    Weights, where there are any, are uniform in [low, high) before they are made symmetric.
    """

    def __init__(
        self,
        p: float = 0.5,
        directed: bool = False,
        acyclic: bool = False,
        weighted: bool = False,
        rooted: bool = False,
    ):
        self.directed, self.acyclic, self.weighted, self.rooted = directed, acyclic, weighted, rooted
        self.inputs = {"pos": node.scalar, "A": edge.scalar, "adj": edge.mask}
        if rooted:
            self.inputs = {"pos": node.scalar, "s": node.mask_one, "A": edge.scalar, "adj": edge.mask}
        self.options = {"p": p, "low": 0.0, "high": 1.0} if weighted else {"p": p}
        self.training = {"p": TRAINING_P if p == 0.5 else SPARSE_TRAINING_P}

    def draw(
        self,
        rng: Mersenne,
        n: int,
        batch: int,
        *,
        p: float | tuple[float, ...],
        low: float = 0.0,
        high: float = 1.0,
    ) -> Arguments:
        kind = self.directed, self.acyclic, self.weighted, self.rooted
        A, s = draw_graphs(rng, batch, n, np.atleast_1d(p).astype(np.float64), *kind, float(low), float(high))
        return (A, s) if self.rooted else (A,)

    def complete(self, options: dict[str, Any]) -> dict[str, Any]:
        complete = super().complete(options)
        if not self.acyclic and complete.get("low", 0.0) < 0:
            raise ValueError(f"low={complete['low']}: a weight must not be negative but in an acyclic graph")
        return complete

    def view(self, A: np.ndarray, s: np.ndarray | None = None) -> dict[str, np.ndarray]:
        seen = {"pos": positions(A.shape[1], A), "A": A, "adj": adjacency(A)}
        return seen if s is None else {**seen, "s": s}

    def own(self, A: Any, s: Any = None) -> Arguments:
        A = square_matrix("A", A)
        if not self.directed and (A != A.T).any():
            i, j = (int(k) for k in np.argwhere(A != A.T)[0])
            raise ValueError(
                f"A must be symmetric, for this task is about undirected graphs, but A[{i}, {j}] is {A[i, j]} "
                f"and A[{j}, {i}] is {A[j, i]}"
            )
        if self.acyclic and not is_acyclic(A):
            raise ValueError("A must be the matrix of an acyclic graph, but it has a cycle")
        if not self.acyclic and A.min() < 0:
            raise ValueError(f"A must not hold negative weights, but it holds {A.min()}")
        if not self.rooted:
            if s is not None:
                raise ValueError("this task has no source, but one was given")
            return (A,)
        return A, source(s, len(A))

    def takes(self) -> tuple[str, ...]:
        return ("A", "s") if self.rooted else ("A",)


class CommunityGraphs(Problem):
    """Directed graphs of equal communities, each Erdős-Rényi with probability p; a few edges are toggled.

    A toggle that would lead from a later community to an earlier one is dropped, so that none closes a cycle.
    """

    inputs = {"pos": node.scalar, "A": edge.scalar, "adj": edge.mask}
    options = {"p": 0.5, "communities": 4, "toggle": 0.01}
    training = {"p": TRAINING_P}
    smallest = 1

    def draw(
        self, rng: Mersenne, n: int, batch: int, *, p: float | tuple[float, ...], communities: int, toggle: float
    ) -> Arguments:
        return (draw_communities(rng, batch, n, np.atleast_1d(p).astype(np.float64), communities, float(toggle)),)

    def view(self, A: np.ndarray) -> dict[str, np.ndarray]:
        return {"pos": positions(A.shape[1], A), "A": A, "adj": adjacency(A)}

    def own(self, A: Any) -> Arguments:
        A = square_matrix("A", A)
        if A.min() < 0:
            raise ValueError(f"A must not hold negative weights, but it holds {A.min()}")
        return (A,)

    def check_size(self, n: int, options: dict[str, Any]) -> None:
        if n < max(2, options["communities"]):
            raise ValueError(f"n={n} is too small for {options['communities']} communities")


@entry_point
def draw_graphs(rng, batch, n, ps, directed, acyclic, weighted, rooted, low, high):
    A, s = np.empty((batch, n, n)), np.zeros(batch, np.int64)
    for b in range(batch):
        joins = joined(rng, choose(rng, ps), n)
        if acyclic:
            joins = renumbered(rng, np.triu(joins, 1))
        if directed:
            A[b] = joins * weights(rng, n, low, high) if weighted else joins
        else:
            w = weights(rng, n, low, high) if weighted else joins
            for i in range(n):
                for j in range(i + 1):
                    A[b, i, j] = joins[i, j] * joins[j, i]
                    if weighted:  # the small number is the reference's guard against underflow
                        A[b, i, j] *= math.sqrt(w[i, j] * w[j, i] + 1e-3)
                    A[b, j, i] = A[b, i, j]
        if rooted:
            s[b] = below(rng, n)
    return A, s


@kernel
def weights(rng, n, low, high):
    return uniform(rng, low, high, n * n).reshape(n, n)


@entry_point
def draw_communities(rng, batch, n, ps, communities, toggle):
    A = np.zeros((batch, n, n))
    size = n // communities
    for b in range(batch):
        p = choose(rng, ps)
        for c in range(communities):
            start, end = c * size, (c + 1) * size if c < communities - 1 else n
            A[b, start:end, start:end] = joined(rng, p, end - start)
        toggled = joined(rng, toggle, n)
        for i in range(n):
            earlier = min(i // size, communities - 1) * size  # the nodes of the communities before that of i
            for j in range(earlier, n):
                if toggled[i, j] == 1:
                    A[b, i, j] = 1 - A[b, i, j]
        A[b] = renumbered(rng, A[b])
    return A


@kernel
def choose(rng, ps):
    """One of the probabilities. A single one takes nothing from the generator, as in the reference."""
    return ps[below(rng, len(ps))]


@kernel
def joined(rng, p, n):
    """For every ordered pair of n nodes: 1 with probability p, else 0."""
    return trials(rng, p, n * n).reshape(n, n)


@kernel
def renumbered(rng, A):
    """The same graph under a random numbering of its nodes."""
    order = permutation(rng, len(A))
    B = np.empty_like(A)
    for i in range(len(A)):
        for j in range(len(A)):
            B[i, j] = A[order[i], order[j]]
    return B


def adjacency(A: np.ndarray) -> np.ndarray:
    """Which pairs are joined, each node with itself included: [B, n, n]."""
    return (A + np.eye(A.shape[1])) != 0


def is_acyclic(A: np.ndarray) -> bool:
    """True if every node can be removed once nothing points at it."""
    left = np.ones(len(A), bool)
    while left.any():
        free = left & ~(A[left] != 0).any(axis=0)
        if not free.any():
            return False
        left &= ~free
    return True


def source(s: Any, n: int) -> int:
    if s is None:
        raise ValueError("this task needs a source: give the node to start from as s")
    if isinstance(s, bool) or not isinstance(s, (int, np.integer)) or not 0 <= s < n:
        raise ValueError(f"the source s must be a node from 0 to {n - 1}, not {s!r}")
    return int(s)
