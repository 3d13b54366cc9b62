"""How much memory there is, how much a run may spend, and how much it has taken; what was given back is kept."""

import ctypes
import os
import sys
from collections.abc import Iterable
from functools import cache

from rnar.common.memory import bytes_noted, free_memory

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # of glibc's mallopt

SPARE = 0.25
"""the share of free memory that may be spent on what would else be computed twice"""
LITTLE = 9 << 26
"""bytes for that where the system does not tell how much is free"""


def spare_memory() -> int:
    """Bytes that may be spent on what would else be computed twice: a quarter of what is free at this moment."""
    free = free_memory()
    return LITTLE if free is None else int(SPARE * free)


def all_memory() -> int | None:
    """All bytes that this machine has; None if that is not told."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


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

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return peak + sum(bytes_noted(f"/proc/{process}/status", "VmHWM") or 0 for process in processes)
