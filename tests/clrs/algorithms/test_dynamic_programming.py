from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given

from helpers.instances import few_letters, letters, numbers, solved
from rnar.clrs import Sample, trace

DIAGONAL, UP, LEFT = 0, 1, 2


def check_chain(p: np.ndarray, sample: Sample) -> None:
    """The multiplications that the chosen brackets cost, against the fewest of all brackets."""
    s = sample.outputs["s"]

    @cache
    def fewest(i: int, j: int) -> float:
        return min((fewest(i, k) + fewest(k + 1, j) + p[i - 1] * p[k] * p[j] for k in range(i, j)), default=0.0)

    def chosen(i: int, j: int) -> float:
        if i == j:
            return 0.0
        assert i <= s[i, j] < j
        return chosen(i, s[i, j]) + chosen(s[i, j] + 1, j) + p[i - 1] * p[s[i, j]] * p[j]

    for i in range(1, len(p)):
        for j in range(i, len(p)):
            assert chosen(i, j) == pytest.approx(fewest(i, j))
            assert sample.hints["m"][-1, i, j] == pytest.approx(fewest(i, j), rel=1e-5)


def test_chains_of_matrices_are_bracketed_at_the_least_cost():
    for (p,), sample in solved("matrix_chain_order", sizes=range(2, 15), batch=4):
        check_chain(p, sample)


@given(p=numbers(1, 50, most=8))
def test_chains_with_equal_sizes_are_bracketed_at_the_least_cost(p):
    check_chain(np.array(p), trace("matrix_chain_order", p))


def lcs_length(x: list[int], y: list[int]) -> int:
    """The book's table, row by row."""
    row = [0] * (len(y) + 1)
    for a in x:
        above = row
        row = [0]
        for j, b in enumerate(y):
            row.append(above[j] + 1 if a == b else max(above[j + 1], row[j]))
    return row[-1]


def common_subsequence(x: list[int], y: list[int], b: np.ndarray) -> list[int]:
    """Read off the directions from the last letters on."""
    i, j, found = len(x) - 1, len(y) - 1, []
    while i >= 0 and j >= 0:
        direction = b[i, len(x) + j]
        if direction == DIAGONAL:
            assert x[i] == y[j]
            found.append(x[i])
        i, j = i - (direction != LEFT), j - (direction != UP)
    return found[::-1]


def check_lcs(key: np.ndarray, first: int, sample: Sample) -> None:
    x, y = key[:first].tolist(), key[first:].tolist()
    longest = lcs_length(x, y)
    assert sample.hints["c"][-1, first - 1, -1] == longest
    assert len(common_subsequence(x, y, sample.outputs["b"])) == longest


def test_the_directions_lead_along_a_longest_common_subsequence():
    for (key, first), sample in solved("lcs_length"):
        check_lcs(key, first, sample)


@given(x=letters, y=few_letters)
def test_strings_of_different_lengths_have_a_longest_common_subsequence(x, y):
    key = np.array(["ATCG".index(letter) for letter in x + y])
    check_lcs(key, len(x), trace("lcs_length", x, y))


def check_tree(p: np.ndarray, q: np.ndarray, sample: Sample) -> None:
    """The expected cost of the chosen search tree, against the least of all trees over the same keys."""
    root = sample.outputs["root"]

    def weight(i: int, j: int) -> float:
        return sum(p[i:j]) + sum(q[i : j + 1])

    @cache
    def least(i: int, j: int) -> float:
        return weight(i, j) + min((least(i, r) + least(r + 1, j) for r in range(i, j)), default=0.0)

    def chosen(i: int, j: int) -> float:
        if i == j:
            return weight(i, j)
        assert i <= root[i, j] < j
        return weight(i, j) + chosen(i, root[i, j]) + chosen(root[i, j] + 1, j)

    for i in range(len(q)):
        for j in range(i, len(q)):
            assert chosen(i, j) == pytest.approx(least(i, j))
            assert sample.hints["e"][-1, i, j] == pytest.approx(least(i, j), rel=1e-5)


def test_search_trees_have_the_least_expected_cost():
    for (p, q), sample in solved("optimal_bst", sizes=range(2, 13), batch=4):
        check_tree(p, q, sample)


@given(p=numbers(0, 5, most=7, least=1), gap=numbers(0, 5, most=8, least=8))
def test_search_trees_with_equal_probabilities_have_the_least_expected_cost(p, gap):
    q = gap[: len(p) + 1]
    check_tree(np.array(p), np.array(q), trace("optimal_bst", p, q))
