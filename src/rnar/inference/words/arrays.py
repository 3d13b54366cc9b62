"""Of lists of numbers: sorted, searched, selected from."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rnar.clrs import Sample
from rnar.clrs.pointers import in_order
from rnar.inference.words.saying import MOST, chosen, exact, named, several

Outputs = dict[str, np.ndarray]


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


SAYINGS = {
    **dict.fromkeys(("insertion_sort", "bubble_sort", "heapsort", "quicksort"), _in_order),
    "minimum": _minimum,
    "quickselect": _median,
    "binary_search": _place_of_target,
    "find_maximum_subarray_kadane": _subarray,
    "activity_selector": _activities,
    "task_scheduling": _scheduled,
}
