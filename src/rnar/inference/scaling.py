"""Scales a user's numbers to the range of training, where that does not change the problem.

A network has seen keys between 0 and 1 and nothing else; an order, a shortest path or a convex hull is the same if all
numbers are moved or divided together.
"""

from typing import NamedTuple

import numpy as np

from rnar.clrs import Sample, find
from rnar.clrs.problems.arrays import Activities, Numbers, SearchKeys, SortedAndTarget, Tasks
from rnar.clrs.problems.graphs import CommunityGraphs, Graphs
from rnar.clrs.problems.points import Cloud, Segments
from rnar.clrs.problems.problem import Arguments, Problem
from rnar.clrs.splits import is_official
from rnar.inference.domain import numbers

MOVED = "moved and divided"
DIVIDED = "divided"
TINY = np.finfo(np.float32).tiny
WEIGHTLESS = "taken as 1, for edges have no weights here"


class Scaled(NamedTuple):
    """A problem as a network is given it."""

    sample: Sample
    how: str = ""
    """what was done to the numbers; empty if nothing was"""


def scaled(task: str, own: Arguments, sample: Sample) -> Scaled:
    """The problem with its numbers in the range of training; as it is, where that cannot be or need not be done.

    `own` are its arguments as `Algorithm.own` gives them, `sample` is the same solved. Tasks that are not of the
    benchmark are left alone: nobody knows what moving numbers would change there.
    """
    if not is_official(task):
        return Scaled(sample)
    arguments = tuple(argument.astype(np.float64) for argument in own)
    changed, how = in_range(find(task).problem, *arguments)
    if all(np.array_equal(x, y) for x, y in zip(changed, arguments, strict=True)):
        return Scaled(sample)
    new = find(task).solve(tuple(x.astype(y.dtype) for x, y in zip(changed, own, strict=True))).sample(0)
    # Rounding may make two numbers equal that were not: then it is another problem.
    same = all(np.array_equal(new.outputs[name], x) for name, x in sample.outputs.items())
    return Scaled(new, how) if same and new.steps == sample.steps else Scaled(sample)


def in_range(problem: Problem, *given: np.ndarray) -> tuple[Arguments, str]:
    """The arguments of a problem in the range of training, and what was done to them."""
    match problem, given:
        case Numbers(options={"low": low, "high": high}), (x,) if low < 0 or problem.positive:
            # Sums and products matter, so that nothing may be added.
            return (x if low <= x.min() and x.max() <= high else x / np.abs(x).max(),), DIVIDED
        case ((Numbers() | SortedAndTarget() | Activities()), _):
            return _moved(*given), MOVED
        case Tasks(), (d, w):  # of values nothing but their order counts
            return (d, *_moved(w)), MOVED
        case SearchKeys(), (p, q):
            total = p.sum() + q.sum()
            return given if total == 0 or abs(total - 1) < 1e-6 else (p / total, q / total), DIVIDED
        case Graphs(weighted=True), (A, *source):
            return (A / max(1.0, np.abs(A).max()), *source), DIVIDED
        case ((Graphs() | CommunityGraphs()), (A, *source)):
            return (1.0 * (A != 0), *source), WEIGHTLESS
        case Segments(), (x, y) if min(x.min(), y.min()) < 0 or max(x.max(), y.max()) > 1:
            extent = max(np.ptp(x), np.ptp(y)) or 1.0
            return ((x - x.min()) / extent, (y - y.min()) / extent), MOVED
        case Cloud(options={"radius": radius}), (x, y) if np.hypot(x, y).max() > radius:
            x, y = (values - (values.min() + values.max()) / 2 for values in (x, y))
            factor = radius / np.hypot(x, y).max()
            return (factor * x, factor * y), MOVED
    return given, ""


def _moved(*values: np.ndarray) -> Arguments:
    """All together between 0 and 1, if they are not."""
    low, high = min(x.min() for x in values), max(x.max() for x in values)
    return values if 0 <= low and high <= 1 else tuple((x - low) / ((high - low) or 1.0) for x in values)


def merged(own: Arguments, seen: Scaled) -> list[str]:
    """The inputs in which numbers differ as they were given, and not in the 32 bits that a network sees."""
    algorithm = find(seen.sample.task)
    given = {} if seen.how == WEIGHTLESS else numbers(algorithm.spec.inputs, algorithm.problem.view(*own))
    return [name for name, x in given.items() if _count(x) > _count(seen.sample.inputs[name])]


def _count(x: np.ndarray) -> int:
    """How many different numbers there are; those too small for full precision in 32 bits are zero."""
    return len(np.unique(np.where(np.abs(x) < TINY, 0, x) if x.dtype == np.float32 else x))
