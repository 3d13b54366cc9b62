"""One run: `rnar train` as a subprocess, which saves and stops when the process that started it is gone.

This module does not import torch: each of Ray's workers would have to load it, and does not need it.
"""

import asyncio
import os
import runpy
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal, NamedTuple

from rnar.common.lock import locked

MOMENT = 0.5  # seconds
GRACE = 90.0  # seconds that a process gets to save after it was asked to stop
LOCK_WAIT = 60.0  # seconds that another process gets to leave the folder of the run
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


class Command(NamedTuple):
    """`rnar train`, and where to start it."""

    arguments: Sequence[str]
    folder: Path
    """of the run"""
    threads: int
    directory: Path
    """the current one of the process"""


class Outcome(NamedTuple):
    kind: Literal["done", "failed", "died"]
    """`failed`: the run would fail again; `died`: it may succeed if it is tried again"""
    message: str = ""
    """why it failed or died"""


async def train(command: Command, **environment: str) -> Outcome:
    """Run a command until it ends. If this is cancelled, the run is saved and stopped."""
    with tempfile.TemporaryFile() as errors:
        with subprocess.Popen(
            [sys.executable, "-m", "rnar.sweep.process", str(command.folder), "train", *command.arguments],
            stdin=subprocess.PIPE,  # it is closed when this process ends, however it does: see main()
            stdout=subprocess.DEVNULL,
            stderr=errors,
            cwd=command.directory,
            env={**os.environ, **dict.fromkeys(THREADS, str(command.threads)), **environment},
            start_new_session=True,  # so that Ctrl-C reaches only this process
        ) as process:
            try:
                while process.poll() is None:
                    await asyncio.sleep(MOMENT)
            finally:
                await _stop(process)
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
    return outcome_of(process.returncode, lines[-1] if lines else "")


async def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ask a process to save and end; kill it, and those that it has started, if that takes too long."""
    process.terminate()  # nothing happens if it has ended
    end = time.monotonic() + GRACE
    try:
        while process.poll() is None and time.monotonic() < end:
            await asyncio.sleep(MOMENT / 10)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)


def outcome_of(code: int, message: str) -> Outcome:
    """The outcome of a command, by its exit code and the last line that it wrote to stderr."""
    if code == 0:
        return Outcome("done")
    if code == 2:
        return Outcome("failed", message.removeprefix("rnar: "))
    if code == -signal.SIGKILL:
        return Outcome("died", "its process was killed: was memory short?")
    how = f"by signal {-code}" if code < 0 else f"with code {code}"
    return Outcome("died", f"its process ended {how}" + (f": {message}" if message else ""))


def train_on_node(command: Command) -> Outcome:
    """The same on a node of a cluster: run a command until it ends, or until this function is interrupted."""
    for folder in (command.directory, (command.directory / command.folder).parent):
        if not folder.is_dir():
            return Outcome("failed", f"{socket.gethostname()} does not see {folder}; all nodes must share it")
    return asyncio.run(train(command, PYTHONPATH=os.pathsep.join(filter(None, sys.path))))


def main() -> None:
    """Run a command in this process, but stop as if asked to when stdin is closed.

    The first argument is the run's folder, which an earlier process may hold until it has saved.
    """
    from rnar.training.folder import LOCK

    threading.Thread(target=_stop_with_parent, daemon=True).start()
    wait_until_free(Path(sys.argv.pop(1)) / LOCK)
    runpy.run_module("rnar", run_name="__main__")


def _stop_with_parent() -> None:
    while os.read(0, 1024):  # not through sys.stdin: a process forked meanwhile would wait for its lock
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def wait_until_free(lock: Path) -> None:
    """Wait for another process to leave the folder. If it does not, the command raises an error that says so."""
    with suppress(ValueError):
        if lock.exists():
            with locked(lock, LOCK_WAIT):
                pass


if __name__ == "__main__":
    main()
