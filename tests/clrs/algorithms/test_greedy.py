from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from helpers.instances import numbers, solved
from rnar.clrs import trace


def most_compatible(s: np.ndarray, f: np.ndarray) -> int:
    """By dynamic programming over the activities in the order of their starts: the last one is taken, or it is not."""
    best: list[int] = []
    order = np.argsort(s)
    for rank, i in enumerate(order):
        before = [best[r] for r in range(rank) if f[order[r]] <= s[i]]
        best.append(1 + max(before, default=0))
    return max(best)


def are_compatible(chosen: list[int], s: np.ndarray, f: np.ndarray) -> bool:
    return all(f[i] <= s[j] or f[j] <= s[i] for i, j in combinations(chosen, 2))


def check_activities(s: np.ndarray, f: np.ndarray, selected: np.ndarray) -> None:
    chosen = np.flatnonzero(selected).tolist()
    assert are_compatible(chosen, s, f)
    assert len(chosen) == most_compatible(s, f)


def test_as_many_compatible_activities_are_selected_as_there_can_be():
    for (s, f), sample in solved("activity_selector"):
        check_activities(s, f, sample.outputs["selected"])


@given(times=st.lists(st.tuples(st.integers(0, 9), st.integers(1, 4)), min_size=2, max_size=10))
def test_an_activity_may_start_when_another_finishes(times):
    s, f = np.array([(start, start + length) for start, length in times], float).T
    check_activities(s, f, trace("activity_selector", s, f).outputs["selected"])


def accepted_by_the_reference(d: np.ndarray, w: np.ndarray) -> list[int]:
    """Its rule: in descending value, the first task, then each whose deadline exceeds the number of tasks so far."""
    chosen: list[int] = []
    for i in sorted(range(len(d)), key=lambda i: -w[i]):
        if not chosen or len(chosen) < d[i]:
            chosen.append(i)
    return sorted(chosen)


def best_value(d: np.ndarray, w: np.ndarray) -> float:
    """The best schedule's, by trying all sets: in each, the k-th earliest deadline must be k or later."""
    tasks = range(len(d))
    sets = (chosen for k in range(len(d) + 1) for chosen in combinations(tasks, k))
    in_time = (c for c in sets if all(x > k for k, x in enumerate(sorted(d[i] for i in c))))
    return max(sum(w[i] for i in chosen) for chosen in in_time)


def test_tasks_are_accepted_by_the_rule_of_the_reference():
    for (d, w), sample in solved("task_scheduling"):
        assert np.flatnonzero(sample.outputs["selected"]).tolist() == accepted_by_the_reference(d, w)


@given(w=numbers(), data=st.data())
def test_tasks_of_equal_value_are_accepted_in_the_order_of_their_numbers(w, data):
    d = data.draw(st.lists(st.integers(1, 8), min_size=len(w), max_size=len(w)))
    selected = trace("task_scheduling", d, w).outputs["selected"]
    assert np.flatnonzero(selected).tolist() == accepted_by_the_reference(np.array(d), np.array(w))


def test_task_scheduling_is_not_optimal_as_in_the_reference():
    """Task 1, then task 0 would both be in time; but a task that was accepted is never moved to a later slot."""
    d, w = np.array([2, 1, 2, 2]), np.array([5.0, 4.0, 3.0, 2.0])
    selected = trace("task_scheduling", d, w).outputs["selected"]
    assert selected.tolist() == [1, 0, 1, 0]
    assert w[selected == 1].sum() < best_value(d, w) == 9.0
