"""What the compiled operations share: when they are used, tensors as arrays, blocks that stay in a core's cache.

Loops are compiled for float32 on the CPU. They use one core and let go of the interpreter: the cores work on different
samples (see `rnar.engine`). Sums may be taken in any order, so that they vectorise.
"""

from typing import Any

import torch
from torch import Tensor

ROWS = 512
"""Pairs that are worked on at once: what several passes read and write shall stay in a core's own cache."""


def compiled(x: Tensor) -> bool:
    """Are there loops for this tensor?"""
    return x.device.type == "cpu" and x.dtype == torch.float32


def arrays(*tensors: Tensor) -> list[Any]:
    """The same memory, for loops."""
    return [x.detach().numpy() for x in tensors]


class Blocks:
    """The samples of a batch with so many pairs each, a few at a time."""

    def __init__(self, batch: int, pairs: int):
        self.pairs = pairs
        self.size = min(batch, max(1, ROWS // pairs))
        self.slices = [slice(start, min(start + self.size, batch)) for start in range(0, batch, self.size)]

    def rows(self, x: Tensor) -> list[Tensor]:
        """The pairs of each block: [pairs of the block, ...] of x [B, ..., H]"""
        return list(x.view(-1, x.shape[-1]).split(self.size * self.pairs))

    def space(self, like: Tensor, width: int) -> tuple[Tensor, list[Tensor]]:
        """Space for one block, as [size, pairs, width], and as much of it as each block needs, as `rows` has it."""
        space = like.new_empty(self.size, self.pairs, width)
        flat = space.view(-1, width)
        last = self.slices[-1]
        return space, [*[flat] * (len(self.slices) - 1), flat[: (last.stop - last.start) * self.pairs]]
