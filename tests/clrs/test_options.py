"""Sizes and options of what is drawn: each impossible one is one clear ValueError."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rnar.clrs import ALGORITHMS, find, sample

TOO_SMALL = {
    "naive_string_matcher": r"n=1 is too small for a needle of 1: .* \(n of at least 3\)",
    "kmp_matcher": r"n=1 is too small for a needle of 1: .* \(n of at least 3\)",
    "strongly_connected_components": "n=1 is too small for 4 communities",
}


@pytest.mark.parametrize("task", [task for task in ALGORITHMS if task != "segments_intersect"])
def test_a_size_that_is_too_small_is_refused(task):
    expected = TOO_SMALL.get(task, "n=1 is too small: the smallest n of this task is 2")
    with pytest.raises(ValueError, match=f"^{task}: {expected}"):
        sample(task, 1, 1, 0)


@pytest.mark.parametrize("task", ALGORITHMS)
def test_impossible_batches_and_sizes_are_refused(task):
    with pytest.raises(ValueError, match=f"^{task}: a batch must hold 1 to 1,000,000 samples, not 0"):
        sample(task, 20, 0, 0)
    with pytest.raises(ValueError, match=f"^{task}: n=20000 is too large: node indices are stored in 16 bits"):
        sample(task, 20_000, 1, 0)
    with pytest.raises(ValueError, match=r"^a seed must be from 0 to 2\*\*32 - 1, not -1"):
        sample(task, 20, 1, -1)


@pytest.mark.parametrize("task", ALGORITHMS)
def test_an_unknown_option_is_refused_with_a_list_of_all(task):
    options = find(task).problem.options
    known = ", ".join(f"{name}={value!r}" for name, value in options.items()) or "none"
    with pytest.raises(ValueError) as refused:
        sample(task, 20, 1, 0, colour=3)
    assert str(refused.value) == f"{task}: no option 'colour'; this task has: {known}"


def test_an_option_that_is_misspelt_is_refused_with_the_nearest():
    with pytest.raises(
        ValueError, match=r"no option 'needles' \(did you mean 'needle'\?\); this task has: needle=None"
    ):
        sample("kmp_matcher", 20, 1, 0, needles=3)


BAD_OPTIONS: list[tuple[str, dict[str, Any], str]] = [
    ("bfs", dict(p=1.1), "p=1.1 is not a probability between 0 and 1 or a tuple of them"),
    ("bfs", dict(p=-0.1), "p=-0.1 is not a probability between 0 and 1 or a tuple of them"),
    ("bfs", dict(p=float("nan")), "p=nan is not a probability between 0 and 1 or a tuple of them"),
    ("bfs", dict(p=()), "p=() is not a probability between 0 and 1 or a tuple of them"),
    ("bfs", dict(p=(0.1, 2.0)), "p=(0.1, 2.0) is not a probability between 0 and 1 or a tuple of them"),
    ("strongly_connected_components", dict(toggle=2.0), "toggle=2.0 is not a probability between 0 and 1"),
    ("strongly_connected_components", dict(communities=0), "communities=0 is not a whole number of at least 1"),
    ("strongly_connected_components", dict(communities=9), "n=8 is too small for 9 communities"),
    ("heapsort", dict(low=1.0), "low=1.0 must be less than high=1.0"),
    ("heapsort", dict(low=2, high=1), "low=2 must be less than high=1"),
    ("heapsort", dict(high=float("inf")), "high=inf is not a number "),
    ("heapsort", dict(low=-1e308, high=1e308), "low=-1e+308 is not a number that is finite in 32 bits"),
    ("heapsort", dict(low=(0, 1)), "low=(0, 1) is not a number "),
    ("graham_scan", dict(radius=float("nan")), "radius=nan is not a number above 0 that is finite"),
    ("graham_scan", dict(center=1.0), "center=1.0 is not a pair (x, y)"),
    ("graham_scan", dict(center=(0.0, float("inf"))), "center=(0.0, inf) is not a pair (x, y)"),
    ("task_scheduling", dict(max_deadline=0), "max_deadline=0 is not a whole number of at least 1"),
    ("task_scheduling", dict(max_deadline=2.5), "max_deadline=2.5 is not a whole number of at least 1"),
    ("lcs_length", dict(second=8), "second=8 leaves no letter of n=8 for the first string"),
    ("lcs_length", dict(letters=5), "letters=5 is more than the 4 there are (ATCG)"),
    ("kmp_matcher", dict(needle=0), "needle=0 is not a length of at least 1, or a range (shortest, longest)"),
    ("kmp_matcher", dict(needle=(3, 2)), "needle=(3, 2) is not a length of at least 1, or a range (shortest, longest)"),
    ("kmp_matcher", dict(needle=(0, 2)), "needle=(0, 2) is not a length of at least 1, or a range (shortest, longest)"),
    (
        "kmp_matcher",
        dict(needle=4),
        "n=8 is too small for a needle of 4: the haystack has the other 4 letters and must",
    ),
    ("kmp_matcher", dict(letters=0), "letters=0 is not a whole number of at least 1"),
]


@pytest.mark.parametrize("task, options, message", BAD_OPTIONS)
def test_an_option_with_an_impossible_value_is_refused(task, options, message):
    with pytest.raises(ValueError) as refused:
        sample(task, 8, 1, 0, **options)
    assert str(refused.value).startswith(f"{task}: {message}")


@pytest.mark.parametrize(
    "task, options",
    [
        ("bfs", dict(p="high")),
        ("bfs", dict(p=None)),
        ("heapsort", dict(low="a")),
        ("graham_scan", dict(center=("a", "b"))),
    ],
)
def test_an_option_that_is_no_number_is_refused(task, options):
    with pytest.raises(ValueError, match=f"^{task}: .* is not "):
        sample(task, 8, 1, 0, **options)


@pytest.mark.parametrize("task", [task for task in ALGORITHMS if find(task).problem.options])
def test_every_option_may_be_given_its_default(task):
    options = find(task).problem.options
    for a, b in zip(sample(task, 20, 1, 0), sample(task, 20, 1, 0, **options), strict=True):
        np.testing.assert_equal(a, b)


def test_negative_weights_where_none_can_be_are_refused():
    """The root of a negative product is no number, no distance would equal itself, and no search would end."""
    for task in ("bellman_ford", "dijkstra", "mst_prim", "mst_kruskal", "floyd_warshall"):
        with pytest.raises(ValueError, match=f"^{task}: low=-1.0: a weight must not be negative"):
            sample(task, 8, 4, 0, low=-1.0)
    assert sample("dag_shortest_paths", 8, 4, 0, low=-1.0).inputs["A"].min() < 0
