"""What holds while a batch is run: the precision of large products, and products of weights, which are made once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, TypeVar

import torch
from torch import Tensor

from rnar.common.cached import cached_property

Value = TypeVar("Value")
Purpose = Literal["noise", "teacher", "processor", "batch"]
Draws = Callable[[Purpose, int], torch.Generator]


class Scope:
    """One rollout.

    Args:
        precision: Of large matrix products and of tensors that only feed them; None: that of the weights.
        draws: Makes the generator for a purpose in step t; None: torch's own generator is used.
    """

    def __init__(self, precision: torch.dtype | None = None, draws: Draws | None = None):
        self.precision, self.draws = precision, draws
        self._limit: int | None = None
        self._made: dict[Any, tuple[int, Any]] = {}
        self.begin_step(0)

    def begin_step(self, t: int) -> None:
        self.t, self._generator = t, None
        self.losses: dict[str, Tensor] = {}
        """auxiliary losses of the present step, by name: [B]"""

    @property
    def generator(self) -> torch.Generator | None:
        """Of what is drawn in the present step; it is made when it is asked for."""
        if self._generator is None and self.draws is not None:
            self._generator = self.draws("processor", self.t)
        return self._generator

    @cached_property
    def batch_generator(self) -> torch.Generator | None:
        """Of what is drawn once a batch."""
        return None if self.draws is None else self.draws("batch", 0)

    def once(self, function: Callable[..., Value], *arguments: Any) -> Value:
        """function(*arguments), computed once in this scope. Tensors and modules are told apart by identity."""
        key = function, *arguments  # the hash of a tensor is its identity; as a key it is kept, and no other has it
        if (made := self._made.get(key)) and (self._limit is None or made[0] < self._limit):
            return made[1]
        value = function(*arguments)
        if self._limit is None:
            self._made[key] = len(self._made), value
        return value

    @property
    def count(self) -> int:
        """How much was computed once."""
        return len(self._made)

    @contextmanager
    def limited(self, count: int) -> Iterator[None]:
        """Use only what was computed first, and keep nothing new: for a step that is taken again just as it was."""
        self._limit = count
        try:
            yield
        finally:
            self._limit = None


_CURRENT: ContextVar[Scope | None] = ContextVar("scope", default=None)
current = _CURRENT.get
"""returns the scope that holds at present, or None"""


@contextmanager
def entered(scope: Scope) -> Iterator[Scope]:
    """Let a scope hold."""
    token = _CURRENT.set(scope)
    try:
        yield scope
    finally:
        _CURRENT.reset(token)


def of_weights(function: Callable[..., Value], *weights: Any) -> Value:
    """A function of weights, which is the same at every step of a batch: it is computed once a batch."""
    if torch.compiler.is_compiling():  # what is kept by identity would be a graph of its own for each weight
        return function(*weights)
    scope = _CURRENT.get()
    return function(*weights) if scope is None else scope.once(function, *weights)


def precision_of(x: Tensor) -> torch.dtype:
    """In which precision large products of such a tensor are taken."""
    scope = _CURRENT.get()
    return x.dtype if scope is None or scope.precision is None or x.dtype == torch.float64 else scope.precision
