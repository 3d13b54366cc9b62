from __future__ import annotations

import bisect

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from helpers.instances import numbers, solved
from rnar.clrs import trace


def test_minimum_is_found():
    for (key,), sample in solved("minimum"):
        assert sample.outputs["min"] == np.argmin(key)


@given(key=numbers())
def test_the_first_of_equal_minima_is_found(key):
    assert trace("minimum", key).outputs["min"] == key.index(min(key))


def test_quickselect_finds_the_upper_median():
    for (key,), sample in solved("quickselect"):
        assert sample.outputs["median"] == np.argsort(key)[len(key) // 2]


@given(key=numbers())
def test_quickselect_finds_the_upper_median_among_equal_keys(key):
    assert key[trace("quickselect", key).outputs["median"]] == sorted(key)[len(key) // 2]


def test_binary_search_finds_the_first_key_that_is_not_less():
    for (key, target), sample in solved("binary_search"):
        assert sample.outputs["return"] == min(bisect.bisect_left(key, target), len(key) - 1)


@given(key=numbers().map(sorted), data=st.data())
def test_binary_search_finds_the_first_of_equal_keys(key, data):
    target = data.draw(st.sampled_from(key) | st.floats(-2e3, 2e3))
    found = trace("binary_search", key, target).outputs["return"]
    assert found == min(bisect.bisect_left(key, target), len(key) - 1)
