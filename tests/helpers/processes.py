"""Python processes of their own, with settings of their own."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).parents[1]


def start(code: str, folder: Path = HERE, **environment: str | Path) -> subprocess.Popen[str]:
    """Run code in a folder; compiled as usual unless it is said otherwise."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK")}
    settings = {name: str(value) for name, value in environment.items()}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, env={**inherited, **settings}, stdout=pipe, stderr=pipe, text=True
    )


def finish(process: subprocess.Popen[str], seconds: float = 900.0) -> tuple[str, str]:
    """What it printed and what it said on stderr; it must end well and in time."""
    try:
        printed, said = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    assert process.returncode == 0, said
    return printed, said


def run(code: str, folder: Path = HERE, **environment: str | Path) -> tuple[str, str]:
    return finish(start(code, folder, **environment))


def wait_for(condition: Callable[[], Any], seconds: float = 600.0) -> Any:
    """What it gives, once that is true. The time is for machines that are very busy, and for tests that fail."""
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.01)
    return found
