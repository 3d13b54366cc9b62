"""How many runs at a time, with how many threads each, so that all cores have work and none has too much."""

import heapq
import math
from collections.abc import Iterable
from typing import NamedTuple

THREAD = 300_000_000  # bytes that each further thread needs: it is a process of its own


class Wanted(NamedTuple):
    """What the user asked for; None where nothing was said."""

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
    """What a machine has, or all machines of a cluster together."""

    cores: int
    gpus: float = 0
    memory: int | None = None
    """bytes; None if that is not known, or if the cluster takes care of it"""
    largest: int | None = None
    """cores of the largest machine, if there are several"""


class Layout(NamedTuple):
    """How the runs share what is there."""

    parallel: int
    threads: int
    gpus: float
    memory: int | None
    """bytes that a run is expected to need"""


def layout(runs: int, wanted: Wanted, there: There, uses_gpu: bool, memory: int | None) -> Layout:
    """Share out what is there among so many runs, each of which needs so many bytes of memory.

    Several runs at a time are quicker than several threads in one run. So a run has more than one thread only if there
    are fewer runs than cores, or too little memory for more runs.
    """
    gpus = wanted.gpus if wanted.gpus is not None else float(uses_gpu)
    memory = int(wanted.memory * 1e9) if wanted.memory else memory
    most = [runs, there.cores // (wanted.threads or 1)]
    if gpus:
        most.append(int(there.gpus / gpus + 1e-9))
    if memory and there.memory:
        most.append(there.memory // memory)
    parallel = wanted.parallel or max(1, min(most))
    threads = wanted.threads or max(1, min(there.cores // parallel, there.largest or there.cores))
    if memory and not wanted.memory:
        memory += (threads - 1) * THREAD
    return Layout(parallel, threads, gpus, memory)


def makespan(seconds: Iterable[float], parallel: int) -> float:
    """How long runs take if each in turn begins as soon as there is room."""
    ends = [0.0] * parallel
    for each in seconds:
        heapq.heapreplace(ends, ends[0] + each)
    return max(ends)
