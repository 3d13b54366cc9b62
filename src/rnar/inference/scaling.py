"""Scales a user's numbers to the range of training, where that does not change the problem.

A network has seen keys between 0 and 1 and nothing else; an order, a shortest path or a convex hull is the same if all
numbers are moved or divided together.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rnar.clrs import Sample, find
from rnar.clrs.problems.arrays import Activities, Numbers, SearchKeys, SortedAndTarget, Tasks
from rnar.clrs.problems.graphs import CommunityGraphs, Graphs
from rnar.clrs.problems.points import Cloud, Segments
from rnar.clrs.problems.problem import Arguments
from rnar.clrs.splits import is_official

MOVED = "moved and divided"
DIVIDED = "divided"
TINY = np.finfo(np.float32).tiny
WEIGHTLESS = "taken as 1, for edges have no weights here"


class Scaled(NamedTuple):
    """A problem as a network is given it."""

    sample: Sample
    how: str
    """what was done to the numbers; empty if nothing was"""

    def merged(self, own: Arguments) -> list[str]:
        """The inputs in which numbers of the problem differ, given as in `scaled`, and not in the 32 bits here."""
        algorithm = find(self.sample.task)
        given = {} if self.how == WEIGHTLESS else algorithm.problem.view(*own)
        names = [name for name, feature in algorithm.spec.inputs.items() if feature.kind == "scalar" and name != "pos"]
        return [name for name in names if name in given and _several(given[name]) > _several(self.sample.inputs[name])]


def scaled(task: str, own: Arguments, sample: Sample) -> Scaled:
    """The problem with its numbers in the range of training; as it is, where that cannot be or need not be done.

    `own` are its arguments as `Algorithm.own` gives them, `sample` is the same solved. Tasks that are not of the
    benchmark are left alone: nobody knows what moving numbers would change there.
    """
    problem = find(task).problem
    rule = RULES.get(type(problem)) if is_official(task) else None
    arguments = tuple(argument.astype(np.float64) for argument in own)
    found, how = rule(problem, *arguments) if rule else (arguments, "")
    if all(np.array_equal(x, y) for x, y in zip(found, arguments, strict=True)):
        return Scaled(sample, "")
    new = find(task).solve(tuple(x.astype(y.dtype) for x, y in zip(found, own, strict=True))).sample(0)
    # Rounding may make two numbers equal that were not: then it is another problem.
    same = all(np.array_equal(new.outputs[name], x) for name, x in sample.outputs.items())
    return Scaled(new, how) if same and new.steps == sample.steps else Scaled(sample, "")


def _several(x: np.ndarray) -> int:
    """How many different numbers there are; those too small for full precision in 32 bits are zero."""
    return len(np.unique(np.where(np.abs(x) < TINY, 0, x) if x.dtype == np.float32 else x))


def _numbers(problem: Numbers, x: np.ndarray) -> Any:
    low, high = problem.options["low"], problem.options["high"]
    if low < 0 or problem.positive:  # sums and products matter, so that nothing may be added
        return (x if low <= x.min() and x.max() <= high else x / np.abs(x).max(),), DIVIDED
    return _moved(x)


def _moved(*values: np.ndarray) -> Any:
    """All together between 0 and 1, if they are not."""
    low, high = min(x.min() for x in values), max(x.max() for x in values)
    inside = 0 <= low and high <= 1
    return tuple(x if inside else (x - low) / ((high - low) or 1.0) for x in values), MOVED


def _search_keys(problem: SearchKeys, p: np.ndarray, q: np.ndarray) -> Any:
    total = p.sum() + q.sum()
    total = 1.0 if total == 0 or abs(total - 1) < 1e-6 else total
    return (p / total, q / total), DIVIDED


def _graphs(problem: Graphs, A: np.ndarray, *source: np.ndarray) -> Any:
    return ((A / max(1.0, np.abs(A).max()), *source), DIVIDED) if problem.weighted else _weightless(problem, A, *source)


def _weightless(problem: Any, A: np.ndarray, *source: np.ndarray) -> Any:
    return (1.0 * (A != 0), *source), WEIGHTLESS


def _segments(problem: Segments, x: np.ndarray, y: np.ndarray) -> Any:
    if min(x.min(), y.min()) >= 0 and max(x.max(), y.max()) <= 1:
        return (x, y), ""
    extent = max(np.ptp(x), np.ptp(y)) or 1.0
    return ((x - x.min()) / extent, (y - y.min()) / extent), MOVED


def _cloud(problem: Cloud, x: np.ndarray, y: np.ndarray) -> Any:
    radius = problem.options["radius"]
    if np.hypot(x, y).max() <= radius:
        return (x, y), ""
    x, y = x - (x.min() + x.max()) / 2, y - (y.min() + y.max()) / 2
    factor = radius / np.hypot(x, y).max()
    return (factor * x, factor * y), MOVED


RULES: dict[type, Callable[..., Any]] = {
    Numbers: _numbers,
    SortedAndTarget: lambda problem, *x: _moved(*x),
    Activities: lambda problem, *x: _moved(*x),
    Tasks: lambda problem, d, w: ((d, *_moved(w)[0]), MOVED),  # of values nothing but their order counts
    SearchKeys: _search_keys,
    Graphs: _graphs,
    CommunityGraphs: _weightless,
    Segments: _segments,
    Cloud: _cloud,
}
"""by the kind of problem: (problem, *arguments) -> (arguments in the range of training, what was done to them)"""
