"""Numbers of a user's, brought to the range of training: the answer stays what it was."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.instances import numbers, undirected
from helpers.own_tasks import SORT, written
from rnar.clrs import ALGORITHMS, Sample, find
from rnar.inference.problem import Problem
from rnar.inference.scaling import DIVIDED, MOVED, scaled

SCALES = {  # factor and shift under which a problem is the same
    "find_maximum_subarray_kadane": (50.0, 0.0),
    "matrix_chain_order": (50.0, 0.0),
    "optimal_bst": (50.0, 0.0),
}


def own(task: str, *arguments) -> tuple:
    algorithm = find(task)
    found = algorithm.own(*arguments).arguments
    return found, algorithm.solve(found).sample(0)


def drawn(task: str, seed: int, factor: float = 1.0, shift: float = 0.0) -> tuple:
    """A random problem, its numbers (if they are such) multiplied and moved."""
    algorithm = find(task)
    problems = algorithm.draw(np.random.RandomState(seed), 20, 1)
    names = algorithm.problem.own.__code__.co_varnames[1 : 1 + len(problems)]
    stays = {"s": "A" in names, "d": True, "first": True}  # a source, deadlines, a length

    def changed(name: str, x: np.ndarray) -> np.ndarray:
        if x.dtype.kind != "f" or stays.get(name, False):
            return x
        return factor * x + (shift if name != "A" else 0.0)

    moved = tuple(changed(name, x) for name, x in zip(names, problems, strict=True))
    return moved, algorithm.solve(moved).sample(0)


@pytest.mark.parametrize("task", ALGORITHMS)
@pytest.mark.parametrize("seed", range(3))
def test_a_drawn_problem_is_left_as_it_is(task, seed):
    problem, solved = drawn(task, seed)
    assert scaled(task, problem, solved) == (solved, "")


@pytest.mark.parametrize("task", ALGORITHMS)
@pytest.mark.parametrize("seed", range(3))
def test_larger_numbers_become_those_of_training_and_the_steps_stay(task, seed):
    factor, shift = SCALES.get(task, (50.0, 7.0))
    problem, solved = drawn(task, seed, factor, shift)
    found = scaled(task, problem, solved)
    if "string" in find(task).problem.inputs:
        assert found.how == ""  # letters are no numbers
        return
    assert found.how and same(found.sample, solved)
    low, high = (-2, 2) if "x" in solved.inputs else (-1, 1)
    for name, x in found.sample.inputs.items():
        if name not in ("d", "s", "pred", "adj", "pos"):
            assert low <= x.min() and x.max() <= high


def same(one: Sample, other: Sample) -> bool:
    """Is every decision the same, at each step?"""
    spec = find(one.task).spec
    kept = [name for name, feature in spec.hints.items() if feature.kind != "scalar"]
    hints = all(np.array_equal(one.hints[name], other.hints[name]) for name in kept)
    return hints and all(np.array_equal(one.outputs[name], other.outputs[name]) for name in spec.outputs)


@given(numbers())
def test_an_order_is_never_changed(values):
    problem, solved = own("insertion_sort", values)
    found = scaled("insertion_sort", problem, solved)
    assert np.array_equal(found.sample.outputs["pred"], solved.outputs["pred"])
    assert found.how in ("", MOVED)


@given(undirected(), st.data())
def test_shortest_paths_are_never_changed(A, data):
    problem, solved = own("dijkstra", A, data.draw(st.integers(0, len(A) - 1)))
    found = scaled("dijkstra", problem, solved)
    assert np.array_equal(found.sample.outputs["pi"], solved.outputs["pi"]) and found.how in ("", DIVIDED)


def test_numbers_that_rounding_would_make_equal_stay_as_they_are():
    problem, solved = own("insertion_sort", [1e20, 5.0, 4.0, 3.0])
    found = scaled("insertion_sort", problem, solved)
    assert found.sample.outputs["pred"].tolist() == solved.outputs["pred"].tolist() == [1, 2, 3, 3]


def test_edges_without_weights_are_taken_as_1():
    found = scaled("bfs", *own("bfs", [[0, 7], [7, 0]], 0))
    assert found.sample.inputs["A"].tolist() == [[0, 1], [1, 0]] and "taken as 1" in found.how


def test_a_task_of_a_users_own_is_left_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in written(tmp_path):
        assert scaled(SORT, *own(SORT, [50.0, 20.0])).how == ""


@pytest.mark.parametrize(
    "key, lost",
    [
        ([1e-320, 1e-310, 0.5], "key"),
        ([1.0, 1.0 + 1e-12, 0.5], "key"),
        ([3.4e38, 1.0, 2.0], "key"),
        ([0.0, -0.0, 1.0], ""),
        ([0.5, 0.5, 1.0], ""),
        ([3.4e38, 3.3e38, -3.4e38], ""),
    ],
)
def test_numbers_that_differ_and_are_equal_to_the_network_are_told(key, lost):
    assert Problem.own("minimum", key).lost == lost


def test_sums_beyond_32_bits_and_weights_below_them_are_refused():
    chain = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]], float)
    with pytest.raises(ValueError, match="dijkstra: d becomes larger than 32 bits can hold; give smaller numbers"):
        Problem.own("dijkstra", 3.4e38 * chain, 0)
    with pytest.raises(ValueError, match=r"dijkstra: A\[0, 1\] is 1e-46, which is 0 in 32 bits"):
        Problem.own("dijkstra", 1e-46 * chain, 0)
    assert Problem.own("mst_prim", 3.4e38 * chain, 0).seen.sample.inputs["A"].max() == 1
