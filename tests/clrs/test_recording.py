"""Writing an algorithm of one's own, and what is said where its hints do not fit its declaration."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from helpers.processes import run
from rnar.clrs import ALGORITHMS, Algorithm, algorithm, chain, edge, find, graph, node, step
from rnar.clrs.problems.arrays import Numbers

MISMATCH = "need one value for each hint and output that the algorithm declares, in that order"


@pytest.fixture
def register() -> Iterator[Callable[..., Algorithm]]:
    """Declares an algorithm with a node.mask_one `i` and a node.scalar `x` as hints, which is forgotten afterwards."""
    before = dict(ALGORITHMS)

    def declared(function: Callable[..., Any]) -> Algorithm:
        return algorithm(Numbers(), hints=dict(i=node.mask_one, x=node.scalar), outputs=dict(o=graph.scalar))(function)

    yield declared
    ALGORITHMS.clear()
    ALGORITHMS.update(before)


def test_an_own_algorithm_is_found_by_its_name_and_recorded_step_by_step(register):
    @register
    def running_sum(trace, key):
        x, total = np.zeros(len(key)), 0.0
        for i in range(len(key)):
            total += key[i]
            x[i] = total
            step(trace, i, x)
        return total

    assert find(f"{__name__}:running_sum") is running_sum
    sample = running_sum.trace([1.0, 2.0, 4.0])
    assert sample.hints["i"].tolist() == [0, 1, 2]
    assert sample.hints["x"].tolist() == [[1, 0, 0], [1, 3, 0], [1, 3, 7]]
    assert sample.outputs["o"] == 7.0


def test_hints_may_be_given_in_nested_tuples_and_matrices():
    before = dict(ALGORITHMS)
    hints = dict(i=node.mask_one, t=edge.scalar, x=node.scalar, last=graph.mask)
    try:

        @algorithm(Numbers(), hints=hints, outputs=dict(a=edge.scalar, b=node.mask_one))
        def nested(trace, key):
            table = np.outer(key, key)
            step(trace, 1, (table.T, (key, 0)))
            return table, 1

        sample = nested.trace([1.0, 2.0])
    finally:
        ALGORITHMS.clear()
        ALGORITHMS.update(before)
    assert sample.hints["t"].tolist() == [[[1, 2], [2, 4]]]
    assert sample.hints["x"].tolist() == [[1, 2]]
    assert (sample.hints["i"].tolist(), sample.hints["last"].tolist()) == ([1], [0])
    assert sample.outputs["a"].tolist() == [[1, 2], [2, 4]]


def too_few(trace, key):
    step(trace, 0)
    return 0.0


def too_many(trace, key):
    step(trace, 0, key, 0)
    return 0.0


def in_the_wrong_order(trace, key):
    step(trace, key, 0)
    return 0.0


def of_the_wrong_size(trace, key):
    step(trace, 0, key[1:])
    return 0.0


def too_many_answers(trace, key):
    step(trace, 0, key)
    return 0.0, 1.0


def an_array_for_a_number(trace, key):
    step(trace, 0, key)
    return key


@pytest.mark.parametrize(
    "function",
    [
        too_few,
        too_many,
        in_the_wrong_order,
        of_the_wrong_size,
        too_many_answers,
        an_array_for_a_number,
    ],
)
def test_hints_and_answers_that_do_not_fit_the_declaration_are_refused(register, function):
    with pytest.raises(ValueError, match=MISMATCH):
        register(function).trace([1.0, 2.0])


INTERPRETED = """
import clrs.test_recording as t
from rnar.clrs import algorithm, graph, node
for function in (t.too_few, t.too_many, t.in_the_wrong_order, t.of_the_wrong_size, t.too_many_answers):
    hints = dict(i=node.mask_one, x=node.scalar)
    declared = algorithm(t.Numbers(), hints=hints, outputs=dict(o=graph.scalar))(function)
    try:
        print(declared.trace([1.0, 2.0]))
    except ValueError as error:
        print(t.MISMATCH in str(error))
"""


def test_interpreted_code_refuses_them_too():
    assert run(INTERPRETED, NUMBA_DISABLE_JIT="1")[0].split() == ["True"] * 5


def test_a_function_with_too_many_arguments_is_refused(register):
    with pytest.raises(TypeError, match="greedy must take the trace and one to three arguments, not 4"):

        @register
        def greedy(trace, a, b, c, d):
            return 0


@pytest.mark.parametrize("order", [[0], [0, 1, 2], [2, 0, 1], [3, 2, 1, 0]])
def test_a_chain_points_from_each_node_to_the_one_before_it(order):
    before = chain(np.array(order))
    assert before[order[0]] == order[0]
    assert [before[v] for v in order[1:]] == order[:-1]
