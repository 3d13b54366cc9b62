"""How much a network has to multiply, and how fast this machine can."""

from __future__ import annotations

import copy
import time
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from rnar.clrs.batch import Batch
from rnar.engine import predict
from rnar.nn.reasoner import Reasoner

WIDTH = 128
LEAST_ROWS = 1024  # of a product that measures the machine, and not the calls
PRODUCTS = 10  # in one measurement

WITH_BACKWARD = 3  # times as much: a product y = W x has two more in the backward pass, for the gradients of W and of x


class Cost(NamedTuple):
    """The operations in the matrix products of a forward pass; a multiply-add is two."""

    step: int
    """for each step of each sample"""
    sample: int
    """for each sample: its inputs and outputs"""
    once: int
    """for weights that are multiplied with each other first"""

    def of(self, batch: Batch) -> int:
        return self.step * sample_steps(batch) + self.sample * batch.size + self.once


def sample_steps(batch: Batch) -> int:
    """How many steps the samples of a batch take together; one of length T takes T - 1, but at least one."""
    return sum(max(1, int(length) - 1) for length in batch.lengths)


def forward_cost(reasoner: Reasoner, batch: Batch) -> Cost:
    """What batches like this one cost, found with two samples and two steps.

    Exact but for a network that multiplies weights with each other anew at each step, and not once: less than a
    hundredth of its cost then counts for each sample.
    """
    one, two = (forward_flops(reasoner, _few(batch, samples, steps=1)) for samples in (1, 2))
    step = forward_flops(reasoner, _few(batch, samples=1, steps=2)) - one
    sample = two - one - step
    return Cost(step, sample, once=one - sample - step)


def _few(batch: Batch, samples: int, steps: int) -> Batch:
    """The first sample so many times, as if it took so many steps. A network is told no more than the first hint."""
    first = np.zeros(samples, int)
    return Batch(
        batch.task,
        {name: x[first] for name, x in batch.inputs.items()},
        {name: x[:1, first] for name, x in batch.hints.items()},
        {name: x[first] for name, x in batch.outputs.items()},
        np.full(samples, steps + 1),
    )


def forward_flops(reasoner: Reasoner, batch: Batch) -> int:
    """Those operations, counted.

    In double precision on the CPU, for which neither compiled loops nor fused recurrent layers exist: there each
    product is a call of its own, and can be seen.
    """
    plain = copy.deepcopy(reasoner).cpu().double().eval().requires_grad_(False)  # the counter would follow gradients
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        predict(plain, batch)
    return counter.get_total_flops()


class Machine:
    """This machine at products [rows, 128] x [128, 128], its rows shared out among the threads."""

    def __init__(self, rows: int, threads: int, device: torch.device):
        self._device = device
        self._pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))
        each = max(LEAST_ROWS, rows // threads)
        self._factors = [torch.randn(each, WIDTH, device=device) for _ in range(threads)]
        self._weight = torch.randn(WIDTH, WIDTH, device=device)
        self._flops = 2 * each * WIDTH * WIDTH * PRODUCTS * threads
        self.best = 0.0
        """operations a second, the most that were ever measured"""

    def measure(self) -> None:
        """Once more; to be called now and then, for a machine may have other work."""
        start = time.perf_counter()
        list(self._pool.map(self._work, self._factors))
        synchronise(self._device)
        self.best = max(self.best, self._flops / (time.perf_counter() - start))

    def _work(self, factor: torch.Tensor) -> None:
        product = torch.empty_like(factor)
        for _ in range(PRODUCTS):
            torch.mm(factor, self._weight, out=product)


def synchronise(device: torch.device) -> None:
    """Wait until a device has done all it was told."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()
