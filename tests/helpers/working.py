"""Workers that are small enough for tests."""

from __future__ import annotations

import torch

import rnar.clrs
from rnar.clrs import Batch
from rnar.models import find
from rnar.runtime.workers import Workers


def made(threads: int = 3, dtype: torch.dtype = torch.float32) -> tuple[Workers, Batch]:
    """Workers that learn bfs, and a batch of it."""
    model = find("rnar")
    network = model.build("bfs", size=8).to(dtype).train()
    return Workers(network, threads), model.batch(rnar.clrs.sample("bfs", 5, 6, seed=0))
