"""A run in a process of its own."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from helpers.processes import wait_for
from helpers.sweeping import LONG, saved_step
from rnar.common.lock import locked
from rnar.sweep.process import Command, Outcome, outcome_of, train, train_on_node, wait_until_free


@pytest.mark.parametrize(
    ("code", "message", "outcome"),
    [
        (0, "rnar: compiling", Outcome("done")),
        (2, "rnar: no task 'bsf'", Outcome("failed", "no task 'bsf'")),
        (1, "IndexError: 3", Outcome("died", "its process ended with code 1: IndexError: 3")),
        (-9, "", Outcome("died", "its process was killed: was memory short?")),
        (-11, "", Outcome("died", "its process ended by signal 11")),
    ],
)
def test_an_outcome_is_read_from_the_exit_code_and_the_last_line(code, message, outcome):
    assert outcome_of(code, message) == outcome


def test_what_rnar_train_refuses_is_told_in_its_words(tmp_path):
    command = Command(["bsf"], tmp_path / "run", 1, tmp_path)
    outcome = asyncio.run(train(command))
    assert outcome.kind == "failed" and outcome.message.startswith("no task 'bsf' (did you mean 'bfs'?)")


def test_a_node_that_does_not_see_the_folder_says_so(tmp_path):
    hidden = tmp_path / "elsewhere"
    for command in (
        Command(["bfs"], Path("runs/bfs/rnar/seed-0"), 1, hidden),
        Command(["bfs"], hidden / "seed-0", 1, tmp_path),
    ):
        outcome = train_on_node(command)
        assert outcome.kind == "failed" and outcome.message.endswith(f"does not see {hidden}; all nodes must share it")


def test_it_saves_and_stops_when_whoever_started_it_is_gone(tmp_path):
    folder = tmp_path / "run"
    words = ["bfs", *LONG, "--steps", "10000", "--folder", folder]
    process = subprocess.Popen(
        [sys.executable, "-m", "rnar.sweep.process", folder, "train", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin
    wait_for(lambda: (folder / "metrics.jsonl").exists() and (folder / "metrics.jsonl").read_bytes().count(b"\n") > 1)
    process.stdin.close()
    assert process.wait(600) == 143
    assert saved_step(folder) >= 25


def test_it_waits_for_another_process_to_leave_the_folder(tmp_path):
    held, free = threading.Event(), threading.Event()

    def hold() -> None:
        with locked(tmp_path / ".lock"):
            held.set()
            free.wait()

    other = threading.Thread(target=hold)
    other.start()
    held.wait()
    threading.Timer(0.2, free.set).start()
    wait_until_free(tmp_path / ".lock")
    assert free.is_set()
    other.join()
    wait_until_free(Path(os.devnull) / "nothing")  # no lock, nothing to wait for
