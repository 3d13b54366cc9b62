"""What the compiled kernels share: when they are used, tensors as arrays, blocks that stay in a core's cache.

Kernels are loops compiled for the CPU, and compute in float32. Large tensors that only feed matrix products may be
bfloat16: then the products are, and a loop converts as it reads and writes (`rnar.functional.numbers`). Loops use one
core: the cores work on different samples (`rnar.runtime`). Sums may be taken in any order, so that they vectorise.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from types import FunctionType
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.common.compiling import entry_point

ROWS = {torch.float32: 512, torch.bfloat16: 2048}
"""Pairs that are worked on at once: what several passes read and write shall stay in a core's own cache. Products in
bfloat16 are so quick that with fewer pairs the calls would show."""

NUMBERS = 1 << 26
"""That plain tensor code may make at once, where loops would need no room."""


_KERNELS: ContextVar[bool] = ContextVar("kernels", default=True)


def compiled(x: Tensor) -> bool:
    """True if a compiled kernel is available for this tensor."""
    if torch.compiler.is_compiling():
        return False
    return _KERNELS.get() and x.device.type == "cpu" and x.dtype in (torch.float32, torch.bfloat16)


@contextmanager
def plain() -> Iterator[None]:
    """Compute the plain expressions, without kernels, in this thread."""
    token = _KERNELS.set(False)
    try:
        yield
    finally:
        _KERNELS.reset(token)


def arrays(*tensors: Tensor) -> list[Any]:
    """The same memory, for loops; of bfloat16 the bits."""
    return [(x.view(torch.uint16) if x.dtype == torch.bfloat16 else x).detach().numpy() for x in tensors]


class _Nothing:
    """Takes what is to be kept for a backward pass that will not come."""

    def save_for_backward(self, *tensors: Tensor) -> None:
        pass


def apply(function: Any, *arguments: Any) -> Any:
    """A function of tensors; where nobody wants gradients, without what torch does for them."""
    return function.apply(*arguments) if torch.is_grad_enabled() else function.forward(_Nothing(), *arguments)


def zeros(*likes: Tensor) -> list[Tensor]:
    """Zeros in float32 of the shapes of these, filled at once: gradients that loops add to."""
    sizes = [x.numel() for x in likes]
    pieces = torch.zeros(sum(sizes)).split_with_sizes(sizes)
    return [piece.view(x.shape) for piece, x in zip(pieces, likes, strict=True)]


def loop(function: Callable[..., None] | None = None, fastmath: bool = False) -> Any:
    """Compile a loop for either precision of its first array. Each is an entry point with a name of its own."""
    if function is None:
        return lambda decorated: loop(decorated, fastmath)
    assert isinstance(function, FunctionType)
    single, half = (
        entry_point(FunctionType(function.__code__, function.__globals__, function.__name__ + end), fastmath=fastmath)
        for end in ("", "_in_bfloat16")
    )

    @wraps(function)
    def call(first: Any, *others: Any) -> None:
        (half if first.dtype == np.uint16 else single)(first, *others)

    return call


def portions(count: int, each: int) -> list[slice]:
    """A count of things with so many numbers each, as many at a time as plain tensor code may make of them."""
    at_once = max(1, NUMBERS // max(1, each))
    return [slice(start, min(start + at_once, count)) for start in range(0, count, at_once)]


def add_product(total: Tensor, a: Tensor, b: Tensor) -> None:
    """total += a b, where total is float32 and the product may be bfloat16"""
    if a.dtype == total.dtype:
        total.addmm_(a, b)
    else:
        total += torch.mm(a, b)


class Blocks:
    """The samples of a batch with so many pairs each, a few at a time; `precision` is that of the products."""

    def __init__(self, batch: int, pairs: int, precision: torch.dtype):
        self.pairs = pairs
        self.size = min(batch, max(1, ROWS[precision] // pairs))
        self.slices = [slice(start, min(start + self.size, batch)) for start in range(0, batch, self.size)]

    def rows(self, x: Tensor) -> list[Tensor]:
        """The pairs of each block: [pairs of the block, ...] of x [B, ..., H]"""
        flat = x.flatten(0, -2)
        return [flat] if len(self.slices) == 1 else list(flat.split(self.size * self.pairs))

    def space(self, like: Tensor, width: int) -> tuple[Tensor, list[Tensor]]:
        """Space for one block, as [size, pairs, width], and as much of it as each block needs, as `rows` has it."""
        space = like.new_empty(self.size, self.pairs, width)
        flat, last = space.flatten(0, 1), self.slices[-1]
        rest = (last.stop - last.start) * self.pairs
        return space, [*[flat] * (len(self.slices) - 1), flat if rest == flat.shape[0] else flat[:rest]]
