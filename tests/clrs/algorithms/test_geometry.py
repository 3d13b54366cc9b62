from __future__ import annotations

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import ConvexHull

from helpers.instances import solved
from rnar.clrs import trace

HULLS = ["graham_scan", "jarvis_march"]

corner = st.integers(-3, 3)
corners = st.lists(st.tuples(corner, corner), min_size=4, max_size=4)


def meet(x: np.ndarray, y: np.ndarray) -> bool:
    """Have segments 0-1 and 2-3 a point in common? By solving a + t(b - a) = c + u(d - c) in exact fractions."""
    ax, bx, cx, dx = (Fraction(float(value)) for value in x)
    ay, by, cy, dy = (Fraction(float(value)) for value in y)
    rx, ry, sx, sy, qx, qy = bx - ax, by - ay, dx - cx, dy - cy, cx - ax, cy - ay
    across = rx * sy - ry * sx
    if across != 0:
        return 0 <= (qx * sy - qy * sx) / across <= 1 and 0 <= (qx * ry - qy * rx) / across <= 1
    if qx * ry != qy * rx or qx * sy != qy * sx:  # parallel, on two lines
        return False
    apart_x = max(ax, bx) < min(cx, dx) or max(cx, dx) < min(ax, bx)
    apart_y = max(ay, by) < min(cy, dy) or max(cy, dy) < min(ay, by)
    return not (apart_x or apart_y)


def test_segments_intersect_where_they_have_a_point_in_common():
    found = solved("segments_intersect", sizes=[4], batch=400)
    assert [sample.outputs["intersect"] for _, sample in found] == [meet(x, y) for (x, y), _ in found]
    assert 100 < sum(int(sample.outputs["intersect"]) for _, sample in found) < 300


@given(ends=corners)
def test_segments_that_touch_overlap_or_are_points_are_judged_exactly(ends):
    x, y = np.array(ends, float).T
    assert trace("segments_intersect", x, y).outputs["intersect"] == meet(x, y)


@pytest.mark.parametrize("task", HULLS)
def test_hulls_are_those_of_scipy(task):
    for (x, y), sample in solved(task, sizes=range(3, 21)):
        hull = ConvexHull(np.stack([x, y], axis=1)).vertices
        assert np.flatnonzero(sample.outputs["in_hull"]).tolist() == sorted(hull.tolist())


def sides(a: tuple[int, int], b: tuple[int, int], points: list[tuple[int, int]]) -> list[int]:
    """On which side of the line from a to b each point lies."""
    return [(b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) for c in points]


def is_unique(points: list[tuple[int, int]]) -> bool:
    """Whether no third point lies on an edge of the hull."""
    edges = [found for a, b in permutations(points, 2) if min(found := sides(a, b, points)) >= 0]
    return all(found.count(0) == 2 for found in edges)


@pytest.mark.parametrize("task", HULLS)
@given(points=st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), min_size=3, max_size=7))
def test_hulls_that_are_unique_are_those_of_scipy_and_others_are_refused(task, points):
    """Points may lie at equal heights, and on one line inside the hull."""
    x, y = np.array(points, float).T
    if not is_unique(points):
        with pytest.raises(ValueError, match="lie on one line along the hull, which is not unique then"):
            trace(task, x, y)
        return
    found = np.flatnonzero(trace(task, x, y).outputs["in_hull"])
    assert found.tolist() == sorted(ConvexHull(np.array(points)).vertices.tolist())


@pytest.mark.parametrize("task", HULLS)
@pytest.mark.parametrize("order", list(permutations(range(5)))[::7])
def test_a_square_has_its_corners_as_hull_wherever_its_centre_stands(task, order):
    x, y = np.array([(0, 0), (1, 0), (1, 1), (0, 1), (0.5, 0.5)])[list(order)].T
    assert trace(task, x, y).outputs["in_hull"].tolist() == (x != 0.5).tolist()


@pytest.mark.parametrize("task", HULLS)
def test_two_points_are_their_hull(task):
    assert all(sample.outputs["in_hull"].tolist() == [1, 1] for _, sample in solved(task, sizes=[2]))


@pytest.mark.parametrize("task", HULLS)
def test_of_the_lowest_points_the_leftmost_is_the_start(task):
    assert trace(task, [2.0, 0.0, 1.0], [0.0, 0.0, 1.0]).hints["best"][-1] == 1
