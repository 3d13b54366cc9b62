"""Greedy algorithms."""

import numpy as np

from rnar.clrs.problems.arrays import Activities, Tasks
from rnar.clrs.recording import step
from rnar.clrs.registry import algorithm
from rnar.clrs.spec import graph, node


@algorithm(
    problem=Activities(),
    hints=dict(selected_h=node.mask, m=node.mask_one, k=node.mask_one),
    outputs=dict(selected=node.mask),
    order_is_fixed=True,
)
def activity_selector(trace, s, f):
    selected = np.zeros(len(s))
    step(trace, selected, 0, 0)
    by_finish = np.argsort(f, kind="mergesort")
    k = by_finish[0]  # the last activity that was selected
    selected[k] = 1
    step(trace, selected, k, k)
    for m in by_finish[1:]:
        if s[m] >= f[k]:
            selected[m] = 1
            k = m
        step(trace, selected, m, k)
    return selected


@algorithm(
    problem=Tasks(),
    hints=dict(selected_h=node.mask, i=node.mask_one, t=graph.scalar),
    outputs=dict(selected=node.mask),
    order_is_fixed=True,
)
def task_scheduling(trace, d, w):
    # Not the book's algorithm: a task is accepted whenever fewer tasks than its deadline have been, though they
    # may fill all the slots before an earlier deadline. The reference does so, and its numbers depend on it.
    selected = np.zeros(len(d))
    step(trace, selected, 0, 0)
    by_value = np.argsort(-w, kind="mergesort")
    selected[by_value[0]] = 1
    t = 1  # how many tasks have been accepted
    step(trace, selected, by_value[0], t)
    for i in by_value[1:]:
        if t < d[i]:
            selected[i] = 1
            t += 1
        step(trace, selected, i, t)
    return selected
