"""All cores at work: each takes its share of a batch's samples, and the gradients are added up.

One thread for each core, with nothing to wait for in between, is faster on a CPU than all cores on each operation, and
bears other work on the machine far better. The sum is taken in a fixed order: the same numbers come out each time.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import torch

from rnar.clrs.batch import Batch
from rnar.nn.kinds import Judged
from rnar.nn.memory import keep_freed_memory
from rnar.nn.reasoner import Reasoner

MEMORY = 1 << 30
"""bytes that all threads together may spend on keeping what would else be computed twice"""


class Workers:
    """Runs a reasoner with several threads. On a GPU, one is enough."""

    def __init__(self, reasoner: Reasoner, threads: int | None = None, memory: int = MEMORY):
        device = next(reasoner.parameters()).device
        self.threads = threads or (available_cores() if device.type == "cpu" else 1)
        if device.type == "cpu":
            keep_freed_memory()
        self.reasoner = reasoner
        self.memory = memory
        self._twins = [reasoner, *(_twin(reasoner) for _ in range(self.threads - 1))]
        self._pool = ThreadPoolExecutor(self.threads, initializer=torch.set_num_threads, initargs=(1,))

    def backward(self, batch: Batch, seed: int = 0) -> dict[str, float]:
        """Set the parameters' gradients to those of the batch's mean losses; return the losses."""
        counts = self.reasoner.counts(batch)

        def work(k: int) -> dict[str, Judged]:
            twin = self._twins[k]
            twin.train(self.reasoner.training)
            twin.processor.penalty_weight = self.reasoner.processor.penalty_weight
            twin.zero_grad(set_to_none=True)
            part = np.argsort(-batch.lengths, kind="stable")[k :: self.threads]
            return twin.backward(batch, seed, counts, part, self.memory // self.threads) if len(part) else {}

        found = self._run(work)
        for ours, *others in zip(*(twin.parameters() for twin in self._twins), strict=True):
            for other in others:
                if other.grad is not None:
                    ours.grad = other.grad if ours.grad is None else ours.grad.add_(other.grad)
        return {
            name: (sum(each[name].total.item() for each in found if name in each) / max(1, count.item()))
            for name, count in counts.items()
            if any(name in each for each in found)
        }

    def _run(self, work: Callable[[int], Any]) -> list[Any]:
        return list(self._pool.map(work, range(self.threads)))


def available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _twin(reasoner: Reasoner) -> Reasoner:
    """A copy that shares the parameters' memory and has gradients of its own."""
    shared = {id(p): torch.nn.Parameter(p.data) for p in reasoner.parameters()}
    return copy.deepcopy(reasoner, memo=dict(shared))
