"""Memory that was given back is kept for the next tensor, and not returned to the system page by page."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

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
