"""`rnar compare`: two networks on the same samples."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.command import refused
from helpers.training import small_runs
from rnar.cli.main import main


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    task = "find_maximum_subarray_kadane"  # which has two outputs
    return small_runs(tmp_path_factory.mktemp("runs"), (task, "mpnn", 0), (task, "rnar", 1), ("bfs", "mpnn", 0))


def folders(runs: Path) -> tuple[Path, Path]:
    return runs / "find_maximum_subarray_kadane" / "mpnn" / "0", runs / "find_maximum_subarray_kadane" / "rnar" / "1"


def test_both_have_the_scores_that_evaluate_tells(run, runs, tmp_path):
    few = ("--n", 4, 6, "--samples", 5, "--threads", 1)
    code, out, err = run("compare", *folders(runs), *few, "--json", tmp_path / "out.json")
    assert (code, err) == (0, "") and max(map(len, out.splitlines()[2:])) <= 80
    found = json.loads((tmp_path / "out.json").read_text())["comparisons"]
    assert [(each["n"], each["samples"]) for each in found] == [(4, 5), (6, 5)]
    for letter, folder in zip("ab", folders(runs), strict=True):
        assert main(["evaluate", str(folder), *map(str, few), "--json", str(tmp_path / letter)]) == 0
        for each, told in zip(found, json.loads((tmp_path / letter).read_text())["evaluations"], strict=True):
            score, *outputs = each["differences"]
            assert score[letter] == pytest.approx(told["score"])
            assert {row["name"]: row[letter] for row in outputs} == pytest.approx(told["outputs"])
    for each in found:
        for row in each["differences"]:
            low, high = row["interval"]
            assert low <= row["difference"] <= high and row["difference"] == pytest.approx(row["b"] - row["a"])
    assert [line.split()[0] for line in out.splitlines() if line.startswith("  ")].count("start") == 2


def test_a_pretrained_network_is_named_without_a_folder(run):
    code, out, err = run("compare", "bfs", "BFS", "--n", 4, "--samples", 2, "--threads", 1)
    assert (code, err) == (0, "") and "+0.00 to +0.00" in out


def test_networks_of_other_tasks_cannot_be_compared(run, runs):
    first, _ = folders(runs)
    words = "nothing to compare", "has learned bfs"
    refused(run("compare", first, runs / "bfs" / "mpnn" / "0", "--n", 4), *words)
    refused(run("compare", first, "nothing"), "there is no folder nothing")


def test_a_file_that_is_there_is_kept(run, runs, tmp_path):
    (tmp_path / "out.json").write_text("mine")
    refused(run("compare", *folders(runs), "--json", tmp_path / "out.json"), "exists already")
    assert (tmp_path / "out.json").read_text() == "mine"
