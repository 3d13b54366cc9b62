"""What a network learns from and is validated on."""

from __future__ import annotations

import numpy as np
import pytest

from rnar.clrs import ALGORITHMS, Stream, official
from rnar.clrs import find as find_task
from rnar.training import Settings
from rnar.training.data import VALIDATION_SEED, training_data, validation_set


def test_training_data_are_those_of_the_standard_protocol():
    with training_data(Settings("bfs", seed=4).resolved(), "bfs") as ours, Stream("bfs", 4) as theirs:
        assert ours.state == theirs.state
        assert next(ours).hints.keys() == {"reach_h", "pi_h", "pi_h_reversed"}


@pytest.mark.parametrize("task", ALGORITHMS)
def test_the_relational_transformer_learns_from_problems_like_the_official_ones(task):
    theirs = official(task, "val")
    with training_data(Settings(task, model="rt").resolved(), task) as stream:
        ours = next(stream)
        assert find_task(task).problem.complete(stream.state["options"]) == find_task(task).problem.options
    pos = {x.tobytes() for x in theirs.inputs["pos"]}
    assert ours.nodes == theirs.nodes and ours.size == 4
    assert {x.tobytes() for x in ours.inputs["pos"]} <= pos


@pytest.mark.parametrize("task", ["bfs", "kmp_matcher"])
def test_validation_is_on_the_same_samples_in_every_run(task):
    one, other = (validation_set(Settings(task, seed=seed).resolved(), task) for seed in (0, 1))
    sizes = (20,) if task == "kmp_matcher" else (16,)
    expected = next(Stream(task, VALIDATION_SEED, 128, sizes, ahead=0))
    assert one.size == 128
    for name, array in expected.inputs.items():
        assert np.array_equal(one.inputs[name], array) and np.array_equal(other.inputs[name], array)
