"""An engine trains runs: here, as processes on this machine, so many that all cores have work and none has too much."""

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import torch

from rnar.runtime.memory import all_memory
from rnar.runtime.workers import available_cores
from rnar.sweep import process
from rnar.sweep.plan import PlannedRun, train_arguments

MEMORY = 2.0  # gigabytes of a run, if nobody says otherwise: three quarters of those in results/runs.csv needed less
SAVED_STEPS = 0.25  # the share of a run's memory that saves computing activations twice: the `--memory` of `rnar train`


@dataclass(frozen=True)
class Request:
    """What the user asks for; None where nothing is said. Threads, GPUs and gigabytes are those of each run."""

    parallel: int | None = None
    threads: int | None = None
    gpus: float | None = None
    memory: float | None = None

    def __post_init__(self) -> None:
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
    """How the runs share the resources. `memory`: what the user says that a run needs, in gigabytes."""

    parallel: int = 1
    threads: int = 1
    gpus: float = 0
    memory: float | None = None

    def command(self, run: PlannedRun) -> process.Command:
        """The command that trains a run with its share of the resources."""
        settings = replace(run.settings, threads=self.threads, memory=SAVED_STEPS * (self.memory or MEMORY))
        return process.Command(train_arguments(settings), settings.path, self.threads, Path.cwd())


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


class Local:
    """Processes on this machine; another engine has the same methods."""

    def resources(self) -> Resources:
        gpus, memory = torch.cuda.device_count() if torch.cuda.is_available() else 0, all_memory()
        return Resources(available_cores(), gpus, memory and memory / 1e9)

    async def train(self, run: PlannedRun, allocation: Allocation, slot: int) -> process.Outcome:
        """Begin or resume a run and wait until it has ended. If this is cancelled, it is saved and stopped.

        No two runs have the same slot at a time.
        """
        gpu = {"CUDA_VISIBLE_DEVICES": _gpu(slot, allocation.gpus)} if allocation.gpus else {}
        return await process.train(allocation.command(run), **gpu)

    def close(self) -> None:
        """Nothing more will be trained."""


def _gpu(slot: int, share: float) -> str:
    """The GPU of a slot, by the name that CUDA uses."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = given.split(",") if given else [str(k) for k in range(torch.cuda.device_count())]
    return names[int(slot * share + 1e-9) % len(names)]
