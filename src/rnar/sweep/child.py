"""A process that does one job (see job.py), as seen by whoever started it."""

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

GRACE = 90.0  # seconds that a process gets to save after it was asked to stop
THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")

Message = dict[str, Any]


class Outcome(NamedTuple):
    kind: Literal["done", "failed", "died"]
    """`failed`: the job would fail again; `died`: it may succeed if it is tried again"""
    words: str = ""
    """why it failed or died"""
    value: Any = None
    """the result, if it is done"""


class Child:
    """One process. Killing it also kills the processes that it has started."""

    def __init__(self, request: Message, threads: int, environment: dict[str, str] | None = None):
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (it is open as long as the process runs)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rnar.sweep.job"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=0,  # so that closing a broken pipe has nothing to write and cannot fail
            env={**os.environ, **dict.fromkeys(THREADS, str(threads)), **(environment or {})},
            start_new_session=True,  # Ctrl-C reaches only the parent, which asks this process to stop
        )
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")  # and it stays open: see job.py
        except BrokenPipeError:
            pass  # the process has ended already, and its outcome says why

    def follow(self, told: Callable[[Message], None] = lambda message: None) -> Outcome:
        """Pass on its messages until it ends. If that is interrupted, the process is asked to save and stop."""
        assert self._process.stdout
        last: Message = {}
        try:
            for line in self._process.stdout:
                if line.endswith(b"\n"):  # a process that is killed may leave half a line
                    last = json.loads(line)
                    told(last)
            code = self._process.wait()
        except BaseException:
            self.ask_to_stop()
            self.end()
            raise
        with self._process, self._errors:  # closes the pipes and the file
            self._errors.seek(0)
            said = self._errors.read().decode(errors="replace").strip().splitlines()
        if "outcome" in last:
            return Outcome(*last["outcome"])
        if code == -signal.SIGKILL:
            return Outcome("died", "its process was killed: was memory short?")
        how = f"by signal {-code}" if code < 0 else f"with code {code}"
        return Outcome("died", f"its process ended {how}" + (f": {said[-1]}" if said else ""))

    def ask_to_stop(self) -> None:
        """Have it save and end. Asking twice would make it end without saving."""
        self._process.terminate()

    def end(self) -> None:
        """Wait until it has stopped; kill it if that takes too long."""
        try:
            self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self.kill()

    def kill(self) -> None:
        if self._process.poll() is None:
            if hasattr(os, "killpg"):
                os.killpg(self._process.pid, signal.SIGKILL)
            else:
                self._process.kill()
            self._process.wait()
