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


class Scaled(NamedTuple):
    """A problem as a network is given it."""

    sample: Sample
    how: str
    """what was done to the numbers; empty if nothing was"""


def scaled(task: str, own: Arguments, sample: Sample) -> Scaled:
    """The problem with its numbers in the range of training; as it is, where that cannot be or need not be done.

    `own` are its arguments as `Algorithm.own` gives them, `sample` is the same solved. Tasks that are not of the
    benchmark are left alone: nobody knows what moving numbers would change there.
    """
    problem = find(task).problem
    rule = RULES.get(type(problem)) if is_official(task) else None
    found = rule(problem, *(argument.astype(np.float64) for argument in own)) if rule else None
    if found is None:
        return Scaled(sample, "")
    arguments, how = found
    same_types = tuple(new.astype(old.dtype) for new, old in zip(arguments, own, strict=True))
    new = find(task).solve(same_types).sample(0)
    # Rounding may make two numbers equal that were not: then it is another problem.
    same = new.steps == sample.steps and all(
        np.array_equal(new.outputs[name], sample.outputs[name]) for name in sample.outputs
    )
    return Scaled(new, how) if same else Scaled(sample, "")


def _numbers(problem: Numbers, values: np.ndarray) -> Any:
    low, high = problem.options["low"], problem.options["high"]
    if _within(low, high, values):
        return None
    if low < 0 or problem.positive:  # sums and products matter, so that nothing may be added
        return (values / np.abs(values).max(),), DIVIDED
    return _moved(values), MOVED


def _sorted_and_target(problem: SortedAndTarget, key: np.ndarray, target: np.ndarray) -> Any:
    return None if _within(0, 1, key, target) else (_moved(key, target), MOVED)


def _activities(problem: Activities, s: np.ndarray, f: np.ndarray) -> Any:
    return None if _within(0, 1, s, f) else (_moved(s, f), MOVED)


def _tasks(problem: Tasks, d: np.ndarray, w: np.ndarray) -> Any:
    return None if _within(0, 1, w) else ((d, *_moved(w)), MOVED)  # of values nothing but their order counts


def _search_keys(problem: SearchKeys, p: np.ndarray, q: np.ndarray) -> Any:
    total = p.sum() + q.sum()
    return None if total == 0 or abs(total - 1) < 1e-6 else ((p / total, q / total), DIVIDED)


def _graphs(problem: Graphs, A: np.ndarray, *source: np.ndarray) -> Any:
    if not problem.weighted:
        return _edges(problem, A, *source)
    return None if _within(-1, 1, A) else ((A / np.abs(A).max(), *source), DIVIDED)


def _edges(problem: Any, A: np.ndarray, *source: np.ndarray) -> Any:
    return (
        None if np.isin(A, (0, 1)).all() else ((1.0 * (A != 0), *source), "taken as 1, for edges have no weights here")
    )


def _segments(problem: Segments, x: np.ndarray, y: np.ndarray) -> Any:
    if _within(0, 1, x, y):
        return None
    extent = max(np.ptp(x), np.ptp(y)) or 1.0
    return ((x - x.min()) / extent, (y - y.min()) / extent), MOVED


def _cloud(problem: Cloud, x: np.ndarray, y: np.ndarray) -> Any:
    radius = problem.options["radius"]
    if _within(0, radius, np.hypot(x, y)):
        return None
    x, y = x - (x.min() + x.max()) / 2, y - (y.min() + y.max()) / 2
    factor = radius / np.hypot(x, y).max()
    return (factor * x, factor * y), MOVED


RULES: dict[type, Callable[..., Any]] = {
    Numbers: _numbers,
    SortedAndTarget: _sorted_and_target,
    Activities: _activities,
    Tasks: _tasks,
    SearchKeys: _search_keys,
    Graphs: _graphs,
    CommunityGraphs: _edges,
    Segments: _segments,
    Cloud: _cloud,
}
"""by the kind of problem: (problem, *arguments) -> (other arguments, what was done), or None where nothing is needed"""


def _within(low: float, high: float, *values: np.ndarray) -> bool:
    return all(bool(((x >= low) & (x <= high)).all()) for x in values)


def _moved(*values: np.ndarray) -> tuple[np.ndarray, ...]:
    """All together between 0 and 1."""
    low, high = min(x.min() for x in values), max(x.max() for x in values)
    return tuple((x - low) / ((high - low) or 1.0) for x in values)
