"""How much memory there is, how much a run may spend, and how much it has taken; what was given back is kept."""

import ctypes
import os
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # of glibc's mallopt

SPARE = 0.25
"""the share of free memory that may be spent on what would else be computed twice"""
LITTLE = 9 << 26
"""bytes for that where the system does not tell how much is free"""


def spare_memory() -> int:
    """Bytes that may be spent on what would else be computed twice: a quarter of what is free at this moment."""
    free = free_memory()
    return LITTLE if free is None else int(SPARE * free)


def free_memory() -> int | None:
    """Bytes that this process can still get: of the machine, or of its control group; None if that is not told."""
    found = [_noted("/proc/meminfo", "MemAvailable"), *(limit - used for limit, used in _limits())]
    return min((max(0, bytes) for bytes in found if bytes is not None), default=None)


def all_memory() -> int | None:
    """All bytes that this machine has; None if that is not told."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _noted(file: str, name: str) -> int | None:
    """The bytes that a file of the system says under a name, as `MemAvailable:  8081234 kB`; None if it does not."""
    try:
        lines = Path(file).read_text().splitlines()
    except OSError:  # another system; or the file is of a process that has ended
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:")), None)


def _limits() -> Iterator[tuple[int, int]]:
    """The limit of each control group around this process, as a container has one, and how much of it is used."""
    root = Path("/sys/fs/cgroup")
    for kind, limit, used in (("", "memory.max", "memory.current"),
                              ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes")):  # fmt: skip
        for group in _groups(kind):
            try:
                place = root / kind / group.lstrip("/")
                yield int((place / limit).read_text()), int((place / used).read_text())
            except (OSError, ValueError):  # no such group here, or no limit: "max"
                continue


def _groups(kind: str) -> list[str]:
    """The control group of this process, and those around it."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    own = next((line.split(":", 2)[2] for line in lines if line.split(":", 2)[1] == kind), None)
    return [] if own is None else [str(group) for group in (PurePosixPath(own), *PurePosixPath(own).parents)]


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
    return peak + sum(_noted(f"/proc/{process}/status", "VmHWM") or 0 for process in processes)
