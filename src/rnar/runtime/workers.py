"""All cores at work: each takes its share of a batch's samples, and the gradients are added up.

One core for each share, with nothing to wait for in between, is faster on a CPU than all cores on each operation, and
bears other work on the machine far better. The sum is taken in a fixed order: the same numbers come out each time.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Literal

import torch
from torch import nn

from rnar.clrs.batch import Batch
from rnar.common.checking import checked
from rnar.nn.losses import STEPS, Counts, counts
from rnar.nn.reasoner import Reasoner
from rnar.nn.samples import Part
from rnar.runtime.backward import backward
from rnar.runtime.memory import keep_freed_memory, peak_memory, spare_memory
from rnar.runtime.process import SharedWeights, Work, WorkerProcess, possible
from rnar.runtime.shares import shares

Precision = Literal["float32", "bfloat16"]
Tell = Callable[[float], None]
MOST_THREADS = 256  # more can only be a mistake
LOCKS: dict[int, threading.RLock] = {}
"""of each process, by its number: a forked one must not wait for a thread that it does not have"""


@contextmanager
def alone() -> Iterator[None]:
    """Let the threads of a process compute one after the other: all cores work for each of them.

    So no process is forked while another thread holds a lock, which nobody would release over there; and no thread
    sees the network in the mode that another one has it in for a while.
    """
    with LOCKS.setdefault(os.getpid(), threading.RLock()):
        yield


class Workers:
    """Runs a network on several cores: in processes where they can be had, and else in threads of torch's own.

    The network stays as it is, but for its gradients. Processes end with `close()`, or when this object is dropped.

    Args:
        reasoner: The network. It stays where it is: move it first.
        threads: How many cores; by default all on a CPU. On a GPU, one is enough.
        memory: Activation memory budget of all cores, in bytes; no result depends on it. By default a quarter of what
            is free.
        keep_freed: Keep memory that tensors gave back, which is quicker and takes more of it.
    """

    @checked
    def __init__(
        self, reasoner: Reasoner, threads: int | None = None, memory: int | None = None, keep_freed: bool = True
    ):
        reasoner = getattr(reasoner, "_orig_mod", reasoner)  # what torch.compile was given: workers have kernels
        device = next(reasoner.parameters()).device
        check_threads(threads)
        self.threads = threads or (available_cores() if device.type == "cpu" else 1)
        if device.type == "cpu" and keep_freed:
            keep_freed_memory()
        self.reasoner = reasoner
        self.memory = spare_memory() if memory is None else memory
        self._owner = os.getpid()
        self._processes: list[WorkerProcess] = []
        self._weights: SharedWeights | None = None

    @alone()
    @torch.inference_mode(False)
    @torch.enable_grad()
    def backward(
        self, batch: Batch, seed: int = 0, progress: float = 0.0, precision: Precision = "float32"
    ) -> dict[str, float]:
        """Set the parameters' gradients to those of the batch's mean losses; return the losses.

        `seed` decides all that is drawn, `progress` says which part of the training is done.
        """
        processes, of = self._ready(), counts(self.reasoner.heads_of(batch.task), batch)
        count = 1 + len(processes)
        places = shares(batch.lengths, batch.nodes, count)
        rest = of, seed, self.memory // count, self.reasoner.training, progress, precision
        own, *others = [(batch.part(some), Part(some, batch.size), *rest) for some in places]
        with self._ending_them_on_failure():
            for process, share in zip(processes, others, strict=True):
                process.ask(learn, *share)
            with self._threads():
                losses = [learn(self.reasoner, *own)]
            losses += [answer[0] for process in processes if (answer := process.answer())]
        for process in processes:
            for parameter, gradient in zip(self.reasoner.parameters(), process.gradients, strict=True):
                if gradient is not None:
                    parameter.grad = gradient.clone() if parameter.grad is None else parameter.grad.add_(gradient)
        names = list(dict.fromkeys(name for each in losses for name in each))
        in_order = sorted(names, key=[*of, *names].index)
        return {
            name: sum(each[name] for each in losses if name in each) / max(1, of.get(name, of[STEPS]))
            for name in in_order
        }

    @alone()
    def map(self, work: Work, items: Iterable[Any], tell: Tell | None = None) -> list[Any]:
        """What `work` makes of each item, in their order; whichever core is free takes the next.

        Work must be a function of a module, for it may be done in another process. It reports progress by calling its
        last argument with a number.
        """
        processes, waiting = self._ready(), enumerate(items)
        answers: dict[int, Any] = {}
        busy: dict[WorkerProcess, int] = {}

        def give(process: WorkerProcess) -> None:
            for number, item in waiting:
                process.ask(work, item)
                busy[process] = number
                return

        def collect(wait: bool = False) -> None:
            for process in list(busy):
                if (answer := process.answer(tell, wait)) is not None:
                    answers[busy.pop(process)] = answer[0]
                    give(process)

        def told(amount: float) -> None:
            if tell is not None:
                tell(amount)
            collect()

        with self._ending_them_on_failure(), self._threads():
            for process in processes:
                give(process)
            for number, item in waiting:
                answers[number] = work(self.reasoner, item, told)
                collect()
            while busy:
                collect(wait=True)
        return [answers[number] for number in range(len(answers))]

    @property
    def processes(self) -> list[int]:
        """The numbers of the processes that work beside this one."""
        return [each.process for each in self._processes]

    def peak_memory(self) -> int:
        """The most bytes that all processes have had in memory so far: in the GPU's, if they are on one."""
        device = next(self.reasoner.parameters()).device
        return torch.cuda.max_memory_allocated(device) if device.type == "cuda" else peak_memory(self.processes)

    def close(self) -> None:
        """End the processes; others are made if they are needed."""
        for process in self._processes:
            process.stop()
        self._processes = []

    def _ready(self) -> list[WorkerProcess]:
        """The processes, made when they are first needed, with the weights as they are now."""
        if os.getpid() != self._owner:  # this is a copy in a forked process, which has none
            self._processes, self._weights, self._owner = [], None, os.getpid()
        if self.threads > 1 and possible(self.reasoner):
            if self._weights is None:
                self._weights = SharedWeights(self.reasoner)
            self._weights.update(self.reasoner)
            while len(self._processes) < self.threads - 1:
                self._processes.append(WorkerProcess(self.reasoner, self._weights))
        return self._processes

    @contextmanager
    def _ending_them_on_failure(self) -> Iterator[None]:
        try:
            yield
        except BaseException:
            self.close()
            raise

    @contextmanager
    def _threads(self) -> Iterator[None]:
        """Let torch compute with one thread beside worker processes, and with all of them where there are none."""
        before = torch.get_num_threads()
        torch.set_num_threads(1 if self._processes else self.threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def learn(
    reasoner: Reasoner,
    batch: Batch,
    part: Part,
    of: Counts,
    seed: int,
    memory: int,
    training: bool,
    progress: float,
    precision: Precision,
    _: Tell | None = None,
) -> dict[str, float]:
    """Set the gradients to those of one core's share of a batch; return the sums of the losses."""
    for parameter in reasoner.parameters():
        parameter.grad = None
    if batch.size == 0:
        return {}
    if reasoner.training != training:
        reasoner.train(training)
    for module in reasoner.modules():
        if hasattr(module, "progress"):
            module.progress(progress)  # type: ignore[operator]
    with autocast(reasoner, precision):
        losses = backward(reasoner, batch, seed, memory, of, part)
    totals = torch.stack([loss.total for loss in losses.values()]).tolist()
    return dict(zip(losses, totals, strict=True))


def autocast(network: nn.Module, precision: Precision) -> AbstractContextManager[Any]:
    """Take the large products of a network in this precision."""
    if precision == "float32":
        return nullcontext()
    return torch.autocast(next(network.parameters()).device.type, dtype=torch.bfloat16)


def check_threads(threads: int | None) -> None:
    """Raise unless there can be so many."""
    if threads is not None and not 1 <= threads <= MOST_THREADS:
        raise ValueError(
            f"threads must be 1 to {MOST_THREADS}, not {threads}; this machine has {available_cores()} cores"
        )


def available_cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
