"""Attributes that are computed when they are first asked for, without a lock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class cached_property(Generic[Value]):
    """`functools.cached_property` as it is from Python 3.12 on.

    Before, it holds a lock of the class while it computes: in a process that is forked meanwhile nobody releases it.
    """

    def __init__(self, function: Callable[[Any], Value]):
        self.function, self.__doc__ = function, function.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[Value]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...
    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        value = vars(instance)[self.function.__name__] = self.function(instance)
        return value
