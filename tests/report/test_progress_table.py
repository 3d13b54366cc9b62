"""What networks say before the algorithm has ended, in a table."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from helpers.command import runner
from helpers.training import small_runs
from rnar.clrs import ALGORITHMS, sample, trace
from rnar.evaluation.sets import problem_set
from rnar.report.progress import algorithm, becoming
from rnar.report.tables import SHARES

SIZES = ("--n", 5, 6, "--samples", 3)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    return small_runs(tmp_path_factory.mktemp("runs"), ("bfs", "mpnn", 0), ("quickselect", "mpnn", 0))


def test_a_batch_may_end_before_its_algorithm():
    batch = sample("quickselect", n=9, batch=5, seed=1)
    half = batch.beginning(0.5)
    assert half.lengths.tolist() == [1 + max(1, -(-(length - 1) // 2)) for length in batch.lengths.tolist()]
    assert all(len(x) == half.lengths.max() for x in half.hints.values())
    assert half.outputs is not batch.outputs and all((half.outputs[k] == x).all() for k, x in batch.outputs.items())
    whole = batch.beginning(1.0)
    assert (whole.lengths == batch.lengths).all() and whole.hints["p"].shape == batch.hints["p"].shape
    assert batch.beginning(1e-9).lengths.tolist() == [2] * 5  # one step at least


def test_each_share_of_the_steps_has_the_score_that_evaluate_gives_it(run, runs, tmp_path, capsys):
    found = run(runs, "--table", "progress", *SIZES, "--format", "csv", "--out", tmp_path / "table.csv")
    assert (found[0], found[2]) == (0, "")
    with (tmp_path / "table.csv").open() as file:
        head, *lines = csv.reader(file)
    assert head[5:] == ["10%", "25%", "50%", "75%", "100%"]
    evaluate, titles = runner(capsys, "evaluate"), {"BFS": "bfs", "Quickselect": "quickselect"}
    networks = {(titles[line[0]], int(line[4])): line[5:] for line in lines if line[1] == "mpnn"}
    assert len(networks) == 4
    for place, share in enumerate(SHARES):
        out = tmp_path / f"{share}.json"
        code, shown, _ = evaluate(runs, *SIZES, "--after", share, "--json", out)
        assert code == 0 and ("asked after" in shown) == (share < 1)
        for each in json.loads(out.read_text())["evaluations"]:
            assert each["after"] == share
            score = float(networks[each["task"], each["n"]][place])
            assert score == pytest.approx(100 * each["score"], abs=0.006)


def test_when_a_network_is_asked_matters(run, runs):
    """Of an untrained network too: else a column would be another's."""
    out = run(runs, "--table", "progress", "--n", 12, "--samples", 16, "--tasks", "quickselect", "--format", "csv")[1]
    assert len(set(out.splitlines()[1].split(",")[5:])) > 1


@pytest.mark.parametrize("task", ["bfs", "heapsort", "topological_sort", "mst_kruskal"])
def test_the_algorithm_is_right_in_the_end_and_not_before(task):
    first, half, last = algorithm(problem_set(task, 12, 4), (0.1, 0.5, 1.0))
    assert first < half < last == 1.0


def test_of_some_tasks_no_hint_becomes_the_answer():
    without = {task for task in ALGORITHMS if not dict(becoming(task))}
    assert without == {
        "find_maximum_subarray_kadane", "segments_intersect", "binary_search", "quickselect", "naive_string_matcher",
        "kmp_matcher",
    }  # fmt: skip
    assert algorithm(problem_set("quickselect", 12, 4), (1.0,)) == []


def test_what_an_algorithm_has_by_then_is_its_hint_by_then():
    numbers = [0.4, 0.3, 0.9, 0.1, 0.7, 0.2]
    assert dict(becoming("insertion_sort")) == {"pred": "pred_h"}
    steps = trace("insertion_sort", numbers)
    right = [np.mean(steps.hints["pred_h"][t] == steps.outputs["pred"]) for t in range(steps.steps)]
    batch = steps.batch()

    class Problems:
        task = "insertion_sort"

        def batches(self):
            return iter([batch])

    shares = [t / (steps.steps - 1) for t in range(1, steps.steps)]
    assert algorithm(Problems(), shares) == pytest.approx(right[1:])  # type: ignore[arg-type]


@pytest.mark.parametrize("share", [0, 1.5, "nan"])
def test_a_share_that_is_none_is_refused_in_one_line(runs, capsys, share):
    code, out, err = runner(capsys, "evaluate")(runs, "--after", share)
    assert (code, out) == (2, "") and "--after" in err and "\n" not in err


def test_pages_of_the_worst_samples_are_of_whole_runs(runs, capsys):
    code, out, err = runner(capsys, "evaluate")(runs, "--after", 0.5, "--worst", 1)
    assert (code, out) == (2, "") and "--worst" in err and "--after" in err
