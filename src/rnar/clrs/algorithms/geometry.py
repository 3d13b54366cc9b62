"""Computational geometry."""

import math

import numpy as np

from rnar.clrs.problems.points import COLLINEAR, Cloud, Segments
from rnar.clrs.recording import step
from rnar.clrs.registry import algorithm
from rnar.clrs.spec import graph, node
from rnar.common.compiling import kernel

cloud = Cloud()


@kernel
def turn(x, y, i, j, k):
    """The cross product of i -> j and i -> k: positive where the path i, j, k turns left."""
    return (x[j] - x[i]) * (y[k] - y[i]) - (y[j] - y[i]) * (x[k] - x[i])


@kernel
def in_box(x, y, i, j, k):
    """True if point k lies in the box that i and j span."""
    in_x = min(x[i], x[j]) <= x[k] <= max(x[i], x[j])
    return in_x and min(y[i], y[j]) <= y[k] <= max(y[i], y[j])


@algorithm(
    problem=Segments(),
    hints=dict(i=node.mask_one, j=node.mask_one, k=node.mask_one, dir=node.scalar, on_seg=node.mask),
    outputs=dict(intersect=graph.mask),
    multiplier=64,
)
def segments_intersect(trace, x, y):
    side, on_segment = np.zeros(4), np.zeros(4)  # of each end, with regard to the other segment
    step(trace, 0, 0, 0, side, on_segment)
    for k in range(4):
        i, j = (2, 3) if k < 2 else (0, 1)
        side[k] = turn(x, y, i, k, j)
        on_segment[k] = in_box(x, y, i, j, k)
        step(trace, i, j, k, side, on_segment)
    if np.sign(side[0]) * np.sign(side[1]) < 0 and np.sign(side[2]) * np.sign(side[3]) < 0:
        return 1
    for k in range(4):
        if side[k] == 0 and on_segment[k] == 1:
            return 1
    return 0


@kernel
def lowest(x, y):
    """The lowest point, the leftmost where several are: it lies on the hull."""
    best = 0
    for i in range(len(x)):
        if y[i] < y[best] or (y[i] == y[best] and x[i] < x[best]):
            best = i
    return best


@kernel
def nearer_first(x, y, order):
    """Points by their angle from the first; of several on one line with it, the nearer ones first. (In a user's own
    input: among those that are drawn, no three lie on one line.)"""
    best = order[0]
    for k in range(2, len(order)):
        i, place = order[k], k
        while (
            place > 1
            and math.fabs(turn(x, y, best, order[place - 1], i)) < COLLINEAR
            and (
                math.hypot(x[i] - x[best], y[i] - y[best])
                < math.hypot(x[order[place - 1]] - x[best], y[order[place - 1]] - y[best])
            )
        ):
            order[place] = order[place - 1]
            place -= 1
        order[place] = i
    return order


@algorithm(
    problem=cloud,
    hints=dict(
        best=node.mask_one,
        atans=node.scalar,
        in_hull_h=node.mask,
        stack_prev=node.pointer,
        last_stack=node.mask_one,
        i=node.mask_one,
        phase=graph.categorical(5),
    ),
    outputs=dict(in_hull=node.mask),
)
def graham_scan(trace, x, y):
    START, LOWEST, ANGLES, POP, PUSH = 0, 1, 2, 3, 4
    n = len(x)
    in_hull, below, angle = np.zeros(n), np.arange(n), np.zeros(n)  # the stack is a linked list through `below`
    step(trace, 0, angle, in_hull, below, 0, 0, START)
    best = top = lowest(x, y)
    in_hull[best] = 1
    step(trace, best, angle, in_hull, below, top, best, LOWEST)
    for i in range(n):
        angle[i] = math.atan2(y[i] - y[best], x[i] - x[best])
    angle[best] = -np.inf
    by_angle = nearer_first(x, y, np.argsort(angle, kind="mergesort"))
    angle[best] = 0
    step(trace, best, angle, in_hull, below, top, best, ANGLES)
    for k in range(1, n):
        i = by_angle[k]
        while k >= 2 and top != best and turn(x, y, below[top], top, i) < COLLINEAR:
            in_hull[top] = 0
            below[top], top = top, below[top]
            step(trace, best, angle, in_hull, below, top, i, POP)
        in_hull[i] = 1
        below[i], top = top, i
        step(trace, best, angle, in_hull, below, top, i, PUSH)
    return in_hull


@algorithm(
    problem=cloud,
    hints=dict(
        in_hull_h=node.mask,
        best=node.mask_one,
        last_point=node.mask_one,
        endpoint=node.mask_one,
        i=node.mask_one,
        phase=graph.categorical(2),
    ),
    outputs=dict(in_hull=node.mask),
    order_is_fixed=True,
)
def jarvis_march(trace, x, y):
    START, WRAP = 0, 1
    in_hull = np.zeros(len(x))
    step(trace, in_hull, 0, 0, 0, 0, START)
    best = last = lowest(x, y)
    while True:
        in_hull[last] = 1
        end = 0  # the next point of the hull: no other lies to the right of the line from last to it
        step(trace, in_hull, best, last, end, 0, WRAP)
        for i in range(len(x)):
            if end == last or (i != last and i != end and turn(x, y, last, end, i) <= 0):
                end = i
            step(trace, in_hull, best, last, end, i, WRAP)
        if in_hull[end] == 1:
            return in_hull
        last = end
