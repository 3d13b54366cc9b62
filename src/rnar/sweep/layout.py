"""How many runs at a time, with how many threads each, so that all cores have work and none has too much."""

from __future__ import annotations

import heapq
import math
import os
from collections.abc import Iterable
from typing import NamedTuple

THREAD = 300_000_000  # bytes that another thread needs: it is a process of its own


class Wanted(NamedTuple):
    """What the user said; None where nothing."""

    parallel: int | None = None
    threads: int | None = None
    gpus: float | None = None
    """for each run"""
    memory: float | None = None
    """gigabytes for each run"""

    def check(self) -> None:
        for name in ("parallel", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"--{name} must be at least 1, not {value}")
        if self.gpus is not None and not 0 <= self.gpus <= 1:
            raise ValueError(f"--gpus must be from 0 to 1, not {self.gpus:g}: a run computes on one GPU at most")
        if self.memory is not None and not 0 < self.memory < math.inf:
            raise ValueError(f"--memory must be above 0, not {self.memory:g}")


class There(NamedTuple):
    """What a machine has, or all machines of a cluster."""

    cores: int
    gpus: float = 0
    memory: int | None = None
    """bytes; None if it is not known, or somebody else takes care of it"""
    largest: int | None = None
    """cores of the largest machine, if there are several"""


class Layout(NamedTuple):
    parallel: int
    threads: int
    gpus: float
    memory: int | None
    """bytes that a run is expected to need"""


def layout(runs: int, wanted: Wanted, there: There, uses_gpu: bool, memory: int | None) -> Layout:
    """For so many runs, of which each needs that much memory.

    Runs beside each other are quicker than threads in one run, so that a run has several threads only where there are
    fewer runs than cores, or too little memory for more.
    """
    wanted.check()
    gpus = wanted.gpus if wanted.gpus is not None else float(uses_gpu)
    memory = int(wanted.memory * 1e9) if wanted.memory else memory
    parallel = wanted.parallel or max(1, min(runs, _fitting(wanted, there, gpus, memory)))
    threads = wanted.threads or max(1, min(there.cores // parallel, there.largest or there.cores))
    if memory and not wanted.memory:
        memory += (threads - 1) * THREAD
    return Layout(parallel, threads, gpus, memory)


def _fitting(wanted: Wanted, there: There, gpus: float, memory: int | None) -> int:
    limits = [there.cores // (wanted.threads or 1)]
    if gpus:
        limits.append(int(there.gpus / gpus + 1e-9))
    if memory and there.memory:
        limits.append(there.memory // memory)
    return min(limits)


def makespan(seconds: Iterable[float], parallel: int) -> float:
    """How long it takes if each in turn begins as soon as there is room."""
    ends = [0.0] * parallel
    for each in seconds:
        heapq.heappush(ends, heapq.heappop(ends) + each)
    return max(ends)


def all_memory() -> int | None:
    """All bytes of this machine; None where it does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None
