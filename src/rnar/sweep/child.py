"""A process that does one job (see job.py), as seen by whoever started it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

GRACE = 90.0  # seconds to save, once asked to stop


class Outcome(NamedTuple):
    kind: Literal["done", "failed", "died"]
    """`failed`: it would again; `died`: it may go well another time"""
    words: str = ""
    value: Any = None


class Child:
    """One process. It is asked to stop, or killed, with all that it has started."""

    def __init__(self, request: dict[str, Any], threads: int, environment: dict[str, str] | None = None):
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (it lives as long as this)
        self._last: dict[str, Any] = {}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "rnar.sweep.job"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **_threads(threads), **(environment or {})},
            start_new_session=True,  # Ctrl-C is for whoever started it, who will say so
        )
        self.number = self._process.pid
        assert self._process.stdin
        try:
            self._process.stdin.write(json.dumps(request).encode() + b"\n")
            self._process.stdin.flush()  # and it stays open: see job.py
        except BrokenPipeError:
            pass  # it has ended already; the outcome tells

    def messages(self) -> Iterator[dict[str, Any]]:
        """What it tells, until it ends."""
        assert self._process.stdout
        for line in self._process.stdout:
            if line.endswith(b"\n"):
                self._last = json.loads(line)
                yield self._last

    def outcome(self) -> Outcome:
        """Once it has ended."""
        code = self._process.wait()
        self._close()
        if "done" in self._last:
            return Outcome("done", value=self._last["done"])
        for kind in ("failed", "died"):
            if kind in self._last:
                return Outcome(kind, self._last[kind])
        return Outcome("died", self._why(code))

    def _why(self, code: int) -> str:
        if code == -signal.SIGKILL:
            return "its process was killed: was memory short?"
        said = self._said.strip().splitlines()
        how = f"by signal {-code}" if code < 0 else f"with code {code}"
        return f"its process ended {how}" + (f": {said[-1]}" if said else "")

    def _close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass
        self._errors.seek(0)
        self._said = self._errors.read().decode(errors="replace")
        self._errors.close()

    def ask_to_stop(self) -> None:
        """It saves first."""
        if self._process.poll() is None:
            self._process.terminate()

    def end(self, seconds: float = GRACE) -> None:
        """Wait for it to stop; kill it if that takes too long."""
        try:
            self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            pass
        finally:
            self.kill()

    def kill(self) -> None:
        if self._process.poll() is None:
            if hasattr(os, "killpg"):
                os.killpg(self.number, signal.SIGKILL)
            else:
                self._process.kill()
            self._process.wait()


def ended(child: Child) -> Outcome:
    """Wait for a process; its outcome."""
    try:
        for _ in child.messages():
            pass
        return child.outcome()
    finally:
        child.kill()


def _threads(count: int) -> dict[str, str]:
    """No library takes more than its share of the cores."""
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    return dict.fromkeys(names, str(count))
