"""`rnar sweep`: what is refused, shown and told."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from helpers.command import refused, runner
from helpers.sweeping import SETTINGS, TINY, runs_in
from rnar.cli import sweep as command
from rnar.training import Settings, train


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run a command in this process and an empty folder: its exit code, what it wrote to stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    return runner(capsys)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "which tasks? give a preset (table1, table2, ablation, janossy, timing, panel, quick) or --tasks"),
        (["tabel1"], "no preset 'tabel1' (did you mean 'table1'?)"),
        (["quick", "--tasks", "bsf"], "no task 'bsf' (did you mean 'bfs'?)"),
        (["quick", "--tasks", "mts*"], "no task matches 'mts*' (did you mean"),
        (["quick", "--tasks", ","], "--tasks ',' names none, so there would be nothing to run"),
        (["quick", "--models", "rnr"], "no model 'rnr' (did you mean 'rnar'?)"),
        (["quick", "--models", "nowhere:mine"], "cannot import 'nowhere'"),
        (["quick", "--seeds", "5-2"], "--seeds 5-2: 5-2 goes backwards; did you mean 2-5?"),
        (["quick", "--seeds", "one"], "'one' is neither a seed nor a range of them, as 0-4 is"),
        (["quick", "--seeds", "0-123456789"], "more than 10000"),
        (["quick", "--steps", "120"], "steps=120 is not a multiple of validate_every=50"),
        (["quick", "--parallel", "0"], "--parallel must be at least 1, not 0"),
        (["quick", "--gpus", "2"], "a run computes on one GPU at most"),
        (["quick", "--memory", "0"], "--memory must be above 0, not 0"),
        (["quick", "--retries", "-1"], "--retries must not be negative"),
        (["quick", "--seed", "3"], "does not know '--seed' (did you mean '--seeds'?)"),
        (["quick", "--tasks", "kmp_matcher", "--sizes", "4"], "too small for a needle of 8"),
        (["quick", "--address", "here:1"], "--address is that of a Ray cluster; give --engine ray as well"),
        (["quick", "--engine", "cloud"], "cloud"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(run, monkeypatch, words, said):
    monkeypatch.setattr(command, "Local", None)  # nothing may be started
    code, out, err = run("sweep", *words)
    assert (code, out) == (2, "")
    assert err.startswith("rnar: ") and "\n" not in err and said in err
    assert os.listdir() == []


def test_a_plan_is_shown_and_nothing_done(run):
    code, out, _ = run("sweep", "table2", "--dry-run", "--parallel", 3, "--threads", 2)
    lines = out.splitlines()
    assert code == 0
    assert lines[0] == "620 runs in runs (30 tasks, 5 models, 5 seeds): 620 new"
    assert lines[1].split() == ["task", "triplet-gmpnn", "rt", "g-forgetnet", "rnar", "rnar-mpnn"]
    assert re.sub(" +", " ", lines[2]).strip() == "activity_selector 5 seeds 5 seeds 5 seeds 5 seeds -"
    assert lines[-1] == "3 at a time with 2 threads each"
    assert os.listdir() == []


def test_one_that_fails_is_told_at_the_end(run):
    Path("runs/bfs/mpnn").mkdir(parents=True)
    Path("runs/bfs/mpnn/seed-0").write_text("mine")
    code, out, _ = run("sweep", *TINY, "--tasks", "bfs", "--models", "mpnn", "--seeds", "0-1", "--steps", "4")
    assert code == 1
    assert re.search("^bfs +2 seeds *$", out, re.MULTILINE)
    reason = "runs/bfs/mpnn/seed-0 is a file, so no run can be kept there; choose another --folder"
    assert out.endswith(f"1 of 2 runs failed:\n  bfs mpnn seed 0: {reason}\n")
    assert list(runs_in(Path("runs"))) == ["bfs/mpnn/seed-1"] and Path("runs/bfs/mpnn/seed-0").read_text() == "mine"


def test_another_run_in_the_folder_is_refused_before_anything_is_done(run):
    train(Settings(tasks=("bfs",), model="mpnn", **SETTINGS))
    code, out, err = run("sweep", *TINY, "--tasks", "bfs", "--models", "rnar,mpnn", "--steps", 4, "--batch", 3)
    assert (code, out) == (2, "")
    assert err.startswith("rnar: runs/bfs/mpnn/seed-0 has a run with other settings: batch is 2 there and 3 here")
    assert list(runs_in(Path("runs"))) == ["bfs/mpnn/seed-0"]


def test_seeds_that_name_none_are_refused_and_do_not_become_five(run):
    refused(run("sweep", "quick", "--seeds", ""), "--seeds '' names none")
    refused(run("sweep", "--tasks", "bfs", "--seeds", " , "), "--seeds ' , ' names none")
