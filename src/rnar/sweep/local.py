"""Processes on this machine."""

import os

import torch

from rnar.runtime.memory import all_memory
from rnar.runtime.workers import available_cores
from rnar.sweep import process
from rnar.sweep.allocation import Resources
from rnar.sweep.conduct import Engine
from rnar.sweep.plan import PlannedRun
from rnar.sweep.process import Outcome


class Local(Engine):
    def resources(self) -> Resources:
        gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
        memory = all_memory()
        return Resources(available_cores(), gpus, memory and memory / 1e9)

    async def train(self, run: PlannedRun, slot: int) -> Outcome:
        gpu = {"CUDA_VISIBLE_DEVICES": _gpu(slot, self.allocation.gpus)} if self.allocation.gpus else {}
        return await process.train(self.command(run), **gpu)


def _gpu(slot: int, share: float) -> str:
    """The GPU of a slot, by the name that CUDA uses."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = given.split(",") if given else [str(k) for k in range(torch.cuda.device_count())]
    return names[int(slot * share + 1e-9) % len(names)]
