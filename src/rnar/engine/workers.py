"""All cores at work: each takes its share of a batch's samples, and the gradients are added up.

One core for each share, with nothing to wait for in between, is faster on a CPU than all cores on each operation, and
bears other work on the machine far better. The sum is taken in a fixed order: the same numbers come out each time.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rnar.clrs.batch import Batch
from rnar.engine import crew
from rnar.engine.memory import keep_freed_memory, peak_memory
from rnar.nn.reasoner import Reasoner

MEMORY = 9 << 26
"""bytes that all cores together may spend on keeping what would else be computed twice"""


class Share(NamedTuple):
    """What one core does in a training step."""

    batch: Batch
    seed: int
    counts: dict[str, int]
    part: np.ndarray
    memory: int
    training: bool
    penalty_weight: float

    def backward(self, reasoner: Reasoner) -> dict[str, float]:
        """Add to the gradients; the sums of the losses."""
        reasoner.train(self.training)
        reasoner.processor.penalty_weight = self.penalty_weight
        if len(self.part) == 0:
            return {}
        counts = {name: torch.tensor(count) for name, count in self.counts.items()}
        judged = reasoner.backward(self.batch, self.seed, counts, self.part, self.memory)
        return {name: each.total.item() for name, each in judged.items()}


class Workers:
    """Runs a reasoner on several cores: in processes for training, where they can be had, and in threads else.

    On a GPU, one is enough.
    """

    def __init__(
        self,
        reasoner: Reasoner,
        threads: int | None = None,
        share: tuple[int, int] = (0, 1),
        memory: int = MEMORY,
    ):
        """`share` (rank, world): only every world-th sample, from number `rank` on; other processes have the rest."""
        device = next(reasoner.parameters()).device
        self.threads = threads or (available_cores() if device.type == "cpu" else 1)
        if device.type == "cpu":
            keep_freed_memory()
        self.reasoner = reasoner
        self.memory = memory
        self._rank, self._world = share
        self._crew: crew.Crew | None = None
        self._in_processes = self.threads > 1 and crew.possible(reasoner)
        if self._in_processes:
            for parameter, shared in zip(reasoner.parameters(), _shared(reasoner), strict=True):
                parameter.data = shared
        self._twins = [reasoner, *(_twin(reasoner) for _ in range(self.threads - 1))]
        self._places = _places(reasoner)
        # The same thread for the same work each time: what a thread has freed, another may not get (glibc's arenas).
        self._pools = [
            ThreadPoolExecutor(1, initializer=torch.set_num_threads, initargs=(1,)) for _ in range(self.threads)
        ]

    def backward(self, batch: Batch, seed: int = 0) -> dict[str, float]:
        """Set the parameters' gradients to those of the batch's mean losses; return the losses."""
        if _places(self.reasoner) != self._places:
            raise ValueError("the network was moved or converted after its workers were made; make others for it")
        counts = {name: int(count) for name, count in self.reasoner.counts(batch).items()}
        order = np.argsort(-batch.lengths, kind="stable")[self._rank :: self._world]
        memory, processor = self.memory // self.threads, self.reasoner.processor
        shares = [
            Share(
                batch, seed, counts, order[k :: self.threads], memory, self.reasoner.training, processor.penalty_weight
            )
            for k in range(self.threads)
        ]
        found = (self._in_crew if self._in_processes else self._in_threads)(shares)
        return {
            name: sum(each[name] for each in found if name in each) / max(1, count)
            for name, count in counts.items()
            if any(name in each for each in found)
        }

    def peak_memory(self) -> int:
        """The most bytes that all processes have had in memory so far."""
        return peak_memory(self._crew.processes if self._crew else ())

    def _in_threads(self, shares: list[Share]) -> list[dict[str, float]]:
        def work(k: int) -> dict[str, float]:
            self._twins[k].zero_grad(set_to_none=True)
            return shares[k].backward(self._twins[k])

        found = self._run(work)
        for ours, *others in zip(*(twin.parameters() for twin in self._twins), strict=True):
            for other in others:
                if other.grad is not None:
                    _add(ours, other.grad)
        return found

    def _in_crew(self, shares: list[Share]) -> list[dict[str, float]]:
        if self._crew is None:
            self._crew = crew.Crew(self.reasoner, self.threads - 1)
        self._crew.ask(_backward, [(share,) for share in shares[1:]])
        self.reasoner.zero_grad(set_to_none=True)
        found = self._pools[0].submit(shares[0].backward, self.reasoner).result()
        others = self._crew.answers()
        for k, gradients in enumerate(self._crew.gradients):
            for index, (parameter, gradient) in enumerate(zip(self.reasoner.parameters(), gradients, strict=True)):
                if self._crew.has_gradient(k, index):
                    _add(parameter, gradient)
        return [found, *others]

    def _run(self, work: Callable[[int], Any]) -> list[Any]:
        running = [pool.submit(work, k) for k, pool in enumerate(self._pools)]
        return [each.result() for each in running]


def _backward(reasoner: Reasoner, share: Share) -> dict[str, float]:
    return share.backward(reasoner)


def _add(parameter: Tensor, gradient: Tensor) -> None:
    parameter.grad = gradient.clone() if parameter.grad is None else parameter.grad.add_(gradient)


def _shared(reasoner: Reasoner) -> list[Tensor]:
    return crew.seen_by_all(list(reasoner.parameters()))


def _places(reasoner: Reasoner) -> list[int]:
    """Where the parameters lie in memory."""
    return [parameter.data_ptr() for parameter in reasoner.parameters()]


def available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _twin(reasoner: Reasoner) -> Reasoner:
    """A copy that shares the parameters' memory and has gradients of its own."""
    shared = {id(p): torch.nn.Parameter(p.data) for p in reasoner.parameters()}
    return copy.deepcopy(reasoner, memo=dict(shared))
