"""Every value that dm-clrs computes is computed here: all 30 tasks against data made by running it."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path

import numpy as np
import pytest

from rnar.clrs import find, official, sample, to_dm_clrs
from rnar.clrs.splits import facts

TRACES = Path(__file__).parents[1] / "golden" / "traces"
OPTIONS = json.loads((TRACES / "option_digests.json").read_text())
TASKS = facts().keys()  # those of CLRS-30
DIGESTS = json.loads((TRACES / "official_digests.json").read_text())


def groups(task: str) -> dict[str, dict[str, np.ndarray]]:
    """`{"train_n5_seed101": {"input/key": array, ..., "lengths": array}}`"""
    found: dict[str, dict[str, np.ndarray]] = {}
    with np.load(TRACES / f"{task}.npz") as arrays:
        for key, array in arrays.items():
            group, name = key.split("/", 1)
            found.setdefault(group, {})[name] = array
    return found


def drawn_as(group: str, task: str) -> dict[str, np.ndarray]:
    """The same batch, drawn and solved here."""
    match = re.fullmatch(r"train_n(\d+)_seed(\d+)", group)
    assert match, f"{group} is not the name of a group"
    n, seed = int(match[1]), int(match[2])
    algorithm = find(task)
    return to_dm_clrs(algorithm.sample(np.random.RandomState(seed), n, 4, **algorithm.problem.training))


def test_there_is_reference_data_for_every_task():
    assert {path.stem for path in TRACES.glob("*.npz")} == TASKS
    assert set(DIGESTS) == {f"{task}{split}" for task in TASKS for split in ("", "/val")}
    assert len(TASKS) == 30


@pytest.mark.parametrize("task", TASKS)
def test_every_input_hint_output_and_length_equals_the_reference(task):
    reference = groups(task)
    assert len(reference) == 3
    for group, expected in reference.items():
        ours = drawn_as(group, task)
        assert ours.keys() == expected.keys()
        for name, array in expected.items():
            np.testing.assert_array_equal(ours[name], array, err_msg=f"{group}/{name}", strict=True)


@pytest.mark.parametrize("split", ["val", "test"])
@pytest.mark.parametrize("task", TASKS)
def test_the_first_32_samples_of_the_official_sets_equal_the_reference(task, split):
    ours = to_dm_clrs(official(task, split).part(slice(0, 32)))
    expected = DIGESTS[task if split == "test" else f"{task}/val"]
    found = {name: [list(x.shape), hashlib.sha256(x.tobytes()).hexdigest()] for name, x in ours.items()}
    assert all(x.dtype == np.float32 for x in ours.values())
    assert found == expected


@pytest.mark.parametrize("case", OPTIONS, ids=lambda case: f"{case['task']}-{case['n']}-{case['options']}")
def test_small_sizes_and_other_options_give_what_the_reference_gives(case):
    options = {name: tuple(x) if isinstance(x, list) else x for name, x in case["options"].items()}
    ours = to_dm_clrs(sample(case["task"], case["n"], batch=6, seed=9, **options))
    found = hashlib.sha256()
    for name, array in sorted(ours.items()):
        found.update(f"{name} {list(array.shape)}".encode() + array.tobytes())
    assert found.hexdigest() == case["sha256"]


def test_every_option_of_every_task_was_tried():
    tried = {(case["task"], option) for case in OPTIONS for option in case["options"]}
    assert tried >= {(task, option) for task in TASKS for option in find(task).problem.options if option != "p"}
    assert {case["task"] for case in OPTIONS} == TASKS
