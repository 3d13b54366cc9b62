"""What is the same at every step is computed once: weights laid side by side, products of weights.

Within `computing_once()`, `once(key, compute)` calls `compute` at its first use and then gives the same tensors again.
Outside it always computes. Each thread has a scope of its own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor

Tensors = tuple[Tensor, ...]

_here = threading.local()


class _Scope:
    def __init__(self, apart: bool):
        self.apart = apart
        self.given: dict[Hashable, Tensors] = {}
        self.computed: dict[Hashable, Tensors] = {}

    def get(self, key: Hashable, compute: Callable[[], Tensors]) -> Tensors:
        if key not in self.given:
            with torch.set_grad_enabled(self.apart or torch.is_grad_enabled()):  # a later use may want gradients
                self.computed[key] = self.given[key] = compute()
            if self.apart:
                self.given[key] = tuple(x.detach().requires_grad_() for x in self.computed[key])
        return self.given[key]

    def pass_on(self) -> None:
        """The gradients that the values were given, to what they were computed from: the latest first, for it may have
        been computed from earlier ones."""
        for key in reversed(self.computed):
            for x, leaf in zip(self.computed[key], self.given[key], strict=True):
                if leaf.grad is not None and x.requires_grad:
                    x.backward(leaf.grad, retain_graph=True)


@contextmanager
def computing_once(apart: bool = False) -> Iterator[None]:
    """`apart`: several backward passes are made within, each of which stops at the values; at the end they go on."""
    before = getattr(_here, "scope", None)
    scope = _here.scope = _Scope(apart)
    try:
        yield
    finally:
        _here.scope = before
    if apart:
        scope.pass_on()


def once(key: Hashable, compute: Callable[[], Tensors]) -> Tensors:
    """The tensors for that key, which must tell what they are made of: the ids of modules, for they stay."""
    scope = getattr(_here, "scope", None)
    return compute() if scope is None else scope.get(key, compute)
