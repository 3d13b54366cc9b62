"""All cores at work: each takes its share of a batch's samples, and the gradients are added up.

One core for each share, with nothing to wait for in between, is faster on a CPU than all cores on each operation, and
bears other work on the machine far better. The sum is taken in a fixed order: the same numbers come out each time.
"""

import os
from collections.abc import Callable, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, wait
from typing import Any, NamedTuple

import numpy as np
import torch

from rnar.clrs.batch import Batch
from rnar.engine import crew
from rnar.engine.hands import Hand, Here, Tell, twin
from rnar.engine.losses import Counts, counts
from rnar.engine.memory import keep_freed_memory, peak_memory, spare_memory
from rnar.engine.replay import Recordings
from rnar.engine.run import backward
from rnar.engine.samples import Part
from rnar.engine.shares import shares
from rnar.engine.threads import borrowed
from rnar.nn.reasoner import Reasoner

MOST_THREADS = 256  # more can only be a mistake


class Share(NamedTuple):
    """What one core does in a training step."""

    batch: Batch
    """its samples"""
    part: Part
    """which they are of the whole batch"""
    of: Counts
    seed: int
    memory: int
    training: bool
    progress: float
    recordings: Recordings | None


def learn(reasoner: Reasoner, share: Share, tell: Tell) -> dict[str, float]:
    """Set the gradients to those of a share; the sums of the losses."""
    for parameter in reasoner.parameters():
        parameter.grad = None
    if share.batch.size == 0:
        return {}
    if reasoner.training != share.training:
        reasoner.train(share.training)
    reasoner.processor.progress(share.progress)
    judged = backward(reasoner, share.batch, share.seed, share.of, share.part, share.memory, share.recordings)
    totals = torch.stack([each.total for each in judged.values()]).tolist()
    return dict(zip(judged, totals, strict=True))


class Workers:
    """Runs a network on several cores: in processes where they can be had, and in threads else.

    Args:
        reasoner: The network. It stays where it is: move it first.
        threads: How many cores; by default all on a CPU. On a GPU, one is enough.
        share: (rank, world): only every world-th sample, from number `rank` on; other machines have the rest.
        memory: How many bytes all cores may spend on what would else be computed twice; no result depends on it. By
            default a quarter of what is free.
        recordings: Of this network, where steps of training are to be played (see `rnar.engine.replay`).
    """

    def __init__(
        self,
        reasoner: Reasoner,
        threads: int | None = None,
        share: tuple[int, int] = (0, 1),
        memory: int | None = None,
        recordings: Recordings | None = None,
    ):
        device = next(reasoner.parameters()).device
        check_threads(threads)
        self.threads = threads or (available_cores() if device.type == "cpu" else 1)
        if device.type == "cpu":
            keep_freed_memory()
        if recordings is not None and self.threads > 1:
            raise ValueError(f"CUDA graphs are played by one thread, not by {self.threads}; leave --threads away")
        self.reasoner, self.recordings = reasoner, recordings
        self.memory = spare_memory() if memory is None else memory
        self._rank, self._world = share
        self._in_processes = self.threads > 1 and crew.possible(reasoner)
        if self._in_processes:
            crew.share_weights(reasoner)
        self._hands: list[Hand] = []
        self._modules = list(reasoner.modules())
        self._places = self._where()
        # The same thread for the same work each time: what a thread has freed, another may not get (glibc's arenas).
        self._pools = borrowed(self.threads, self)

    def backward(self, batch: Batch, seed: int = 0, progress: float = 0.0) -> dict[str, float]:
        """Set the parameters' gradients to those of the batch's mean losses; return the losses.

        `seed` decides all that is drawn, `progress` says which fraction of the training is done.
        """
        of = counts(self.reasoner, batch)
        work, hands = self._shares(batch, of, seed, progress), self._ready()
        asked = [p.submit(h.call, learn, s) for p, h, s in zip(self._pools, hands, work, strict=True)]
        found = [future.result() for future in asked]
        for hand in hands[1:]:
            for parameter, gradient in zip(self.reasoner.parameters(), hand.gradients(), strict=True):
                if gradient is not None:
                    parameter.grad = gradient.clone() if parameter.grad is None else parameter.grad.add_(gradient)
        return {
            name: sum(each[name] for each in found if name in each) / max(1, count)
            for name, count in of.items()
            if any(name in each for each in found)
        }

    def _shares(self, batch: Batch, of: Counts, seed: int, progress: float) -> list[Share]:
        order = np.argsort(-batch.lengths, kind="stable")[self._rank :: self._world]
        places = [order[some] for some in shares(batch.lengths[order], batch.nodes, self.threads)]
        rest = of, seed, self.memory // self.threads, self.reasoner.training, progress, self.recordings
        return [Share(batch.part(some), Part(some, batch.size), *rest) for some in places]

    def map(
        self,
        work: Callable[[Reasoner, Any, Tell], Any],
        items: Iterable[Any],
        told: Callable[[float], None] | None = None,
    ) -> list[Any]:
        """What `work` makes of each item, in their order; whichever core is free takes the next.

        Work must be a function of a module, for it may be done in another process. It tells what it likes by calling
        its last argument with a number, and stops there if another core has failed or the user has had enough.
        """
        hands, waiting = self._ready(), enumerate(items)
        found: dict[int, Any] = {}
        busy: dict[Future[Any], tuple[int, int]] = {}

        def give(hand: int) -> None:
            for number, item in waiting:
                busy[self._pools[hand].submit(hands[hand].call, work, item, tell=told)] = number, hand
                return

        try:
            for hand in range(len(hands)):
                give(hand)
            while busy:
                for future in wait(busy, return_when=FIRST_COMPLETED).done:
                    number, hand = busy.pop(future)
                    found[number] = future.result()
                    give(hand)
        except BaseException:
            self._stop(hands, busy)
            raise
        return [found[number] for number in range(len(found))]

    def _stop(self, hands: list[Hand], busy: Iterable[Future[Any]]) -> None:
        """End what is being done; the next work has other hands."""
        for hand in hands:
            hand.stop()
        wait(busy)  # whatever they end with: it is the first failure that is told
        self._hands = []

    @property
    def processes(self) -> list[int]:
        """The numbers of those that work beside this one."""
        return [hand.process for hand in self._hands if hand.process]

    def peak_memory(self) -> int:
        """The most bytes that all processes have had in memory so far: in the GPU's, if they are on one."""
        device = next(self.reasoner.parameters()).device
        return torch.cuda.max_memory_allocated(device) if device.type == "cuda" else peak_memory(self.processes)

    def _ready(self) -> list[Hand]:
        """Those who do the work, this process first. They are made when they are needed."""
        if self._where() != self._places:
            raise ValueError("the network was moved or converted after its workers were made; make others for it")
        if not self._hands:
            another = crew.There if self._in_processes else lambda network: Here(twin(network))
            self._hands = [Here(self.reasoner), *(another(self.reasoner) for _ in range(self.threads - 1))]
        return self._hands

    def _where(self) -> list[int]:
        """Where the parameters lie in memory."""
        return [p.data_ptr() for module in self._modules for p in module._parameters.values() if p is not None]


def check_threads(threads: int | None) -> None:
    """Raise unless there can be so many."""
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise ValueError(
            f"threads must be 1 to {MOST_THREADS}, not {threads}; this machine has {available_cores()} cores"
        )


def available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
