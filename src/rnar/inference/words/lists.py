"""Of lists: numbers that are sorted, searched, selected from; points in the plane; two strings."""

from collections.abc import Sequence
from typing import Any

from rnar.clrs import Sample
from rnar.clrs.naming import letters
from rnar.clrs.pointers import in_order
from rnar.inference.equivalence import DIAGONAL, LEFT, UP
from rnar.inference.words.saying import MOST, Outputs, chosen, exact, named, several


def _in_order(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    order = in_order(outputs["pred"])
    keys = [exact(sample.inputs["key"][i]) for i in order]
    if len(order) == sample.nodes:
        return f"in order: {', '.join(keys) if len(keys) <= 2 * MOST else several(keys, 2 * MOST)}"
    return f"no order of all: it has {several(keys) or 'no first'}, and breaks off after {len(order)} of {sample.nodes}"


def _minimum(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    return f"the minimum is {_number_at(sample, outputs['min'])}"


def _median(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    return f"the median is {_number_at(sample, outputs['median'])}"


def _number_at(sample: Sample, i: Any) -> str:
    return f"{exact(sample.inputs['key'][int(i)])}, at place {int(i)}"


def _place_of_target(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    key, target, i = sample.inputs["key"], sample.inputs["target"], int(outputs["return"])
    if key[i] == target:
        return f"{exact(target)} is at place {i}"
    if i == len(key) - 1 and key[i] < target:
        return f"{exact(target)} is larger than all, so that the last place is the answer, {i}"
    return f"{exact(target)} belongs at place {i}, where {exact(key[i])} is"


def _subarray(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    start, end = int(outputs["start"]), int(outputs["end"])
    if end < start:
        return f"places {start} to {end}, which are none: the end lies before the start"
    total = sample.inputs["key"][start : end + 1].astype(float).sum()
    return f"the largest sum is {exact(total)}, of places {start} to {end}"


def _activities(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    found = chosen(outputs["selected"])
    return f"{named('activity', found)} {'are' if len(found) > 1 else 'is'} selected" if found else "none is selected"


def _scheduled(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    found = chosen(outputs["selected"])
    if not found:
        return "no task is scheduled"
    worth = exact(sample.inputs["w"][found].astype(float).sum())
    return f"{named('task', found)} {'are' if len(found) > 1 else 'is'} scheduled, worth {worth}"


def _crossing(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    return "the segments cross" if int(outputs["intersect"]) == 1 else "the segments do not cross"


def _hull(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    found = chosen(outputs["in_hull"])
    return f"the hull has {named('point', found)}" if found else "no point is on the hull"


def _match(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    place, first = int(outputs["match"]), int((sample.inputs["string"] == 0).sum())
    if place < first:
        return f"the needle is at place {place} of the haystack"
    return "the needle is not in the haystack"


def _common(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    """What one reads along the arrows of the table, from its end."""
    b, first, key = outputs["b"], int((sample.inputs["string"] == 0).sum()), letters(sample)
    i, j, taken, differ = first - 1, sample.nodes - first - 1, [], 0
    while i >= 0 and j >= 0:
        arrow = int(b[i, first + j])
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


SAYINGS = {
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
}
