"""Hands: each does work on a network of its own, which shares its weights with the others'."""

import copy
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from rnar.nn.reasoner import Reasoner

Tell = Callable[[float], None]
Work = Callable[..., Any]
"""(network, *arguments, tell) -> answer"""


class Stopped(Exception):
    """Others have failed, or the user has had enough."""


class Hand(ABC):
    """One that can be asked to work, a piece at a time."""

    process: int | None = None
    """the number of its process, if that is another one"""

    @abstractmethod
    def call(self, work: Work, *arguments: Any, tell: Tell | None = None) -> Any:
        """work(network, *arguments, tell), when it is done; raises what that raises."""

    @abstractmethod
    def gradients(self) -> list[Tensor | None]:
        """Of each parameter, as the last work has left them."""

    @abstractmethod
    def stop(self) -> None:
        """Give up the work at hand, for good."""


class Here(Hand):
    """Works in this process."""

    def __init__(self, reasoner: Reasoner):
        self.reasoner = reasoner
        self._stopped = threading.Event()

    def call(self, work: Work, *arguments: Any, tell: Tell | None = None) -> Any:
        def told(number: float) -> None:
            if self._stopped.is_set():
                raise Stopped
            if tell is not None:
                tell(number)

        return work(self.reasoner, *arguments, told)

    def gradients(self) -> list[Tensor | None]:
        return [parameter.grad for parameter in self.reasoner.parameters()]

    def stop(self) -> None:
        self._stopped.set()


def twin(reasoner: Reasoner) -> Reasoner:
    """A copy that shares the parameters' memory and has gradients of its own."""
    shared = {id(p): torch.nn.Parameter(p.data) for p in reasoner.parameters()}
    return copy.deepcopy(reasoner, memo=dict(shared))
