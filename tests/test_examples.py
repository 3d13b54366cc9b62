"""The programs in examples/ run as their docstrings say, and are as short as examples should be."""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from helpers.examples import EXAMPLES, example

NAMES = ("aggregator", "algorithm", "loop", "processor", "schedule")
LONGER = {"algorithm": 40}


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
    assert len(text.splitlines()) <= LONGER.get(name, 30)
    assert f"    python examples/{name}.py" in text and "Prints " in text


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("aggregator", r"soft aggregation: [\d.]+% after 4 steps"),
        ("processor", r"calm states: [\d.]+% after 4 steps"),
        ("schedule", r"warmup: [\d.]+% after 4 steps"),
    ],
)
def test_an_example_trains_and_leaves_nothing_but_its_run(name, pattern, tmp_path):
    before = sorted(EXAMPLES.rglob("*.py"))
    *first, last = run(tmp_path, EXAMPLES / f"{name}.py", "4")
    assert re.fullmatch(pattern, last)
    assert first == (["0.00 1.00 0.56 0.00"] if name == "schedule" else [])
    assert [path.name for path in tmp_path.iterdir()] == ["runs"] and sorted(EXAMPLES.rglob("*.py")) == before


def test_a_loop_of_ones_own_leaves_nothing(tmp_path):
    (printed,) = run(tmp_path, EXAMPLES / "loop.py", "4")
    assert re.fullmatch(r"minimum at n=16: [\d.]+% after 4 steps", printed) and not list(tmp_path.iterdir())


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


NOTEBOOKS = sorted(path.name for path in EXAMPLES.glob("*.ipynb"))


def test_these_are_all_the_notebooks():
    assert NOTEBOOKS == ["ask.ipynb"]


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs_from_above_to_below_and_shows_pictures(name, tmp_path, monkeypatch):
    """Its cells in one namespace, the last value of each shown as a notebook does; no kernel is needed for that."""
    monkeypatch.chdir(tmp_path)
    notebook = json.loads((EXAMPLES / name).read_text("utf-8"))
    names: dict[str, Any] = {}
    shown = [run_cell("".join(cell["source"]), names) for cell in notebook["cells"] if cell["cell_type"] == "code"]
    pictures = [value._repr_html_() for value in shown if hasattr(value, "_repr_html_")]
    assert len(pictures) == 3 and sum("<iframe" in html for html in pictures) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["dijkstra.html"]


def run_cell(code: str, names: dict[str, Any]) -> Any:
    """Run a cell; the value of its last line, if that is an expression."""
    *before, last = ast.parse(code).body
    if not isinstance(last, ast.Expr):
        before, last = [*before, last], None
    exec(compile(ast.Module(before, []), "cell", "exec"), names)
    return eval(compile(ast.Expression(last.value), "cell", "eval"), names) if last else None


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_is_kept_with_its_outputs_and_its_first_answer_is_right(name):
    text = (EXAMPLES / name).read_text("utf-8")
    cells = [cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code"]
    assert len(text) < 1_000_000 and all(cell["outputs"] for cell in cells)
    assert "agrees     yes\n" in cells[1]["outputs"][0]["text"]
