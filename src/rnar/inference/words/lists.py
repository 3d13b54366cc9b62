"""Answers about lists: numbers to sort, search and select from, points, strings, tables of dynamic programming."""

import numpy as np

from rnar.clrs.naming import letters
from rnar.clrs.pointers import in_order
from rnar.inference.equivalence import DIAGONAL, LEFT, UP
from rnar.inference.words.saying import MOST, Solution, chosen, exact, named, several

LONGEST = 200  # letters of a formula


def _in_order(solution: Solution) -> str:
    sample, order = solution.sample, in_order(solution.outputs["pred"])
    keys = [exact(sample.inputs["key"][i]) for i in order]
    if len(order) == sample.nodes:
        return f"in order: {', '.join(keys) if len(keys) <= 2 * MOST else several(keys, 2 * MOST)}"
    return f"no order of all: it has {several(keys) or 'no first'}, and breaks off after {len(order)} of {sample.nodes}"


def _number_at(solution: Solution, output: str) -> str:
    i = int(solution.outputs[output])
    return f"{exact(solution.sample.inputs['key'][i])}, at place {i}"


def _place_of_target(solution: Solution) -> str:
    key, target, i = solution.sample.inputs["key"], solution.sample.inputs["target"], int(solution.outputs["return"])
    if key[i] == target:
        return f"{exact(target)} is at place {i}"
    if i == len(key) - 1 and key[i] < target:
        return f"{exact(target)} is larger than all, so that the last place is the answer, {i}"
    return f"{exact(target)} belongs at place {i}, where {exact(key[i])} is"


def _subarray(solution: Solution) -> str:
    start, end = (int(solution.outputs[name]) for name in ("start", "end"))
    if end < start:
        return f"places {start} to {end}, which are none: the end lies before the start"
    total = solution.sample.inputs["key"][start : end + 1].astype(float).sum()
    return f"the largest sum is {exact(total)}, of places {start} to {end}"


def _selected(solution: Solution) -> str:
    some, w = chosen(solution.outputs["selected"]), solution.sample.inputs.get("w")
    are = "are" if len(some) > 1 else "is"
    if w is None:
        return f"{named('activity', some)} {are} selected" if some else "none is selected"
    worth = exact(w[some].astype(float).sum())
    return f"{named('task', some)} {are} scheduled, worth {worth}" if some else "no task is scheduled"


def _hull(solution: Solution) -> str:
    some = chosen(solution.outputs["in_hull"])
    return f"the hull has {named('point', some)}" if some else "no point is on the hull"


def _match(solution: Solution) -> str:
    place = int(solution.outputs["match"])
    if place < (solution.sample.inputs["string"] == 0).sum():
        return f"the needle is at place {place} of the haystack"
    return "the needle is not in the haystack"


def _common(solution: Solution) -> str:
    """What one reads along the arrows of the table, from its end."""
    sample, key = solution.sample, letters(solution.sample)
    first = int((sample.inputs["string"] == 0).sum())
    i, j, taken, differ = first - 1, sample.nodes - first - 1, [], 0
    while i >= 0 and j >= 0:
        arrow = int(solution.outputs["b"][i, first + j])
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


def _parentheses(solution: Solution) -> str:
    """Matrix i has p[i - 1] rows and p[i] columns; s[i, j] is the last matrix of the left part of i..j."""
    p, s = solution.sample.inputs["p"].astype(float), solution.outputs["s"]

    def product(i: int, j: int) -> tuple[str, float]:
        """A formula, and the multiplications it takes; NaN if a split lies outside of its range."""
        if i == j:
            return f"M{i}", 0.0
        k = int(s[i, j])
        if not i <= k < j:
            return "", np.nan
        (left, before), (right, after) = product(i, k), product(k + 1, j)
        return f"({left} {right})", before + after + p[i - 1] * p[k] * p[j]

    said, work = product(1, len(p) - 1)
    if np.isnan(work):
        return "no order: it splits where there is nothing to split"
    return f"{_short(said)}, with {exact(work)} multiplications"


def _search_tree(solution: Solution) -> str:
    """root[i, j] is the root of the keys i..j-1."""
    p, q = (solution.sample.inputs[name].astype(float) for name in ("p", "q"))

    def tree(i: int, j: int) -> tuple[str, float]:
        """A formula, and the expected cost; NaN if a root lies outside of its range."""
        if i == j:
            return "", q[i]
        r = int(solution.outputs["root"][i, j])
        if not i <= r < j:
            return "?", np.nan
        (left, below), (right, above) = tree(i, r), tree(r + 1, j)
        cost = below + above + p[i:j].sum() + q[i : j + 1].sum()
        return (f"{r}({left or '–'} {right or '–'})" if left or right else str(r)), cost

    said, cost = tree(0, solution.sample.nodes - 1)
    if np.isnan(cost):
        return f"no tree: {_short(said)}, a root lies outside of its range"
    return f"the tree {_short(said)}, of cost {exact(cost)}"


def _short(formula: str) -> str:
    return formula if len(formula) <= LONGEST else f"{formula[:LONGEST]}…"


LISTS = {
    **dict.fromkeys(("insertion_sort", "bubble_sort", "heapsort", "quicksort"), _in_order),
    "minimum": lambda solution: f"the minimum is {_number_at(solution, 'min')}",
    "quickselect": lambda solution: f"the median is {_number_at(solution, 'median')}",
    "binary_search": _place_of_target,
    "find_maximum_subarray_kadane": _subarray,
    **dict.fromkeys(("activity_selector", "task_scheduling"), _selected),
    "segments_intersect": lambda solution: (
        f"the segments {'' if solution.outputs['intersect'] == 1 else 'do not '}cross"
    ),
    **dict.fromkeys(("graham_scan", "jarvis_march"), _hull),
    **dict.fromkeys(("naive_string_matcher", "kmp_matcher"), _match),
    "lcs_length": _common,
    "matrix_chain_order": _parentheses,
    "optimal_bst": _search_tree,
}
