"""Points in the plane: two segments, or a cloud whose convex hull is wanted."""

import math
from typing import Any

import numpy as np

from rnar.clrs.mersenne import Mersenne, trials
from rnar.clrs.mersenne import uniform as uniform_numbers
from rnar.clrs.problems.problem import Arguments, Problem, uniform, vector, vectors
from rnar.clrs.spec import node
from rnar.common.compiling import entry_point, kernel

COLLINEAR = 1e-12
TRIES = 1000


class Segments(Problem):
    """The ends of two segments, 0-1 and 2-3, uniform in a square; a fair coin decides whether they cross.

    There are always four nodes: the size that is asked for is ignored, as in the reference.
    """

    inputs = {"pos": node.scalar, "x": node.scalar, "y": node.scalar}
    options = {"low": 0.0, "high": 1.0}
    smallest = 1
    only_size = 4

    def draw(self, rng: Mersenne, n: int, batch: int, *, low: float, high: float) -> Arguments:
        return draw_segments(rng, batch, float(low), float(high))

    def own(self, x: Any, y: Any) -> Arguments:
        x, y = vector("x", x), vector("y", y)
        if len(x) != 4 or len(y) != 4:
            raise ValueError(f"two segments have four ends, but x and y have {len(x)} and {len(y)} entries")
        return x, y


class Cloud(Problem):
    """n points, uniform in a disk; drawn anew while any three of them lie on one line."""

    inputs = {"pos": node.scalar, "x": node.scalar, "y": node.scalar}
    options = {"radius": 2.0, "center": (0.0, 0.0)}

    def draw(self, rng: Mersenne, n: int, batch: int, *, radius: float, center: tuple[float, float]) -> Arguments:
        x, y = np.empty((batch, n)), np.empty((batch, n))
        for b in range(batch):
            x[b], y[b] = self._draw_one(rng, n, radius, center)
        return x, y

    def _draw_one(self, rng: Mersenne, n: int, radius: float, center: tuple[float, float]) -> Arguments:
        for _ in range(TRIES):
            angle = 2.0 * np.pi * uniform(rng, 0.0, 1.0, (n,))
            distance = radius * np.sqrt(uniform(rng, 0.0, 1.0, (n,)))
            x, y = distance * np.cos(angle) + center[0], distance * np.sin(angle) + center[1]
            if collinear(x, y)[0] < 0:
                return x, y
        raise ValueError(f"in {TRIES} tries no {n} points were found of which no three lie on one line")

    def own(self, x: Any, y: Any) -> Arguments:
        x, y = vectors(x=x, y=y)
        i, j, k = on_an_edge(x, y)
        if i >= 0:
            raise ValueError(f"points {i}, {j} and {k} lie on one line along the hull, which is not unique then")
        return x, y


@entry_point
def draw_segments(rng, batch, low, high):
    x, y = np.empty((batch, 4)), np.empty((batch, 4))
    for b in range(batch):
        shall_cross = trials(rng, 0.5, 1)[0] == 1
        while True:
            x[b], y[b] = uniform_numbers(rng, low, high, 4), uniform_numbers(rng, low, high, 4)
            if cross(x[b], y[b]) == shall_cross:
                break
    return x, y


@kernel
def cross(x, y):
    """True if segments 0-1 and 2-3 cross, by the quick test of the reference, which ignores collinear ends."""
    return left(x, y, 0, 2, 3) != left(x, y, 1, 2, 3) and left(x, y, 0, 1, 2) != left(x, y, 0, 1, 3)


@kernel
def left(x, y, a, b, c):
    """True if the path a, b, c turns left."""
    return (y[c] - y[a]) * (x[b] - x[a]) > (y[b] - y[a]) * (x[c] - x[a])


@entry_point
def on_an_edge(x: np.ndarray, y: np.ndarray) -> tuple[int, int, int]:
    """The first three points that lie on one line with no point to its right, or (-1, -1, -1)."""
    n = len(x)
    for i in range(n):
        for j in range(n):
            between, right = -1, False
            for k in range(n):
                side = (x[j] - x[i]) * (y[k] - y[i]) - (y[j] - y[i]) * (x[k] - x[i])
                if k != i and k != j and math.fabs(side) < COLLINEAR:
                    between = k
                right = right or side <= -COLLINEAR
            if i != j and between >= 0 and not right:
                return i, j, between
    return -1, -1, -1


@entry_point
def collinear(x: np.ndarray, y: np.ndarray) -> tuple[int, int, int]:
    """The first three points that lie on one line, or (-1, -1, -1)."""
    n = len(x)
    for i in range(n):
        for j in range(i + 1, n):
            dx, dy = x[j] - x[i], y[j] - y[i]
            for k in range(j + 1, n):
                if math.fabs(dx * (y[k] - y[i]) - dy * (x[k] - x[i])) < COLLINEAR:
                    return i, j, k
    return -1, -1, -1
