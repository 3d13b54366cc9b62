"""A few tries of each program; long ones are in LOG.md."""

import pytest

from hostile import arguments, files
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
