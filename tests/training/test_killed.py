"""A run that is killed and goes on ends as one that was never interrupted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from helpers.training import contents

TESTS = Path(__file__).parents[1]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")

# A process that imports once and forks one child after another, for that is quicker than starting anew.
BEGINNING = """
import os, random, signal, sys, threading, time
from pathlib import Path
from helpers.training import small_test, tiny
from rnar.training import folder, testing, train

testing.official, folder.SAVE_EVERY, folder.SAVE_SHARE = small_test, 0.0, float("inf")
here = Path(sys.argv[1])

def fork(work):
    "Run in a process of its own; its number."
    while threading.active_count() > 1:  # what the last run left must have ended
        time.sleep(0.01)
    number = os.fork()
    if number == 0:
        try:
            work()
        except BaseException:
            import traceback
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return number

def ended(number):
    return os.waitpid(number, 0)[1]
"""

AT_RANDOM = """
kills, steps, rng = 0, 4, random.Random(0)

def run(name, threads=2):
    return train(tiny(here / name, tasks=("bfs", "insertion_sort"), steps=steps, threads=threads))

def last_saved():
    state = here / "run" / "state.safetensors"
    return state.stat().st_mtime_ns if state.exists() else 0

run("first", threads=1)  # compiles what is compiled, which two would do twice
while kills < 25:
    before, number = last_saved(), fork(lambda: run("run"))
    if kills % 2:  # some time after it has come further; else at any time, also while it starts
        while last_saved() == before and not (here / "run" / "result.json").exists():
            time.sleep(0.001)
    time.sleep(rng.uniform(0.0, 0.1 if kills % 2 else 0.3))
    os.kill(number, signal.SIGKILL)
    kills += ended(number) == signal.SIGKILL
    if (here / "run" / "result.json").exists():  # it was quicker, and is taken further
        steps += 4
assert ended(fork(lambda: run("run"))) == 0
run("never")
"""

# Each moment: when part of a file is written, before it takes its name, and after.
AT_EACH_MOMENT = """
def dying(moment):
    "Have this process killed at that moment."
    passed = 0

    def pass_by():
        nonlocal passed
        passed += 1
        if passed == moment:
            os.kill(os.getpid(), signal.SIGKILL)

    replace, fsync = os.replace, os.fsync

    def dying_replace(*names):
        pass_by()
        replace(*names)
        pass_by()

    def dying_fsync(number):  # some of it has reached the disk
        if passed + 1 == moment:
            os.ftruncate(number, os.fstat(number).st_size - 30)
        pass_by()
        fsync(number)

    os.replace, os.fsync = dying_replace, dying_fsync

settings = dict(steps=2, validate_every=1)
train(tiny(here / "never", **settings))

def doomed(moment, run):
    dying(moment)
    train(run)

moment = 0
while True:
    moment += 1
    run = tiny(here / f"{moment}", **settings)
    if ended(fork(lambda: doomed(moment, run))) != signal.SIGKILL:
        break
    assert ended(fork(lambda: train(run))) == 0
"""


def run(program: str, folder: Path) -> None:
    command = [sys.executable, "-c", BEGINNING + program, str(folder)]
    subprocess.run(command, check=True, cwd=TESTS, timeout=900)


def test_killed_25_times_at_random_moments_it_ends_as_if_never_interrupted(tmp_path):
    run(AT_RANDOM, tmp_path)
    assert contents(tmp_path / "run") == contents(tmp_path / "never")


def test_killed_at_each_moment_of_each_write_it_ends_as_if_never_interrupted(tmp_path):
    run(AT_EACH_MOMENT, tmp_path)
    runs = [path for path in tmp_path.iterdir() if path.name != "never"]
    assert len(runs) > 20
    for path in runs:
        assert contents(path) == contents(tmp_path / "never"), path.name
        assert not list(path.glob(".*.partial"))
