"""How many operations the matrix products of a network have, and how fast this machine does them."""

import copy
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from rnar.clrs.batch import Batch
from rnar.nn.reasoner import Reasoner
from rnar.runtime.workers import Precision

WIDTH = 128
LEAST_ROWS = 1024  # with fewer, a product would take less time than its call
PRODUCTS = 10  # in one measurement
WITH_BACKWARD = 3  # times as many: a product y = W x has two more in the backward pass, for the gradients of W and x


def sample_steps(batch: Batch) -> int:
    """How many steps the samples of a batch take together; one of length T takes T - 1, but at least one."""
    return int((batch.lengths - 1).clip(min=1).sum())


def forward_flops(reasoner: Reasoner, batches: list[Batch]) -> list[int]:
    """Returns the operations in the matrix products of a forward pass of each batch; a multiply-add is two.

    So many for each step of a sample, each sample and each batch: they are counted with two samples and two steps.
    """

    def few(samples: int, steps: int) -> int:
        """Of the first sample so many times, as if it took so many steps. A network sees only the first hint."""
        part = batches[0].part(np.zeros(samples, int))
        hints = {name: x[:1] for name, x in part.hints.items()}
        return counted(reasoner, replace(part, hints=hints, lengths=np.full(samples, steps + 1)))

    one, two, longer = few(1, 1), few(2, 1), few(1, 2)
    step, sample = longer - one, two - longer
    return [one + sample * (batch.size - 1) + step * (sample_steps(batch) - 1) for batch in batches]


def counted(reasoner: Reasoner, batch: Batch) -> int:
    """The operations in the matrix products of a forward pass, counted in double precision on the CPU: there are
    neither compiled loops nor fused recurrent layers, and each product is a call of its own, which the counter sees."""
    plain = copy.deepcopy(reasoner).cpu().double().eval().requires_grad_(False)  # the counter would follow gradients
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        plain(batch, hints=False)
    return counter.get_total_flops()


class Machine:
    """How fast this machine computes products [rows, 128] x [128, 128], with the rows shared out among threads."""

    def __init__(self, rows: int, threads: int, device: torch.device, precision: Precision = "float32"):
        self._device = device
        self._pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))
        each, how = max(LEAST_ROWS, rows // threads), {"device": device, "dtype": getattr(torch, precision)}
        self._factors = [torch.randn(each, WIDTH, **how) for _ in range(threads)]
        self._weight = torch.randn(WIDTH, WIDTH, **how)
        self._flops = 2 * each * WIDTH * WIDTH * PRODUCTS * threads
        self.best = 0.0
        """operations per second in the fastest measurement"""

    def measure(self) -> None:
        """Measure once more. Called now and then, because the machine may have other work at times."""
        start = time.perf_counter()
        list(self._pool.map(self._work, self._factors))
        synchronise(self._device)
        self.best = max(self.best, self._flops / (time.perf_counter() - start))

    def _work(self, factor: torch.Tensor) -> None:
        product = torch.empty_like(factor)
        for _ in range(PRODUCTS):
            torch.mm(factor, self._weight, out=product)


def synchronise(device: torch.device) -> None:
    """Wait until a device has finished its work."""
    if device.type in ("cuda", "mps"):
        getattr(torch, device.type).synchronize()
