"""How the answers of networks depend on hints, in a table."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from helpers.command import refused, runner
from helpers.training import small_runs

SIZES = ("--n", 4, 6, "--samples", 3)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    return small_runs(tmp_path_factory.mktemp("runs"), ("bfs", "mpnn", 0), ("bellman_ford", "mpnn", 0))


def test_each_source_of_hints_has_the_score_that_evaluate_gives_it(run, runs, tmp_path, capsys):
    table = run(runs, "--table", "hints", *SIZES, "--format", "csv", "--out", tmp_path / "table.csv")
    assert (table[0], table[2]) == (0, "")
    with (tmp_path / "table.csv").open() as file:
        lines = list(csv.reader(file))[1:]
    evaluate, expected = runner(capsys, "evaluate"), {}
    for source in ("network", "truth", "nothing"):
        out = tmp_path / f"{source}.json"
        assert evaluate(runs, *SIZES, "--hints", "--hints-from", source, "--json", out)[0] == 0
        for found in json.loads(out.read_text())["evaluations"]:
            expected.setdefault((found["task"], found["n"]), []).append(found)
    titles = {"BFS": "bfs", "Bellman-Ford": "bellman_ford"}
    assert sorted((titles[line[0]], int(line[4])) for line in lines) == sorted(expected)
    for title, model, _, _, n, *scores, hints in lines:
        own, truth, nothing = expected[titles[title], int(n)]
        assert model == "mpnn"
        assert [float(x) for x in scores] == pytest.approx(
            [100 * each["score"] for each in (own, truth, nothing)], abs=0.006
        )
        said = dict(each.rsplit(" ", 1) for each in hints.split(", "))
        assert said.keys() == own["hints"].keys()
        for name, hint in own["hints"].items():
            scale, tolerance = (1, 0.1 * hint["all"]) if hint["measure"] == "squared error" else (100, 0.51)
            assert float(said[name]) == pytest.approx(scale * hint["all"], abs=tolerance)


def test_what_feeds_the_hints_matters(run, runs):
    """Of an untrained network too: else a column would be another's."""
    out = run(runs, "--table", "hints", "--n", 8, "--samples", 16, "--tasks", "bfs", "--format", "csv")[1]
    scores = out.splitlines()[1].split(",")[5:8]
    assert len(set(scores)) > 1


def test_networks_are_tried_in_the_precision_that_was_asked_for_and_the_table_says_so(run, runs, monkeypatch):
    from rnar.report import trials

    asked = []

    def noted(*args, precision, **flags):
        asked.append(precision)
        return evaluate(*args, precision=precision, **flags)

    evaluate = trials.evaluate
    monkeypatch.setattr(trials, "evaluate", noted)
    for table, times in ("hints", 3), ("sizes", 1):
        flags = ("--table", table, "--n", 4, "--samples", 2, "--tasks", "bfs", "--format", "markdown")
        assert "bfloat16" not in run(runs, *flags)[1]
        assert "With products in bfloat16." in run(runs, *flags, "--precision", "bfloat16")[1]
        assert asked == times * ["float32"] + times * ["bfloat16"]
        asked.clear()
    refused(run(runs, "--precision", "bfloat16"), "--precision", "sizes, hints and progress")
