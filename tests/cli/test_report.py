"""`rnar report`: what is refused, left out, chosen."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from helpers.command import refused, runner
from helpers.reporting import line_of, some_runs, write


@pytest.fixture
def run(capsys, monkeypatch):
    """Run `rnar report` in this process: its exit code, and what it wrote to stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "250")

    return runner(capsys, "report")


@pytest.fixture
def runs(tmp_path) -> Path:
    return some_runs(tmp_path / "runs")


def test_a_folder_without_runs_is_refused(run, tmp_path, monkeypatch):
    refused(run(tmp_path), str(tmp_path), "no run", "rnar train")
    refused(run(tmp_path / "none"), "there is no", "none")
    monkeypatch.chdir(tmp_path)
    refused(run(), "there is no runs")
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    refused(run(tmp_path / "a.csv"), "a.csv", "no column task")


@pytest.mark.parametrize("name", ["result.json", "config.json", "metrics.jsonl"])
def test_a_file_that_cannot_be_read_is_named_and_the_rest_reported(run, runs, name):
    broken = runs / "quickselect" / "rnar" / "seed-1" / name
    broken.write_text('{"torn\n')
    code, out, err = run(runs, "--table", 1)
    assert code == 0 and str(broken) in err and err.startswith("rnar: ") and "\n" not in err
    assert line_of(out, "Quickselect")[-4:] == ["81.50", "±2.12", "−5.58", "2×10000"]


@pytest.mark.parametrize("value", [[], {"score": 1}, {"tests": 5}])
def test_a_result_of_another_form_is_named_and_the_rest_reported(run, runs, value):
    broken = runs / "quickselect" / "rnar" / "seed-1" / "result.json"
    good = json.loads(broken.read_text())
    write(broken, value if not isinstance(value, dict) or "tests" not in value else good | value)
    code, out, err = run(runs, "--table", 1)
    assert code == 0 and str(broken.parent) in err and "left out" in err and "\n" not in err
    assert "2×10000" in line_of(out, "Quickselect")


def test_a_row_that_makes_no_sense_is_named_and_the_rest_reported(run, runs, tmp_path):
    run(runs, "--export", tmp_path)
    text = (tmp_path / "runs.csv").read_text()
    (tmp_path / "runs.csv").write_text(text.replace("quickselect,rnar,1,", "quickselect,rnar,one,"))
    code, out, err = run(tmp_path / "runs.csv", "--table", 1)
    assert code == 0 and "runs.csv" in err and "seed is 'one'" in err and "\n" not in err
    assert "2×10000" in line_of(out, "Quickselect")


def test_the_same_run_in_two_folders_counts_once(run, runs):
    shutil.copytree(runs / "quickselect" / "rnar" / "seed-0", runs / "copy")
    code, out, err = run(runs, "--table", 1)
    assert (
        code == 0 and "same run" in err and line_of(out, "Quickselect")[-4:] == ["83.00", "±3.00", "−4.08", "3×10000"]
    )


def test_flags_that_make_no_sense_together_are_refused(run, runs, tmp_path):
    refused(run(runs, "--table", 1, "--figure", "curves", "--out", "x.png"), "--table and --figure")
    refused(run(runs, "--figure", "curves"), "--out")
    refused(run(runs, "--figure", "curves", "--out", "x.bmp"), "x.bmp", ".png")
    refused(run(runs, "--table", 7), "--table")
    refused(run(runs, "--n", 4), "--n")
    refused(run(runs, "--bench", "x.json"), "--bench")
    refused(run(runs, "--tasks", "bfs"), "no run is of bfs", "heapsort")
    (tmp_path / "mine").write_text("mine")
    refused(run(runs, "--table", 1, "--out", tmp_path / "mine"), "--force")
    refused(run(runs, "--export", tmp_path / "mine"), "mine is a file")
    assert (tmp_path / "mine").read_text() == "mine"
    assert run(runs, "--table", 1, "--out", tmp_path / "mine", "--force")[0] == 0
    assert "83.00 ±3.00" in (tmp_path / "mine").read_text()


def test_tasks_are_chosen_by_wildcard(run, runs):
    out = run(runs, "--tasks", "quick*")[1]
    assert "Quickselect" in out and "Heapsort" not in out


def test_models_are_chosen_by_wildcard(run, runs):
    out = run(runs, "--models", "rnar*", "--format", "csv")[1]
    assert "Quickselect,rnar," in out and "Heapsort,rnar," in out and "Heapsort,triplet-gmpnn," not in out
    refused(run(runs, "--models", "rt", "pgn"), "no run is of rt or pgn; there are runs of rnar, triplet-gmpnn")


@pytest.mark.skipif(not Path("/dev/zero").exists(), reason="has no such device")
def test_a_device_is_no_csv_and_no_measurement(run, runs):
    refused(run("/dev/zero"), "/dev/zero is no file")
    refused(run(runs, "--figure", "timing", "--bench", "/dev/zero", "--out", "x.png"), "/dev/zero is not what")


def test_which_network_is_refused_where_nothing_depends_on_it(run, runs):
    refused(run(runs, "--network", "average"), "--network", "the paper's tables", "--table")
    refused(run(runs, "--network", "average", "--table", "networks"), "--network", "the paper's tables")
    refused(run(runs, "--network", "average", "--table", 1), "no finished run", "--average")


def test_choices_are_listed_in_order(run):
    refused(run("--table", 5), "Expected one of 1, 2, 3, 4, hints, networks, progress, sizes;")


def test_a_network_that_ships_is_reported_by_its_name(run):
    code, out, err = run("Minimum", "--format", "csv")
    assert (code, err) == (0, "") and "Minimum,rnar," in out
    refused(run("minimun"), "there is no minimun")
