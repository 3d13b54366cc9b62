"""An algorithm that a user has written outside the package is a task like any other; so is one that is added to it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import rnar.clrs
from helpers.own_tasks import SORT, written
from helpers.processes import run
from rnar.clrs import ALGORITHMS, Stream, algorithm, find, node, official, sample, step
from rnar.clrs import algorithms as chapters
from rnar.clrs.choosing import matching
from rnar.clrs.problems.arrays import Numbers
from rnar.clrs.splits import differences, facts, is_official, mean_steps, size_of
from rnar.evaluation.sets import problem_set, problem_sets
from rnar.training import Settings
from rnar.training.data import training_data, validation_set

MINIMUM, SEVEN = "pack.age:minimum", "pack.age:seven"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    yield from written(tmp_path_factory.mktemp("own"))


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)


def test_it_is_found_by_module_and_function_in_the_current_folder_and_sorts():
    batch = sample(SORT, n=9, batch=4, seed=5)
    assert batch.task == find(SORT).name == SORT
    for key, pred in zip(batch.inputs["key"], batch.outputs["pred"], strict=True):
        order = np.argsort(key)
        assert pred[order[0]] == order[0]
        assert pred[order[1:]].tolist() == order[:-1].tolist()


def test_it_does_not_hide_one_of_ours_that_has_the_same_name():
    ours, theirs = find("minimum"), find(MINIMUM)
    assert (ours.name, theirs.name) == ("minimum", MINIMUM)
    assert ours.trace([3.0, 1.0, 2.0]).outputs["min"] == 1
    assert theirs.trace([3.0, 1.0, 2.0]).outputs["last"] == 2


def test_it_is_called_as_it_was_asked_for():
    batch = sample("pack.age:alias", n=6, batch=2, seed=0)
    assert batch.task == find(batch.task).name == "pack.age:alias"
    np.testing.assert_array_equal(batch.inputs["key"], sample(MINIMUM, n=6, batch=2, seed=0).inputs["key"])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("my_tasks:quick_sort", "'my_tasks' has no algorithm 'quick_sort'; it has selection_sort"),
        ("my_tasks:Numbers", "'my_tasks' has no algorithm 'Numbers'; it has selection_sort"),
        ("nowhere:sort", "cannot import 'nowhere' for the algorithm 'nowhere:sort': No module named 'nowhere'"),
        ("my-tasks:sort", "'my-tasks:sort' does not name an algorithm in a module, as my_tasks:selection_sort would"),
        ("a:b:c", "'a:b:c' does not name an algorithm in a module, as my_tasks:selection_sort would"),
    ],
)
def test_what_is_not_there_is_refused_in_one_line(name, said):
    with pytest.raises(ValueError) as caught:
        find(name)
    assert str(caught.value) == said


IN_A_NOTEBOOK = """
import numpy as np
import rnar.clrs
from rnar.clrs import algorithm, node, step
from rnar.clrs.problems.arrays import Numbers
from rnar.training import Settings, train

@algorithm(problem=Numbers(), hints=dict(i=node.mask_one), outputs=dict(first=node.mask_one))
def first(trace, key):
    step(trace, 0)
    step(trace, len(key) - 1)
    return 0

name = "__main__:first"
assert rnar.clrs.find(name) is first and first.chapter == "main"
few = dict(size=4, batch=2, sizes=(4,), steps=2, validate_every=2, validation_samples=2, selection_samples=2)
result = train(Settings(tasks=name, model="mpnn", ood_samples=2, test_samples=2, threads=2, **few))
print(rnar.clrs.sample(name, n=4, batch=2, seed=0).task, list(result.tests))
"""


def test_in_a_notebook_its_module_is_main_and_it_can_be_learned(tmp_path):
    assert run(IN_A_NOTEBOOK, tmp_path)[0] == "__main__:first ['__main__:first']\n"


@pytest.mark.parametrize(
    ("split", "seed", "n", "samples"), [("train", 1, 16, 1000), ("val", 2, 16, 32), ("test", 3, 64, 32)]
)
def test_its_sets_are_drawn_as_the_official_ones_are(split, seed, n, samples):
    batch = official(SORT, split)
    keys = np.random.RandomState(seed).uniform(0, 1, (samples, n)).astype(np.float32)
    np.testing.assert_array_equal(batch.inputs["key"], keys)
    assert size_of(SORT, split) == (seed, n, samples)
    assert mean_steps(SORT, split) == batch.lengths.mean() == n


def test_there_are_no_digests_to_compare_them_with():
    assert not is_official(SORT) and is_official("bfs")
    with pytest.raises(ValueError, match=f"{SORT} has no official set to compare with: it is not one of dm-clrs"):
        differences(SORT, "val")


def test_its_stream_goes_on_exactly_where_it_was():
    with Stream(SORT, seed=3, batch=2, ahead=0) as stream, Stream(SORT, seed=3, batch=2) as other:
        assert [next(stream).nodes for _ in range(5)] == [4, 7, 11, 13, 16]
        other.restore(stream.state)
        np.testing.assert_array_equal(next(stream).inputs["key"], next(other).inputs["key"])


def test_wildcards_find_those_of_a_module_and_no_others():
    assert [each.name for each in matching("pack.age:*")] == [MINIMUM, SEVEN]
    find(SORT)
    assert all(":" not in each.name for each in matching("*"))
    with pytest.raises(ValueError, match=r"no task matches 'pack.age:q\*'"):
        matching("pack.age:q*")
    with pytest.raises(
        ValueError, match=r"cannot import 'nowhere' for the tasks 'nowhere:\*': No module named 'nowhere'"
    ):
        matching("nowhere:*")


def test_problems_of_ones_own_say_themselves_how_sizes_are_counted():
    settings = Settings(tasks=MINIMUM, sizes=(3, 5), batch=2, validation_samples=4).resolved()
    assert size_of(MINIMUM, "test") == (3, 128, 64)
    assert official(MINIMUM, "test").nodes == 128
    assert problem_set(MINIMUM, 8).length == 16 and next(problem_set(MINIMUM, 8).batches()).nodes == 16
    assert validation_set(settings, MINIMUM).nodes == 32
    with training_data(settings, MINIMUM) as stream:
        assert [next(stream).nodes for _ in range(3)] == [6, 10, 6]
    (only,) = problem_sets(SEVEN, (4, 8, 16))
    assert only.n == 7 and next(only.batches()).nodes == 7


def test_problems_of_ones_own_may_have_options_of_any_name_and_kind():
    for noise in (0.125, -2.0):
        key = sample(MINIMUM, n=4, batch=1, seed=0, noise=noise).inputs["key"][0]
        assert key.tolist() == [0.0, 1.0, noise, 1.0 + noise]
    with pytest.raises(ValueError, match=r"no option 'nose' \(did you mean 'noise'\?\); this task has: noise=0.5"):
        sample(MINIMUM, n=4, batch=1, seed=0, nose=1)


def test_problems_without_positions_are_refused():
    class Placeless(Numbers):
        inputs = {"key": node.scalar}

        def __init__(self):
            pass

    with pytest.raises(ValueError, match="lost: its problem has no input pos, the places of nodes; it has key"):

        @algorithm(problem=Placeless(), hints=dict(i=node.mask_one), outputs=dict(o=node.mask_one))
        def lost(trace, key):
            return 0


@pytest.mark.parametrize("n", [4, 16, 64])
def test_problem_sets_say_that_they_are_drawn(n):
    whole, some, other = problem_set(SORT), problem_set(SORT, 64, 3), problem_set(SORT, n, 33)
    assert str(whole) == "drawn as official sets are" and str(some) == "the first 3 drawn as official sets are"
    assert str(other) == "drawn as that of n=64 is, with seed 4"
    assert not (whole.official or some.official or other.official)
    (batch,) = some.batches()
    np.testing.assert_array_equal(batch.inputs["key"], official(SORT, "test").inputs["key"][:3])


# ---- one more algorithm inside the package


@pytest.fixture
def one_more():
    """As if it stood in one of the package's files."""

    def last_of_all(trace, key):
        step(trace, len(key) - 1)
        return len(key) - 1

    last_of_all.__module__ = f"{chapters.__name__}.sorting"
    yield algorithm(problem=Numbers(), hints=dict(i=node.mask_one), outputs=dict(last=node.mask_one))(last_of_all)
    del ALGORITHMS["last_of_all"]


def test_one_more_algorithm_of_the_package_has_a_plain_name_and_needs_no_digests(one_more):
    assert find("last_of_all") is one_more and one_more.chapter == "sorting"
    assert one_more in matching("last*") and "last_of_all" not in facts()
    assert official("last_of_all", "test").size == 32 and mean_steps("last_of_all", "test") == 1.0


def test_every_file_of_the_folder_of_algorithms_is_imported():
    files = {path.stem for path in Path(chapters.__path__[0]).glob("*.py")} - {"__init__"}
    assert {algorithm.chapter.replace(" ", "_") for algorithm in map(find, facts())} == files
    assert all(hasattr(rnar.clrs.algorithms, name) for name in files)
