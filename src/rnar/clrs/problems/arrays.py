"""Lists of numbers: to sort, to search, to select from, to parenthesise, to schedule."""

from typing import Any

import numpy as np

from rnar.clrs.mersenne import Mersenne, below, fill
from rnar.clrs.problems.problem import Arguments, Problem, number, positions, uniform, vector, vectors
from rnar.clrs.spec import graph, node
from rnar.common.compiling import entry_point


class Numbers(Problem):
    """n numbers, uniform in [low, high)."""

    def __init__(self, name: str = "key", low: float = 0.0, positive: bool = False):
        self.inputs = {"pos": node.scalar, name: node.scalar}
        self.options = {"low": low, "high": 1.0}
        self.name = name
        self.positive = positive

    def draw(self, rng: Mersenne, n: int, batch: int, *, low: float, high: float) -> Arguments:
        return (uniform(rng, low, high, (batch, n)),)

    def own(self, values: Any) -> Arguments:
        values = vector(self.name, values)
        if self.positive and not (values > 0).all():
            raise ValueError(f"{self.name} must be positive, but holds {values.min()}")
        return (values,)


class SortedAndTarget(Problem):
    """A sorted list of n numbers, and a number to look for; all uniform in [low, high)."""

    inputs = {"pos": node.scalar, "key": node.scalar, "target": graph.scalar}
    options = {"low": 0.0, "high": 1.0}

    def draw(self, rng: Mersenne, n: int, batch: int, *, low: float, high: float) -> Arguments:
        drawn = uniform(rng, low, high, (batch, n + 1))
        return np.sort(drawn[:, :n], axis=1), drawn[:, n].copy()

    def own(self, key: Any, target: Any) -> Arguments:
        key = vector("key", key)
        if not (np.diff(key) >= 0).all():
            raise ValueError("key must be sorted in ascending order")
        return key, number("target", target)


class Activities(Problem):
    """n activities, each from its start s to its finish f: two uniform numbers in order."""

    inputs = {"pos": node.scalar, "s": node.scalar, "f": node.scalar}
    options = {"low": 0.0, "high": 1.0}

    def draw(self, rng: Mersenne, n: int, batch: int, *, low: float, high: float) -> Arguments:
        times = uniform(rng, low, high, (batch, 2, n))
        return times.min(axis=1), times.max(axis=1)

    def own(self, s: Any, f: Any) -> Arguments:
        s, f = vectors(s=s, f=f)
        if not (s < f).all():
            i = int(np.argmax(s >= f))
            raise ValueError(f"activity {i} finishes at {f[i]}, and not after it starts at {s[i]}")
        return s, f


class Tasks(Problem):
    """n tasks of unit length with a deadline d from 1 to max_deadline (None: n) and a value w in [low, high)."""

    inputs = {"pos": node.scalar, "d": node.scalar, "w": node.scalar}
    options = {"max_deadline": None, "low": 0.0, "high": 1.0}

    def draw(
        self, rng: Mersenne, n: int, batch: int, *, max_deadline: int | None, low: float, high: float
    ) -> Arguments:
        return draw_tasks(rng, batch, n, max_deadline or n, float(low), float(high))

    def own(self, d: Any, w: Any) -> Arguments:
        d, w = vectors(d=d, w=w)
        if not (d >= 1).all():
            raise ValueError(f"a deadline must be at least 1, but d holds {d.min()}")
        return d, w


class SearchKeys(Problem):
    """n keys looked up with probability p, and n + 1 gaps between them with probability q: n + 1 nodes."""

    inputs = {"pos": node.scalar, "p": node.scalar, "q": node.scalar}
    options = {}

    def draw(self, rng: Mersenne, n: int, batch: int) -> Arguments:
        weights = uniform(rng, 0.0, 1.0, (batch, n + n + 1))
        weights /= weights.sum(axis=1, keepdims=True)
        return weights[:, :n].copy(), weights[:, n:].copy()

    def view(self, p: np.ndarray, q: np.ndarray) -> dict[str, np.ndarray]:
        last_has_no_key = np.zeros((len(p), 1))
        return {"pos": positions(q.shape[1], q), "p": np.concatenate([p, last_has_no_key], axis=1), "q": q}

    def own(self, p: Any, q: Any) -> Arguments:
        p, q = vector("p", p, smallest=1), vector("q", q)
        if len(q) != len(p) + 1:
            raise ValueError(f"q must have one entry more than p, but they have {len(q)} and {len(p)}")
        if p.min() < 0 or q.min() < 0:
            raise ValueError("probabilities must not be negative")
        return p, q


@entry_point
def draw_tasks(rng, batch, n, max_deadline, low, high):
    d, w = np.empty((batch, n)), np.empty((batch, n))
    for b in range(batch):
        for i in range(n):
            d[b, i] = below(rng, max_deadline) + 1
        fill(rng, w[b])
    return d, low + (high - low) * w
