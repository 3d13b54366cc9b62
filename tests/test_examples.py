"""The programs in examples/ run as their docstrings say, and are as short as examples should be."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.examples import EXAMPLES, example

NAMES = ("aggregator", "algorithm", "processor", "schedule")


def run(place: Path, *words: str | Path) -> list[str]:
    """Run Python in a folder, where an example may leave its runs; the lines that it prints."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run([sys.executable, *words], cwd=place, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_these_are_all_the_examples():
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == sorted(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_an_example_is_short_and_says_how_to_run_it(name):
    text = (EXAMPLES / f"{name}.py").read_text()
    assert len(text.splitlines()) <= 40
    assert f"    python examples/{name}.py" in text and "Prints " in text


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("aggregator", r"soft aggregation: [\d.]+% after 4 steps"),
        ("processor", r"calm states: [\d.]+% after 4 steps, loss of calm 0\.\d+"),
        ("schedule", r"warmup: [\d.]+% after 4 steps"),
    ],
)
def test_an_example_trains_and_leaves_nothing_but_its_run(name, pattern, tmp_path):
    before = sorted(EXAMPLES.rglob("*.py"))
    *first, last = run(tmp_path, EXAMPLES / f"{name}.py", "4")
    assert re.fullmatch(pattern, last)
    assert first == (["0.00 1.00 0.56 0.00"] if name == "schedule" else [])
    assert [path.name for path in tmp_path.iterdir()] == ["runs"] and sorted(EXAMPLES.rglob("*.py")) == before


def test_the_example_of_an_algorithm_sorts(tmp_path):
    printed = run(tmp_path, EXAMPLES / "algorithm.py")
    # 3, 1, 2: the third node (2) follows the second (1), which is first; the first (3) follows the third
    assert printed[:4] == ["step 0: [0 0 1]", "step 1: [1 1 0]", "step 2: [2 1 1]", "[2 1 1]"]
    assert printed[4].startswith("32 samples: ") and "'key': (32, 16)" in printed[4]


def test_the_example_of_a_schedule_can_be_named_on_the_command_line(tmp_path, monkeypatch):
    from rnar.training.schedules import find

    monkeypatch.chdir(EXAMPLES)
    monkeypatch.setattr(sys, "path", list(sys.path))
    found, same = find("schedule:warmup"), example("schedule").warmup
    assert [found(done / 10) for done in range(11)] == [same(done / 10) for done in range(11)]
