"""Networks of runs at several sizes in a table, beside what they cost."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from helpers.command import refused, runner
from helpers.training import small_runs

SIZES = ("--n", 4, 6, "--samples", 3)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """Two models on two tasks, one of them with two seeds; another model on one."""
    return small_runs(
        tmp_path_factory.mktemp("runs"),
        ("bfs", "mpnn", 0),
        ("bfs", "mpnn", 1),
        ("bfs", "pgn", 0),
        ("minimum", "mpnn", 0),
    )


@pytest.fixture
def evaluated(runs, tmp_path, capsys) -> dict[tuple[str, str, int, int], dict]:
    """What `rnar evaluate` says of the same, by task, model, seed and size."""
    out = tmp_path / "evaluated.json"
    assert runner(capsys, "evaluate")(runs, *SIZES, "--json", out)[0] == 0
    found = json.loads(out.read_text())["evaluations"]
    return {(each["task"], each["model"], each["seed"], each["n"]): each for each in found}


def test_scores_are_those_of_evaluate_and_seeds_come_together(run, runs, evaluated, tmp_path):
    code, _, err = run(runs, "--table", "sizes", *SIZES, "--format", "csv", "--out", tmp_path / "a.csv")
    assert (code, err) == (0, "")
    with (tmp_path / "a.csv").open() as file:
        lines = list(csv.reader(file))
    head, body = lines[0], lines[1:]
    found = {tuple(line[:2]): dict(zip(head, line, strict=True)) for line in body}
    one = evaluated["bfs", "pgn", 0, 6]
    assert float(found["BFS", "pgn"]["n = 6"]) == pytest.approx(100 * one["score"], abs=0.006)
    half = 50 * (one["interval"][1] - one["interval"][0])
    assert float(found["BFS", "pgn"]["n = 6 ±"]) == pytest.approx(half, abs=0.006)
    two = [100 * evaluated["bfs", "mpnn", seed, 4]["score"] for seed in (0, 1)]
    assert float(found["BFS", "mpnn"]["n = 4"]) == pytest.approx(np.mean(two), abs=0.006)
    assert float(found["BFS", "mpnn"]["n = 4 ±"]) == pytest.approx(np.std(two, ddof=1), abs=0.006)
    mean = np.mean([np.mean(two), 100 * evaluated["minimum", "mpnn", 0, 4]["score"]])
    assert float(found["Average, 2 tasks", "mpnn"]["n = 4"]) == pytest.approx(mean, abs=0.006)
    assert ("Average, 2 tasks", "pgn") not in found  # it has not learned all


def test_the_cost_is_that_of_the_whole_run(run, runs):
    out = run(runs, "--table", "sizes", *SIZES, "--tasks", "minimum")[1]
    (line,) = [line.split() for line in out.splitlines() if line.startswith("Minimum")]
    assert line[:3] == ["Minimum", "mpnn", "1×2"] and float(line[-1]) > 0 and "Average" not in out


def test_of_each_size_there_may_be_another_number_of_samples(run, runs):
    said = " ".join(run(runs, "--table", "sizes", "--n", 4, 6, "--samples", 5, 2, "--tasks", "minimum")[1].split())
    assert "on 5 (n = 4), 2 (n = 6) samples" in said
    said = " ".join(run(runs, "--table", "sizes", *SIZES, "--tasks", "minimum")[1].split())
    assert "on 3 samples" in said


def test_a_csv_has_no_networks_to_try(run, runs, tmp_path):
    run(runs, "--export", tmp_path)
    refused(run(tmp_path / "runs.csv", "--table", "sizes"), "needs the networks of run folders")


def test_the_last_networks_may_be_tried(run, runs, evaluated, tmp_path, capsys):
    out = tmp_path / "last.json"
    assert runner(capsys, "evaluate")(runs / "minimum", *SIZES, "--network", "last", "--json", out)[0] == 0
    expected = {found["n"]: 100 * found["score"] for found in json.loads(out.read_text())["evaluations"]}
    code, said, _ = run(runs / "minimum", "--table", "sizes", *SIZES, "--network", "last")
    (line,) = [line.replace(" a ", " ").split() for line in said.splitlines() if line.startswith("Minimum")]
    assert code == 0 and "With the last network." in " ".join(said.split())
    assert [float(line[3]), float(line[5])] == pytest.approx([expected[4], expected[6]], abs=0.006)
    refused(run(runs, "--network", "last"), "--network")


def test_a_run_whose_task_cannot_be_imported_does_not_stop_the_others(run, runs, tmp_path, capsys):
    shutil.copytree(runs, tmp_path / "runs")
    config = tmp_path / "runs" / "bfs" / "pgn" / "0" / "config.json"
    config.write_text(config.read_text().replace('"bfs"', '"nowhere:sort"'))
    (config.parent / "result.json").unlink()
    few = (tmp_path / "runs", "--n", 4, "--samples", 2)
    drawn = ("--figure", "sizes", "--out", tmp_path / "sizes.png")
    evaluate = runner(capsys, "evaluate")
    for code, out, err in (run(*few, "--table", "sizes"), run(*few, *drawn), evaluate(*few)):
        assert code == 1 and err.startswith(f"rnar: {config.parent} is left out: cannot import 'nowhere'")
        assert "\n" not in err and (out == "" or "mpnn" in out)
    assert "nowhere:sort" in run(tmp_path / "runs")[1]
