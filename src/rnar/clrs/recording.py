"""Recording what an algorithm does: one row of numbers for each moment worth a hint."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import types
from numba.extending import overload

from rnar.common.compiling import entry_point, kernel

MISMATCH = "step() and return need one value for each hint and output that the algorithm declares, in that order"


class Trace(NamedTuple):
    """Where an algorithm writes its hints while it runs."""

    hints: tuple[np.ndarray, ...]
    """[T, B, width] each, of the hint's own dtype"""
    sample: int
    """which of the B samples this is"""
    lengths: np.ndarray
    """int64 [B]: how many steps were taken, also those for which there was no room"""


def step(trace: Trace, *hints: Any) -> None:
    """Record one moment: the hints in the order in which the algorithm declares them."""
    t = trace.lengths[trace.sample]
    trace.lengths[trace.sample] += 1
    if t < len(trace.hints[0]):  # else it is full: only count; the caller runs once more with room for it
        record(trace.hints, t, trace.sample, hints)


def record(into: tuple[np.ndarray, ...], t: int, b: int, values: Any) -> None:
    """Write into [t, b] of each array one of the values, which are numbers, arrays or nested tuples of them."""
    found = list(_leaves(values))
    if [np.size(value) for value in found] != [array.shape[2] for array in into]:
        raise ValueError(MISMATCH)
    for array, value in zip(into, found, strict=True):
        array[t, b] = np.ravel(value)


def _leaves(values: Any) -> Iterator[Any]:
    if not isinstance(values, tuple):
        yield values
    else:
        for value in values:
            yield from _leaves(value)


# The same for compiled code. Recording is most of the time of a short algorithm, and numba's own means are slow: its
# loop over a tuple costs 30 ns a turn, and passing an array to a function as much. So each kind of record gets a
# function of plain statements.


@overload(step)
def _compiled_step(trace, *hints):
    return _generated(
        "def generated(trace, *hints):",
        "    b = trace.sample",
        "    t = trace.lengths[b]",
        "    trace.lengths[b] += 1",
        "    into = trace.hints",
        "    if t >= len(into[0]):",
        "        return",
        *_statements(hints, "hints", len(trace.types[0])),
    )


@overload(record)
def _compiled_record(into, t, b, values):
    return _generated("def generated(into, t, b, values):", *_statements(values, "values", len(into)))


def _generated(*code: str) -> Callable[..., Any]:
    namespace: dict[str, Any] = {"np": np}
    exec("\n".join(code), namespace)
    return namespace["generated"]


def _statements(kinds: Any, path: str, expected: int) -> Iterator[str]:
    """The statements that write the values which `path` leads to, whose numba types are `kinds`."""
    found = list(_typed_leaves(kinds, path))
    if len(found) != expected:
        yield f"    raise ValueError({MISMATCH!r})"
        return
    sizes = [f"{leaf}.size" if isinstance(kind, types.Array) else "1" for leaf, kind in found]
    wrong = " or ".join(f"{size} != into[{k}].shape[2]" for k, size in enumerate(sizes))
    yield f"    if {wrong}:"
    yield f"        raise ValueError({MISMATCH!r})"
    for k, (leaf, kind) in enumerate(found):
        yield f"    a{k} = into[{k}]"
        if isinstance(kind, types.Array):
            yield f"    v{k} = {leaf}" + (".ravel()" if kind.ndim > 1 else "")
            yield f"    for k in range(v{k}.size):"
            yield f"        a{k}[t, b, k] = v{k}[k]"
        else:
            yield f"    a{k}[t, b, 0] = {leaf}"


def _typed_leaves(kind: Any, path: str) -> Iterator[tuple[str, Any]]:
    """The expressions for what is in nested tuples, with their types."""
    if not isinstance(kind, (types.BaseTuple, tuple)):
        yield path, kind
        return
    several: Any = kind
    for k in range(len(several)):
        yield from _typed_leaves(several[k], f"{path}[{k}]")


@kernel
def chain(order: np.ndarray) -> np.ndarray:
    """An ordered list as pointers: each node points at the one before it, the first at itself."""
    before = np.arange(len(order))
    for k in range(1, len(order)):
        before[order[k]] = order[k - 1]
    return before


def over_all(function: Callable[..., Any]) -> Callable[..., None]:
    """Make of `function(trace, *arguments) -> answer` one compiled call for many problems of one size.

    The call is `(hints, outputs, lengths, *arguments)`; it fills the first three: arrays [T, B, width], [1, B, width]
    and [B]. The arguments are stacked: [B, ...]. Where a length exceeds T, the hints of that problem are incomplete.
    """
    one = kernel(function)

    def over_one(hints, outputs, lengths, first):
        for b in range(len(lengths)):
            record(outputs, 0, b, one(Trace(hints, b, lengths), first[b]))

    def over_two(hints, outputs, lengths, first, second):
        for b in range(len(lengths)):
            record(outputs, 0, b, one(Trace(hints, b, lengths), first[b], second[b]))

    def over_three(hints, outputs, lengths, first, second, third):
        for b in range(len(lengths)):
            record(outputs, 0, b, one(Trace(hints, b, lengths), first[b], second[b], third[b]))

    arguments = len(inspect.signature(function).parameters) - 1
    if not 1 <= arguments <= 3:
        raise TypeError(f"{function.__name__} must take the trace and one to three arguments, not {arguments}")
    return entry_point((over_one, over_two, over_three)[arguments - 1], of=function)
