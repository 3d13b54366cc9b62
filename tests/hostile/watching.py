"""What came of many tries: each must end in time and in little memory, with an exit code, and say what is wrong in one
line."""

from __future__ import annotations

import contextlib
import io
import resource
import signal
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from rnar.cli.main import main

CODES = {0: "accepted", 1: "gone on without some", 2: "refused in one line", 130: "stopped"}
SECONDS = 60  # after which a try hangs
BYTES = 2 << 30  # that a try may take
LIMIT = 8 << 30  # that all may take, so that one that takes more is told here, and not by the system


class Hang(BaseException):
    """It took too long."""


@contextlib.contextmanager
def in_time(seconds: int) -> Iterator[None]:
    def ring(*_: Any) -> None:
        raise Hang

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


@contextlib.contextmanager
def in_memory(limit: int) -> Iterator[None]:
    before, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (limit, most))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (before, most))


def peak() -> int:
    """The most bytes that this process has had in memory."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


class Counts:
    """How many tries ended how, and those that ended badly."""

    def __init__(self) -> None:
        self.ends: Counter[str] = Counter()
        self.bad: list[str] = []

    def __str__(self) -> str:
        tried = sum(self.ends.values())
        return f"{tried} tried: " + ", ".join(f"{count} {end}" for end, count in self.ends.most_common())

    def call(self, words: list[str], about: str) -> int | None:
        """Run a command in this process; its exit code, if it has a good one."""
        out, err = io.StringIO(), io.StringIO()
        code, wrong, before = None, "", peak()
        try:
            with in_time(SECONDS), in_memory(LIMIT), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                code = main(words)
        except Hang:
            wrong = "hang"
        except BaseException:
            wrong = "traceback: " + traceback.format_exc()
        said = [line for line in err.getvalue().splitlines() if not line.startswith("rnar: compiling")]
        if not wrong and peak() - before > BYTES:
            wrong = f"it took {(peak() - before) / 1e9:.1f} GB"
        if not wrong and code not in CODES:
            wrong = f"exit code {code}"
        if not wrong and "Traceback" in err.getvalue():
            wrong = "traceback on stderr"
        if not wrong and code == 2 and (not said or not said[-1].startswith(("rnar: ", "usage: "))):
            wrong = f"exit code 2 with {said!r}"
        self.ends["bad" if wrong else CODES[code or 0]] += 1
        if wrong:
            self.bad.append(f"{about}\n  rnar {' '.join(map(repr, words))}\n  {wrong}")
        return None if wrong else code

    def python(self, call: Callable[[], Any], about: str) -> None:
        """Call a function, which must return or raise a ValueError of one line."""
        wrong, end, before = "", "accepted", peak()
        try:
            with in_time(SECONDS), in_memory(LIMIT), contextlib.redirect_stdout(io.StringIO()):
                call()
        except Hang:
            wrong = "hang"
        except KeyboardInterrupt:
            end = "stopped"
        except ValueError as error:
            end, wrong = "refused in one line", "" if len(str(error).splitlines()) == 1 else f"it says {str(error)!r}"
        except Exception:
            wrong = "traceback: " + traceback.format_exc()
        if not wrong and peak() - before > BYTES:
            wrong = f"it took {(peak() - before) / 1e9:.1f} GB"
        self.ends["bad" if wrong else end] += 1
        if wrong:
            self.bad.append(f"{about}\n  {wrong}")

    def check(self, holds: Callable[[], bool], about: str) -> None:
        """Note that something else is wrong after a try."""
        if not holds():
            self.bad.append(about)
