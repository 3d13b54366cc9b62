from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given

from helpers.instances import few_letters, letters, solved
from rnar.clrs import trace

MATCHERS = ["naive_string_matcher", "kmp_matcher"]


def expected(haystack: str, needle: str) -> int:
    """Where no match is, the answer is the first letter of the needle."""
    found = haystack.find(needle)
    return found if found >= 0 else len(haystack)


@pytest.mark.parametrize("task", MATCHERS)
def test_the_first_match_is_found(task):
    for (key, first), sample in solved(task, sizes=range(17, 25)):
        text = "".join("ATCG"[code] for code in key)
        assert text[:first].find(text[first:]) >= 0
        assert sample.outputs["match"] == text.find(text[first:])


@pytest.mark.parametrize("task", MATCHERS)
@given(haystack=few_letters, needle=few_letters)
def test_needles_that_repeat_themselves_are_found_or_not(task, haystack, needle):
    assume(len(needle) <= len(haystack))
    assert trace(task, haystack, needle).outputs["match"] == expected(haystack, needle)


@pytest.mark.parametrize("task", MATCHERS)
@given(haystack=letters, needle=letters)
def test_needles_of_all_letters_are_found_or_not(task, haystack, needle):
    assume(len(needle) <= len(haystack))
    assert trace(task, haystack, needle).outputs["match"] == expected(haystack, needle)


@pytest.mark.parametrize("task", MATCHERS)
@pytest.mark.parametrize(
    "haystack, needle",
    [("A", "A"), ("A", "T"), ("ATCG", "ATCG"), ("ATCG", "ATCC"), ("ATATATAC", "ATATAC"), ("AAAAAAAT", "AAAT")],
)
def test_matches_at_the_ends_and_no_match(task, haystack, needle):
    assert trace(task, haystack, needle).outputs["match"] == expected(haystack, needle)


def test_kmp_computes_the_prefix_function_of_the_book():
    needle = "ATATACA"  # the book's example ababaca, with other letters
    sample = trace("kmp_matcher", "A" * 10, needle)
    pi, is_reset = sample.hints["pi"][-1], sample.hints["is_reset"][-1]
    longest = [max((k for k in range(j) if needle[:k] == needle[j - k : j]), default=0) for j in range(1, 8)]
    found = [0 if is_reset[10 + j] else pi[10 + j] - 10 + 1 for j in range(7)]
    assert np.array_equal(found, longest)
