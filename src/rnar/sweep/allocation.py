"""How many runs at a time, with how many threads each, so that all cores have work and none has too much."""

import math
from typing import NamedTuple

MEMORY = 2.0  # gigabytes of a run, if nobody says otherwise: three quarters of those in results/runs.csv needed less
SAVED_STEPS = 0.25  # the share of a run's memory for what would else be computed twice


class Request(NamedTuple):
    """What the user asks for; None where nothing is said."""

    parallel: int | None = None
    threads: int | None = None
    """of each run"""
    gpus: float | None = None
    """of each run"""
    memory: float | None = None
    """of each run, in gigabytes"""

    def check(self) -> None:
        for name in ("parallel", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"--{name} must be at least 1, not {value}")
        if self.gpus is not None and not 0 <= self.gpus <= 1:
            raise ValueError(f"--gpus must be from 0 to 1, not {self.gpus:g}: a run computes on one GPU at most")
        if self.memory is not None and not 0 < self.memory < math.inf:
            raise ValueError(f"--memory must be above 0, not {self.memory:g}")


class Resources(NamedTuple):
    """What a machine has, or all nodes of a cluster together."""

    cores: int
    gpus: float = 0
    memory: float | None = None
    """gigabytes; None if that is not known, or if the cluster takes care of it"""
    largest_node: int | None = None
    """cores of the largest node of a cluster"""


class Allocation(NamedTuple):
    """How the runs share the resources."""

    parallel: int = 1
    threads: int = 1
    gpus: float = 0
    memory: float | None = None
    """what the user says that a run needs, in gigabytes"""

    @property
    def saved_steps(self) -> float:
        """Gigabytes that a run may spend on what would else be computed twice: the `--memory` of `rnar train`."""
        return SAVED_STEPS * (self.memory or MEMORY)


def allocate(runs: int, request: Request, resources: Resources, uses_gpu: bool) -> Allocation:
    """Share out the resources among so many runs.

    Several runs at a time are quicker than several threads in one run. So a run has more than one thread only if there
    are fewer runs than cores, or too little memory for more runs.
    """
    gpus = float(uses_gpu) if request.gpus is None else request.gpus
    limits = [runs, resources.cores // (request.threads or 1)]
    if gpus:
        limits.append(int(resources.gpus / gpus + 1e-9))
    if resources.memory:
        limits.append(int(resources.memory / (request.memory or MEMORY)))
    parallel = request.parallel or max(1, min(limits))
    threads = request.threads or max(1, min(resources.cores // parallel, resources.largest_node or resources.cores))
    return Allocation(parallel, threads, gpus, request.memory)
