"""`rnar sweep` with processes on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from helpers.command import RNAR, runner
from helpers.processes import wait_for
from helpers.sweeping import (
    LONG,
    MATRIX,
    TINY,
    is_training,
    kill,
    runs_in,
    saved_step,
    times,
    trained_one_by_one,
    trainings_of,
)


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run a command in this process and an empty folder: its exit code, what it wrote to stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    return runner(capsys)


linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for processes in /proc")


def test_a_run_of_two_threads_ends_as_if_trained_alone(tmp_path):
    words = ["sweep", *TINY, "--tasks", "bfs", "--models", "rnar", "--seeds", "0", "--steps", "4", "--threads", "2"]
    subprocess.run([*RNAR, *words], cwd=tmp_path, check=True, capture_output=True, timeout=900)
    assert runs_in(tmp_path / "runs") == trained_one_by_one("bfs", "rnar", (0,), threads=2)


@linux
def test_runs_that_are_killed_are_begun_again_and_all_end_as_if_trained_one_by_one(run):
    alone = trained_one_by_one("bfs,binary_search", "rnar,mpnn", (0, 1))
    killed: list[int] = []

    def watch() -> None:
        wait_for(lambda: list(Path("runs").rglob("metrics.jsonl")))
        killed.extend(trainings_of(os.getpid()))
        for process in killed:
            kill(process)

    watcher = threading.Thread(target=watch)
    watcher.start()
    code, out, err = run("sweep", *MATRIX, "--parallel", 2)
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
    words = [*LONG, "--tasks", "bfs", "--models", "mpnn,rnar", "--seeds", "0", "--steps", "200", "--parallel", "1"]
    done, begun = Path("runs/bfs/mpnn/seed-0"), Path("runs/bfs/rnar/seed-0")

    def interrupt() -> None:
        wait_for(lambda: (begun / "metrics.jsonl").exists() and (begun / "metrics.jsonl").read_bytes().count(b"\n") > 1)
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=interrupt)
    watcher.start()
    code, out, err = run("sweep", *words)
    watcher.join()
    assert (code, err) == (130, "rnar: interrupted")
    assert "stopped; all is saved, and the same command goes on from there" in out
    assert trainings_of(os.getpid()) == []
    step, before = saved_step(begun), times(done)
    assert 0 < step < 200
    code, out, _ = run("sweep", *words)
    assert code == 0 and "1 finished, 1 to go on with" in out
    assert f"bfs rnar seed 0 goes on from step {step}\n" in out
    assert times(done) == before
    assert runs_in(Path("runs")) == trained_one_by_one("bfs", "rnar,mpnn", (0,), steps=200, validate_every=25)


@pytest.mark.usefixtures("my_models")
def test_a_model_of_the_user_is_trained_as_if_alone(run):
    words = ["--tasks", "bfs", "--models", "my_models:mine", "--seeds", "0", "--steps", "4", "--folder", "swept"]
    code, out, err = run("sweep", *TINY, *words)
    assert (code, err) == (0, "") and "1 of 1  bfs my_models:mine seed 0: " in out
    assert runs_in(Path("swept")) == trained_one_by_one("bfs", "my_models:mine", (0,))


@linux
def test_a_sweep_that_is_killed_leaves_nothing_behind_that_still_trains(tmp_path):
    words = [*LONG, "--tasks", "bfs", "--models", "rnar", "--seeds", "0-1", "--steps", "200", "--parallel", "2"]
    sweep = subprocess.Popen([*RNAR, "sweep", *words], cwd=tmp_path, stdout=subprocess.DEVNULL)
    wait_for(lambda: len(list(tmp_path.rglob("state.safetensors"))) == 2)
    runs = trainings_of(sweep.pid)
    kill(sweep.pid)
    sweep.wait()
    again = subprocess.run([*RNAR, "sweep", *words], cwd=tmp_path, capture_output=True, text=True, timeout=900)
    assert (again.returncode, again.stderr) == (0, "") and "2 to go on with" in again.stdout
    assert len(runs) == 2 and not any(is_training(run) for run in runs)
    assert runs_in(tmp_path / "runs") == trained_one_by_one("bfs", "rnar", (0, 1), steps=200, validate_every=25)
