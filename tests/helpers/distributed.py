"""What one of several processes does that learn together."""

from __future__ import annotations

from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from helpers.evaluating import prepared

PROCESSES = 2


def learn_half(rank: int, folder: Path) -> None:
    """Take a share of a batch, and write down the gradients that come of all."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", f"file://{folder / 'meeting'}", rank=rank, world_size=PROCESSES)
    try:
        _, reasoner, batch = prepared("bfs", samples=2 * PROCESSES)
        network = DistributedDataParallel(reasoner)
        network(batch.part(slice(2 * rank, 2 * rank + 2))).loss.backward()
        torch.save([parameter.grad for parameter in reasoner.parameters()], folder / f"{rank}.pt")
    finally:
        dist.destroy_process_group()
