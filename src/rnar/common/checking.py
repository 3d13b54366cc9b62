"""Checks what public functions are given against their annotations."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, wraps
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, ParamSpec, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np

P = ParamSpec("P")
R = TypeVar("R")

ALSO: dict[Any, Any] = {bool: np.bool_, int: np.integer, float: (int, np.integer, np.floating)}
"""types whose values are taken for those of another"""
WORDS: dict[Any, str] = {
    NoneType: "None", str: "text", bool: "True or False", int: "a whole number", float: "a number",
    Callable: "a function",
}  # fmt: skip


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """The same function; it raises a ValueError of one line where an argument is not what its annotation says.

    A text in `Annotated[kind, "..."]` says how to come by one, a range bounds a number.
    """
    parameters = inspect.signature(function).parameters
    names = [name for name, parameter in parameters.items() if parameter.kind < parameter.VAR_POSITIONAL]
    kinds = cache(lambda: get_type_hints(function, include_extras=True))

    @wraps(function)
    def call(*arguments: P.args, **named: P.kwargs) -> R:
        for name, value in [*zip(names, arguments, strict=False), *named.items()]:
            if name in parameters and not fits(value, kind := kinds().get(name, Any)):
                about = function.__qualname__.removesuffix(".__init__")
                hint = "".join(f" ({text})" for text in getattr(kind, "__metadata__", ()) if isinstance(text, str))
                raise ValueError(f"{about}: {name} must be {told(kind)}{hint}, not {shown(value)}")
        return function(*arguments, **named)

    return call


_hints = cache(get_type_hints)


def check_fields(x: Any) -> None:
    """Raise a ValueError of one line where a field of a dataclass is not what its annotation says."""
    for name, kind in _hints(type(x), include_extras=True).items():
        if not fits(value := getattr(x, name), kind):
            raise ValueError(f"{type(x).__name__}: {name} must be {told(kind)}, not {shown(value)}")


def fits(value: Any, kind: Any) -> bool:
    """True if a value is of an annotated type. Any list is a tuple or sequence; True is no number."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin is Annotated:
        bounds = [x for x in inner[1:] if isinstance(x, range)]
        return fits(value, inner[0]) and all(x.start <= value < x.stop for x in bounds)
    if origin in (Union, UnionType):
        return any(fits(value, other) for other in inner)
    if origin is Literal:
        return any(type(value) is type(known) and value == known for known in inner)
    if origin is Callable:
        return callable(value)
    if origin is Any or not isinstance(origin, type):  # or a variable, which stands for any
        return True
    if inner and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(fits(k, inner[0]) and fits(v, inner[1]) for k, v in value.items())
    if inner and issubclass(origin, Iterable):
        listed = isinstance(value, Iterable) and not isinstance(value, (str, bytes, Mapping, Iterator))
        return listed and all(fits(entry, inner[0]) for entry in value)
    value = getattr(value, "_orig_mod", value)  # what torch.compile made is of the type of what it was given
    return isinstance(value, (origin, ALSO.get(origin, ()))) and (origin is bool or not isinstance(value, bool))


def told(kind: Any) -> str:
    """The values of a type, in words."""
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin is Annotated:
        bounds = (f" from {x.start:,} to {x.stop - 1:,}" for x in inner[1:] if isinstance(x, range))
        return told(inner[0]) + "".join(bounds)
    if origin in (Union, UnionType):
        return " or ".join(map(told, inner))
    if origin is Literal:
        return " or ".join(map(str, inner))
    if inner and origin is not Callable:
        what = "a dictionary of" if issubclass(origin, Mapping) else "a list, each entry"
        return f"{what} {told(inner[-1] if issubclass(origin, Mapping) else inner[0])}"
    return WORDS.get(origin) or f"a {origin.__name__}"


def shown(value: Any) -> str:
    """A value for an error of one line; it may be very long."""
    if isinstance(value, int) and value.bit_length() > 128:
        return f"a number of {value.bit_length()} bits"
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."
