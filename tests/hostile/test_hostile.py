"""A few tries of each program; long ones (`python tests/hostile/long.py`) are in LOG.md."""

import pytest

import rnar.clrs
from helpers.training import small_test
from hostile import arguments, calls, files
from rnar.training import testing
from rnar.training.learner import Learner


@pytest.fixture(autouse=True)
def restored(monkeypatch):
    """What the programs replace is put back."""
    monkeypatch.setattr(testing, "official", testing.official)
    monkeypatch.setattr(Learner, "learn", Learner.learn)
    monkeypatch.setenv("COLUMNS", "100")


def test_damaged_files_of_a_run_are_told_in_one_line(tmp_path):
    counts = files.tried(120, 7, tmp_path)
    assert counts.bad == [] and counts.ends["refused in one line"] > 30 and counts.ends["accepted"] > 20


def test_hostile_values_of_flags_are_told_in_one_line(tmp_path):
    counts = arguments.tried(80, 7, tmp_path)
    assert counts.bad == [] and counts.ends["refused in one line"] > 30


def test_public_functions_tell_wrong_arguments_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(testing, "official", small_test)
    counts = calls.tried_calls(tmp_path, every=5)
    assert counts.bad == [] and counts.ends["refused in one line"] > 200


def test_hostile_names_and_numbers_of_problems_are_told_in_one_line(tmp_path):
    counts = calls.tried_problems(30, 7, tmp_path)
    assert counts.bad == [] and counts.ends["refused in one line"] > 5 and counts.ends["accepted"] > 5


@pytest.mark.parametrize("name", ["self", "cls", "task", "network", "progress"])
def test_names_of_parameters_are_refused_as_names_of_arguments(name):
    with pytest.raises(ValueError, match=f"minimum takes values, but was given {name}"):
        rnar.clrs.find("minimum").trace(**{name: [1, 2]})


def test_several_wrong_arguments_at_once_are_told_in_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(testing, "official", small_test)
    counts = calls.tried_some(150, 7, tmp_path)
    assert counts.bad == [] and counts.ends["refused in one line"] > 100
