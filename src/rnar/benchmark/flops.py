"""The operations in the matrix products of a network, and how fast this machine computes such products."""

import copy
from dataclasses import replace

import numpy as np
import torch
from torch.utils.benchmark import Timer
from torch.utils.flop_counter import FlopCounterMode

from rnar.clrs.batch import Batch
from rnar.nn.reasoner import Reasoner
from rnar.runtime.workers import Precision

WIDTH = 128


def sample_steps(batch: Batch) -> int:
    """Returns how many steps the samples of a batch take together; one of length T takes T - 1, but at least one."""
    return int((batch.lengths - 1).clip(min=1).sum())


def forward_flops(reasoner: Reasoner, batches: list[Batch]) -> list[int]:
    """Returns the operations in the matrix products of a forward pass of each batch; a multiply-add is two.

    The operations for a step of a sample, a sample and a batch follow from counts with two samples and two steps.
    """

    def few(samples: int, steps: int) -> int:
        """Counts the first sample so many times, as if it took so many steps. A network sees only the first hint."""
        part = batches[0].part(np.zeros(samples, int))
        hints = {name: x[:1] for name, x in part.hints.items()}
        return counted(reasoner, replace(part, hints=hints, lengths=np.full(samples, steps + 1)))

    one, two, longer = few(1, 1), few(2, 1), few(1, 2)
    return [one + (two - longer) * (x.size - 1) + (longer - one) * (sample_steps(x) - 1) for x in batches]


def counted(reasoner: Reasoner, batch: Batch) -> int:
    """Counts the operations of a forward pass in double precision on the CPU, where each product is a call of its own:
    there are neither compiled kernels nor fused recurrent layers."""
    plain = copy.deepcopy(reasoner).cpu().double().eval().requires_grad_(False)  # the counter would follow gradients
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        plain(batch, hints=False)
    return counter.get_total_flops()


def machine_speed(rows: int, threads: int, device: torch.device, precision: Precision = "float32") -> float:
    """Returns how many operations of a product [rows, 128] x [128, 128] this machine computes in a second."""
    left, right = (torch.randn(n, WIDTH, device=device, dtype=getattr(torch, precision)) for n in (rows, WIDTH))
    product = Timer("torch.mm(a, b, out=c)", globals={"a": left, "b": right, "c": left.clone()}, num_threads=threads)
    return 2 * rows * WIDTH**2 / product.timeit(10).median
