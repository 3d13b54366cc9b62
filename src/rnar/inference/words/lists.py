"""Answers about lists: numbers to sort, search and select from, points, strings, tables of dynamic programming."""

import numpy as np
from numpy import ndarray as Array

from rnar.clrs import Sample
from rnar.clrs.naming import letters
from rnar.clrs.pointers import in_order
from rnar.inference.equivalence import DIAGONAL, LEFT, UP
from rnar.inference.words.saying import MOST, chosen, exact, named, several

LONGEST = 200  # letters of a formula


def _in_order(key: Array, pred: Array) -> str:
    keys = [exact(key[i]) for i in in_order(pred)]
    if len(keys) == len(key):
        return f"in order: {', '.join(keys) if len(keys) <= 2 * MOST else several(keys, 2 * MOST)}"
    return f"no order of all: it has {several(keys) or 'no first'}, and breaks off after {len(keys)} of {len(key)}"


def _minimum(key: Array, min: Array) -> str:
    return f"the minimum is {exact(key[min])}, at place {min}"


def _median(key: Array, median: Array) -> str:
    return f"the median is {exact(key[median])}, at place {median}"


def _place_of_target(key: Array, target: Array, return_: Array) -> str:
    i = int(return_)
    if key[i] == target:
        return f"{exact(target)} is at place {i}"
    if i == len(key) - 1 and key[i] < target:
        return f"{exact(target)} is larger than all, so that the last place is the answer, {i}"
    return f"{exact(target)} belongs at place {i}, where {exact(key[i])} is"


def _subarray(key: Array, start: Array, end: Array) -> str:
    if end < start:
        return f"places {start} to {end}, which are none: the end lies before the start"
    return f"the largest sum is {exact(key[start : end + 1].astype(float).sum())}, of places {start} to {end}"


def _activities(selected: Array) -> str:
    some = chosen(selected)
    return f"{named('activity', some)} {'are' if len(some) > 1 else 'is'} selected" if some else "none is selected"


def _scheduled(w: Array, selected: Array) -> str:
    some, worth = chosen(selected), exact(w[selected == 1].astype(float).sum())
    said = f"{named('task', some)} {'are' if len(some) > 1 else 'is'} scheduled, worth {worth}"
    return said if some else "no task is scheduled"


def _crossing(intersect: Array) -> str:
    return "the segments cross" if intersect == 1 else "the segments do not cross"


def _hull(in_hull: Array) -> str:
    return f"the hull has {named('point', chosen(in_hull))}" if chosen(in_hull) else "no point is on the hull"


def _match(string: Array, match: Array) -> str:
    if match < (string == 0).sum():
        return f"the needle is at place {match} of the haystack"
    return "the needle is not in the haystack"


def _common(sample: Sample, string: Array, b: Array) -> str:
    """What one reads along the arrows of the table, from its end."""
    first, key = int((string == 0).sum()), letters(sample)
    i, j, taken, differ = first - 1, len(key) - first - 1, [], 0
    while i >= 0 and j >= 0:
        arrow = b[i, first + j]
        if arrow == DIAGONAL:
            taken.append(key[i])
            differ += key[i] != key[first + j]
        elif arrow not in (UP, LEFT):
            return "the arrows of the table lead nowhere"
        i, j = i - (arrow in (DIAGONAL, UP)), j - (arrow in (DIAGONAL, LEFT))
    if not taken:
        return "they have no letter in common"
    said = f"the longest common subsequence is {''.join(reversed(taken))}, {len(taken)} letter{'s' * (len(taken) > 1)}"
    return f"{said}, of which {differ} {'is' if differ == 1 else 'are'} not common" if differ else said


def _parentheses(p: Array, s: Array) -> str:
    """Matrix i has p[i - 1] rows and p[i] columns; s[i, j] is the last matrix of the left part of i..j."""

    def product(i: int, j: int) -> tuple[str, float]:
        """A formula, and the multiplications it takes; NaN if a split lies outside of its range."""
        if i == j:
            return f"M{i}", 0.0
        k = int(s[i, j])
        if not i <= k < j:
            return "", np.nan
        (left, before), (right, after) = product(i, k), product(k + 1, j)
        return f"({left} {right})", before + after + float(p[i - 1]) * float(p[k]) * float(p[j])

    said, work = product(1, len(p) - 1)
    if np.isnan(work):
        return "no order: it splits where there is nothing to split"
    return f"{_short(said)}, with {exact(work)} multiplications"


def _search_tree(p: Array, q: Array, root: Array) -> str:
    """root[i, j] is the root of the keys i..j-1."""
    p, q = p.astype(float), q.astype(float)

    def tree(i: int, j: int) -> tuple[str, float]:
        """A formula, and the expected cost; NaN if a root lies outside of its range."""
        if i == j:
            return "", q[i]
        r = int(root[i, j])
        if not i <= r < j:
            return "?", np.nan
        (left, below), (right, above) = tree(i, r), tree(r + 1, j)
        cost = below + above + p[i:j].sum() + q[i : j + 1].sum()
        return (f"{r}({left or '–'} {right or '–'})" if left or right else str(r)), cost

    said, cost = tree(0, len(q) - 1)
    if np.isnan(cost):
        return f"no tree: {_short(said)}, a root lies outside of its range"
    return f"the tree {_short(said)}, of cost {exact(cost)}"


def _short(formula: str) -> str:
    return formula if len(formula) <= LONGEST else f"{formula[:LONGEST]}…"


LISTS = {
    **dict.fromkeys(("insertion_sort", "bubble_sort", "heapsort", "quicksort"), _in_order),
    "minimum": _minimum,
    "quickselect": _median,
    "binary_search": _place_of_target,
    "find_maximum_subarray_kadane": _subarray,
    "activity_selector": _activities,
    "task_scheduling": _scheduled,
    "segments_intersect": _crossing,
    **dict.fromkeys(("graham_scan", "jarvis_march"), _hull),
    **dict.fromkeys(("naive_string_matcher", "kmp_matcher"), _match),
    "lcs_length": _common,
    "matrix_chain_order": _parentheses,
    "optimal_bst": _search_tree,
}
