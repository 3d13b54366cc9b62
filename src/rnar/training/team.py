"""Several processes that learn as one, each with its share of every batch: `torchrun ... -m rnar train ...`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist

from rnar.clrs.batch import Batch
from rnar.engine.losses import counts
from rnar.engine.workers import Workers, available_cores
from rnar.training.environment import chosen_device
from rnar.training.settings import Resolved
from rnar.training.stopping import Stop

LAUNCHED = ("RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")  # what PyTorch's launcher sets
PATIENCE = timedelta(days=30)  # the others wait while the first one validates or tests


class Team:
    """This process and those it learns with; `Team()` is one that learns alone."""

    def __init__(self, device: torch.device, threads: int | None = None, rank: int = 0, world: int = 1):
        self.device, self.rank, self.world = device, rank, world
        here = int(os.environ.get("LOCAL_WORLD_SIZE", world)) if world > 1 else 1
        self.threads = threads or (max(1, available_cores() // here) if device.type == "cpu" else 1)

    @property
    def first(self) -> bool:
        """Is this the one that validates, tests and writes?"""
        return self.rank == 0

    def backward(
        self, workers: Workers, batch: Batch, seed: int, progress: float, stop: Stop
    ) -> tuple[dict[str, float], bool]:
        """Set the gradients to those of the whole batch; its losses, and whether any process wants to stop."""
        losses = workers.backward(batch, seed, progress)
        if self.world == 1:
            return losses, stop.signal is not None
        parameters = list(workers.reasoner.parameters())
        names = list(counts(workers.reasoner, batch))
        there = [p.grad is not None for p in parameters]  # a share may be empty, or lack what another one has
        gradients = [torch.zeros_like(p) if p.grad is None else p.grad for p in parameters]
        notes = [
            *there,
            *(losses.get(name, 0.0) for name in names),
            *(name in losses for name in names),
            stop.signal is not None,
        ]
        flat = torch.cat([*(g.flatten() for g in gradients), torch.tensor(notes, dtype=torch.float32).to(self.device)])
        dist.all_reduce(flat)
        *sums, noted = flat.split([*(p.numel() for p in parameters), len(notes)])
        found = noted.tolist()
        for p, total, any_there in zip(parameters, sums, found, strict=False):
            p.grad = total.view_as(p) if any_there else None
        values, known = found[len(parameters) : -1][: len(names)], found[len(parameters) : -1][len(names) :]
        return {name: value for name, value, k in zip(names, values, known, strict=True) if k}, found[-1] > 0

    def share(self, value: Any) -> Any:
        """What the first process has, for all of them."""
        values = [value]
        if self.world > 1:
            dist.broadcast_object_list(values, device=torch.device("cpu"))
        return values[0]


@contextmanager
def together(settings: Resolved) -> Iterator[Team]:
    """The processes that PyTorch's launcher has started, or this one alone."""
    if not all(name in os.environ for name in LAUNCHED) or os.environ["WORLD_SIZE"] == "1":
        yield Team(chosen_device(settings.device), settings.threads)
        return
    device = chosen_device(settings.device, int(os.environ.get("LOCAL_RANK", 0)))
    if device.type == "cuda":
        torch.cuda.set_device(device)
    dist.init_process_group("cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo", timeout=PATIENCE)
    try:
        yield Team(device, settings.threads, dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()
