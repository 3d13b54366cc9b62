"""What holds while a batch is run: the precision of large products, and products of weights, which are made once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import torch
from torch import Tensor

Value = TypeVar("Value")


class Scope:
    """One rollout.

    Args:
        precision: Of large matrix products and of tensors that only feed them; None: that of the weights.
    """

    def __init__(self, precision: torch.dtype | None = None):
        self.precision = precision
        self._limit: int | None = None
        self._made: dict[Any, tuple[int, Any, Any]] = {}
        self.losses: dict[str, Tensor] = {}
        """auxiliary losses of the present step, by name: [B]"""
        self.draws: Callable[[], torch.Generator] | None = None
        """makes the generator of what is drawn in the present step"""
        self.batch_generator: torch.Generator | None = None
        """of what is drawn once a batch"""
        self._generator: tuple[Any, torch.Generator] | None = None

    @property
    def generator(self) -> torch.Generator | None:
        """Of what is drawn in the present step; it is made when it is asked for."""
        if self.draws is None:
            return None
        if self._generator is None or self._generator[0] is not self.draws:
            self._generator = self.draws, self.draws()
        return self._generator[1]

    def once(self, function: Callable[..., Value], *arguments: Any) -> Value:
        """function(*arguments), computed once in this scope. Tensors and modules are told apart by identity."""
        key = (function, *(id(x) if isinstance(x, (Tensor, torch.nn.Module)) else x for x in arguments))
        if (made := self._made.get(key)) and (self._limit is None or made[0] < self._limit):
            return made[1]
        value = function(*arguments)
        if self._limit is None:  # as long as the arguments are kept, no other tensor has their identity
            self._made[key] = len(self._made), value, arguments
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


def current() -> Scope | None:
    """The scope that holds at present, if a batch is run."""
    return _CURRENT.get()


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


def low_precision() -> bool:
    """True where large products are taken in a lower precision."""
    scope = _CURRENT.get()
    return scope is not None and scope.precision is not None
