"""Memory that was given back is kept for the next tensor, not returned to the system; how much was taken at most."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # of glibc's mallopt


@cache
def keep_freed_memory() -> bool:
    """Tell glibc's allocator so; elsewhere do nothing. True if it was told.

    A training step makes and drops thousands of tensors of some megabytes. By default each of them is mapped, zeroed
    page by page as it is first touched, and unmapped.
    """
    if not sys.platform.startswith("linux"):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except AttributeError:  # another C library
        return False
    return all([mallopt(M_MMAP_THRESHOLD, 1 << 30), mallopt(M_TRIM_THRESHOLD, 1 << 30), mallopt(M_ARENA_MAX, 1)])


def peak_memory(processes: Iterable[int] = ()) -> int:
    """The most bytes that this process has had in memory so far, and those others; 0 where the system does not tell.

    What forked processes share is counted for each of them.
    """
    if sys.platform == "win32":
        return 0
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) + sum(map(_peak_of, processes))


def _peak_of(process: int) -> int:
    try:
        lines = Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:  # it has ended
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:")), 0)
