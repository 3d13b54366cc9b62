from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from helpers.instances import numbers, solved
from rnar.clrs import trace

SORTS = ["insertion_sort", "bubble_sort", "heapsort", "quicksort"]
STABLE = ["insertion_sort", "bubble_sort"]


def followed(pred: np.ndarray) -> list[int]:
    """The nodes in the order which the predecessors give, the first being its own."""
    after = {int(p): i for i, p in enumerate(pred) if p != i}
    (first,) = np.flatnonzero(pred == np.arange(len(pred)))
    order = [int(first)]
    while order[-1] in after:
        order.append(after[order[-1]])
    return order


@pytest.mark.parametrize("task", SORTS)
def test_following_the_permutation_gives_the_keys_in_order(task):
    for (key,), sample in solved(task):
        assert followed(sample.outputs["pred"]) == np.argsort(key).tolist()


@pytest.mark.parametrize("task", SORTS)
@given(key=numbers())
def test_lists_with_equal_keys_are_sorted_too(task, key):
    order = followed(trace(task, key).outputs["pred"])
    assert sorted(order) == list(range(len(key)))
    assert [key[i] for i in order] == sorted(key)


@pytest.mark.parametrize("task", STABLE)
@given(key=numbers())
def test_insertion_and_bubble_sort_keep_the_order_of_equal_keys(task, key):
    assert followed(trace(task, key).outputs["pred"]) == np.argsort(key, kind="stable").tolist()


@pytest.mark.parametrize("task", SORTS)
def test_every_hint_shows_all_keys_in_one_list(task):
    for (key,), sample in solved(task, sizes=(2, 9)):
        for pred in sample.hints["pred_h"]:
            assert sorted(followed(pred)) == list(range(len(key)))


@given(key=numbers())
def test_heapsort_builds_a_heap_before_it_takes_anything(key):
    hints = trace("heapsort", key).hints
    first_taken = int(np.argmax(hints["phase"] == 1))
    parent = hints["parent"][first_taken - 1]
    assert all(key[parent[i]] >= key[i] for i in range(len(key)))
    assert np.count_nonzero(parent == np.arange(len(key))) == 1
