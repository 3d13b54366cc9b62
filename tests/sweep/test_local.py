"""The command line: `rnar sweep ...`, with processes on this machine."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from rich.console import Console

from helpers.command import runner
from helpers.processes import wait_for
from helpers.sweeping import (
    MATRIX,
    SETTINGS,
    TINY,
    jobs_of,
    kill,
    runs_in,
    saved_step,
    times,
    trained_one_by_one,
)
from rnar.cli import sweep as command
from rnar.sweep.child import Outcome
from rnar.sweep.display import Display, summary
from rnar.sweep.estimate import Cost
from rnar.sweep.plan import plan
from rnar.sweep.presets import Part
from rnar.training import Settings, train

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run a command in this process and an empty folder: its exit code, what it wrote to stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    return runner(capsys)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "which tasks? give a preset (table1, table2, ablation, janossy, timing, quick) or --tasks"),
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
    monkeypatch.setattr(command, "_engine", None)  # nothing may be started
    code, out, err = run("sweep", *words)
    assert (code, out) == (2, "")
    assert err.startswith("rnar: ") and "\n" not in err and said in err
    assert os.listdir() == []


def test_a_run_of_two_threads_ends_as_if_trained_alone(tmp_path):
    words = ["sweep", *TINY, "--tasks", "bfs", "--models", "rnar", "--seeds", "0", "--steps", "4", "--threads", "2"]
    command = [sys.executable, "-m", "rnar", *words, "--no-estimate"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=900)
    assert runs_in(tmp_path / "runs") == trained_one_by_one("bfs", "rnar", (0,), threads=2)


def test_a_plan_is_shown_and_nothing_done(run):
    code, out, _ = run("sweep", "table2", "--no-estimate", "--dry-run", "--parallel", 3, "--threads", 2)
    lines = out.splitlines()
    assert code == 0
    assert lines[0] == "620 runs in runs (30 tasks, 5 models, 5 seeds): 620 new"
    assert lines[1].split() == ["task", "triplet-gmpnn", "rt", "g-forgetnet", "rnar", "rnar-mpnn"]
    assert re.sub(" +", " ", lines[2]).strip() == "activity_selector 5 x 5 x 5 x 5 x -"
    assert lines[-1] == "3 at a time with 2 threads each"
    assert os.listdir() == []


@linux
def test_runs_that_are_killed_are_begun_again_and_all_end_as_if_trained_one_by_one(run):
    alone = trained_one_by_one("bfs,binary_search", "rnar,mpnn", (0, 1))
    killed: list[int] = []

    def watch() -> None:
        wait_for(lambda: list(Path("runs").rglob("metrics.jsonl")))
        killed.extend(jobs_of(os.getpid()))
        for process in killed:
            kill(process)

    watcher = threading.Thread(target=watch)
    watcher.start()
    code, out, err = run("sweep", *MATRIX, "--no-estimate", "--parallel", 2)
    watcher.join()
    assert (code, err) == (0, "")
    assert killed and out.count("is begun again: its process was killed: was memory short?") == len(killed)
    assert len(alone) == 8 and runs_in(Path("runs")) == alone
    for place, each in alone.items():
        task, model, seed = place.split("/")
        assert f"{task} {model} {seed.replace('-', ' ')}: {each['result']['score']:.2%}" in out
    before = times(Path("runs"))
    assert run("sweep", *MATRIX)[:2] == (0, "8 runs in runs (2 tasks, 2 models, 2 seeds): 8 finished\n")
    assert times(Path("runs")) == before


@linux
def test_after_ctrl_c_the_same_command_does_nothing_twice(run):
    words = [*TINY, "--tasks", "bfs", "--models", "mpnn,rnar", "--seeds", "0", "--steps", "200", "--no-estimate"]
    words += ["--parallel", "1"]
    done, begun = Path("runs/bfs/mpnn/seed-0"), Path("runs/bfs/rnar/seed-0")

    def interrupt() -> None:
        wait_for(lambda: (begun / "metrics.jsonl").exists() and (begun / "metrics.jsonl").read_bytes().count(b"\n") > 4)
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    code, out, err = run("sweep", *words)
    watcher.join()
    assert (code, err) == (130, "rnar: interrupted")
    assert "stopped; all is saved, and the same command goes on from there" in out
    assert jobs_of(os.getpid()) == []
    step, before = saved_step(begun), times(done)
    assert 0 < step < 200
    code, out, _ = run("sweep", *words)
    assert code == 0 and "1 finished, 1 to go on with" in out
    assert f"bfs rnar seed 0 goes on from step {step}\n" in out
    assert times(done) == before
    assert runs_in(Path("runs")) == trained_one_by_one("bfs", "rnar,mpnn", (0,), steps=200)


def test_one_that_fails_is_told_at_the_end_and_the_estimate_at_the_beginning(run):
    Path("runs/bfs/mpnn").mkdir(parents=True)
    Path("runs/bfs/mpnn/seed-0").write_text("mine")
    code, out, _ = run("sweep", *TINY, "--tasks", "bfs", "--models", "mpnn", "--seeds", "0-1", "--steps", "4")
    assert code == 1
    assert re.search(r"^bfs +2 x \d+\.?\d* s *$", out, re.MULTILINE)
    assert re.search(r"^about \d+\.?\d* s if nothing else is done here, .* up to \d\.\d GB each$", out, re.MULTILINE)
    reason = "runs/bfs/mpnn/seed-0 is a file, so no run can be kept there; choose another --folder"
    assert out.endswith(f"1 of 2 runs failed:\n  bfs mpnn seed 0: {reason}\n")
    assert list(runs_in(Path("runs"))) == ["bfs/mpnn/seed-1"] and Path("runs/bfs/mpnn/seed-0").read_text() == "mine"


def test_another_run_in_the_folder_is_refused_before_anything_is_done(run):
    train(Settings(tasks=("bfs",), model="mpnn", **SETTINGS))
    code, out, err = run("sweep", *TINY, "--tasks", "bfs", "--models", "rnar,mpnn", "--steps", 4, "--batch", 3)
    assert (code, out) == (2, "")
    assert err.startswith("rnar: runs/bfs/mpnn/seed-0 has a run with other settings: batch is 2 there and 3 here")
    assert list(runs_in(Path("runs"))) == ["bfs/mpnn/seed-0"]


def test_in_a_terminal_there_is_a_bar_for_all_and_one_for_each(tmp_path):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120, highlight=False)
    jobs = plan([Part("bfs", "rnar")], [0, 1], SETTINGS, tmp_path)
    with Display(console, jobs, {("bfs", "rnar"): Cost(start=0.0, training=8.0, test=2.0, memory=0)}) as shown:
        for job in jobs:
            shown.started(job)
        shown.told(jobs[0], {"begun": 0})
        shown.told(jobs[0], {"step": 2})  # of 4
        assert shown.share == pytest.approx(4 / 20)
        shown.told(jobs[0], {"tested": 0.5})
        assert shown.share == pytest.approx(9 / 20)
        shown.bar.refresh()
        shown.ended(jobs[0], Outcome("done", value=0.25))
        shown.ended(jobs[1], Outcome("failed", "the disk is full"))
        assert shown.share == 1.0
    assert re.search("all runs.*0 of 2.*bfs rnar seed 0.*test.*bfs rnar seed 1.*starts", screen.getvalue(), re.DOTALL)
    assert "1 of 2  bfs rnar seed 0: 25.00%" in screen.getvalue()
    assert "2 of 2  bfs rnar seed 1: failed: the disk is full" in screen.getvalue()
    assert summary(jobs, "here") == "2 runs in here (1 task, 1 model, 2 seeds): 2 new"
