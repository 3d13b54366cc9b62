from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from helpers.instances import numbers, solved
from rnar.clrs import Sample, trace


def check(key: np.ndarray, sample: Sample) -> None:
    """Against the sums of all subarrays."""
    n, start, end = len(key), int(sample.outputs["start"]), int(sample.outputs["end"])
    best = max(sum(key[i : j + 1]) for i in range(n) for j in range(i, n))
    assert start <= end
    assert sum(key[start : end + 1]) == pytest.approx(best, abs=1e-9)
    assert sample.hints["best_sum"][-1] == pytest.approx(best, rel=1e-6, abs=1e-6)


def test_kadane_finds_a_subarray_of_the_greatest_sum():
    for (key,), sample in solved("find_maximum_subarray_kadane"):
        check(key, sample)


@given(key=numbers(-10, 10, most=12))
def test_kadane_finds_a_subarray_of_the_greatest_sum_among_equals(key):
    check(np.array(key), trace("find_maximum_subarray_kadane", key))


def test_where_all_keys_are_negative_the_subarray_is_the_greatest_of_them():
    outputs = trace("find_maximum_subarray_kadane", [-3.0, -1.0, -2.0]).outputs
    assert (outputs["start"], outputs["end"]) == (1, 1)
