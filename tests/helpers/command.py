"""The command line, called in this process or in one of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from rnar.cli.main import main

Outcome = tuple[int, str, str]
RNAR = (sys.executable, "-m", "rnar")  # the same in a process of its own


def runner(capsys: pytest.CaptureFixture[str], *first: str, whose: str = "") -> Callable[..., Outcome]:
    """Runs a command that begins with these words: its exit code, and what it wrote to stdout and stderr.

    Without what is said about compiling, and, if `whose` is given, of stderr only the lines that begin so.
    """

    def run(*argv: object) -> Outcome:
        capsys.readouterr()  # what was written before the command
        code = main([*first, *map(str, argv)])
        out, err = capsys.readouterr()
        lines = [line for line in err.splitlines() if not line.startswith("rnar: compiling")]
        return code, out, "\n".join(line for line in lines if line.startswith(whose))

    return run


def refused(outcome: Outcome, *words: str) -> None:
    """Exit code 2, nothing on stdout, one line on stderr that holds the words."""
    code, out, err = outcome
    assert (code, out) == (2, "")
    assert err.startswith("rnar: ") and "\n" not in err
    for word in words:
        assert word in err
