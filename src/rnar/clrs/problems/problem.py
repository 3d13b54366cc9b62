"""A problem: what is drawn at random, what an algorithm is given, and what a network may see of it."""

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from rnar.clrs.mersenne import Mersenne, fill
from rnar.clrs.spec import Feature
from rnar.common.checking import shown
from rnar.common.compiling import entry_point
from rnar.common.names import nearest

Arguments = tuple[Any, ...]

LARGEST = float(np.finfo(np.float32).max)
"""the largest number that a network can be given"""
TRAINING_SIZES = (4, 7, 11, 13, 16)


class Problem(ABC):
    """Draws arguments for an algorithm in the order in which the reference draws them.

    A subclass fills in `inputs`, `options`, the two abstract methods, and what else is not as usual.
    """

    inputs: dict[str, Feature]
    """What a network may see; one of them is `pos`, the place of each node."""
    options: dict[str, Any]
    """The settings of the distribution, with their defaults: those of the official sets."""
    training: dict[str, Any] = {}
    """The settings that the standard protocol changes for training."""
    training_sizes: tuple[int, ...] = TRAINING_SIZES
    smallest = 2
    only_size: int | None = None
    """The size that all problems have, if they have one whichever is asked for."""

    @abstractmethod
    def draw(self, rng: Mersenne, n: int, batch: int, **options: Any) -> Arguments:
        """The arguments of `batch` random problems of size `n`, stacked: [B, ...] each; `options` are complete."""

    @abstractmethod
    def own(self, *arguments: Any, **named: Any) -> Arguments:
        """A user's own arguments, checked and brought into the form that an algorithm takes."""

    def takes(self) -> tuple[str, ...]:
        """The names of what `own` is given."""
        return tuple(inspect.signature(self.own).parameters)

    def view(self, *stacked: np.ndarray) -> dict[str, np.ndarray]:
        """What a network may see of B problems, given as `draw` gives them: usually each argument, under the names of
        the inputs after `pos`, in their order."""
        names = [name for name in self.inputs if name != "pos"]
        return {"pos": positions(stacked[0].shape[1], stacked[0]), **dict(zip(names, stacked, strict=True))}

    def length(self, n: int) -> int:
        """What `draw` takes for a problem of size `n` as the official sets count: more, if something comes on top."""
        return n

    def check_size(self, n: int, options: dict[str, Any]) -> None:
        """Raise unless a problem of size `n` can be drawn with these options."""
        if n < self.smallest:
            raise ValueError(f"n={n} is too small: the smallest n of this task is {self.smallest}")

    def complete(self, options: dict[str, Any]) -> dict[str, Any]:
        """The defaults, updated by `options`; an unknown name or an impossible value is an error."""
        for name, value in options.items():
            if name not in self.options:
                known = ", ".join(f"{k}={v!r}" for k, v in self.options.items()) or "none"
                raise ValueError(f"no option {name!r}{nearest(name, self.options)}; this task has: {known}")
            if value is not None or self.options[name] is not None:
                check_option(name, value)
        merged = {**self.options, **{k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}}
        if {"low", "high"} <= merged.keys() and not merged["low"] < merged["high"]:
            raise ValueError(f"low={merged['low']} must be less than high={merged['high']}")
        return merged


def check_option(name: str, value: Any) -> None:
    """Raise where a value cannot mean anything for the option of that name; those of a user's own may be anything."""
    is_meant, expected = _OPTIONS.get(name, (lambda value: True, ""))
    try:
        ok = is_meant(value)
    except (TypeError, ValueError):  # not even a number
        ok = False
    if not ok:
        raise ValueError(f"{name}={value!r} is not {expected}")


_OPTIONS: dict[str, tuple[Callable[[Any], Any], str]] = {
    **dict.fromkeys(
        ("letters", "second", "max_deadline", "communities"),
        (lambda x: _is_length(x), "a whole number of at least 1"),
    ),
    "p": (
        lambda p: np.size(p) > 0 and all(0.0 <= x <= 1.0 for x in np.atleast_1d(p)),
        "a probability between 0 and 1 or a tuple of them",
    ),
    "toggle": (lambda p: 0.0 <= p <= 1.0, "a probability between 0 and 1"),
    "low": (lambda x: abs(x) <= LARGEST, "a number that is finite in 32 bits"),
    "high": (lambda x: abs(x) <= LARGEST, "a number that is finite in 32 bits"),
    "radius": (lambda x: 0 < x <= LARGEST, "a number above 0 that is finite in 32 bits"),
    "center": (lambda x: np.shape(x) == (2,) and np.all(np.abs(x) <= LARGEST), "a pair (x, y), finite in 32 bits"),
    "needle": (lambda x: _is_length_or_range(x), "a length of at least 1, or a range (shortest, longest)"),
}


def _is_length(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(value >= 1)


def _is_length_or_range(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return len(value) == 2 and all(map(_is_length, value)) and value[0] <= value[1]
    return _is_length(value)


@entry_point
def draw_uniform(rng, low, high, out):
    """Fill a flat array with uniform numbers in [low, high)."""
    fill(rng, out)
    for k in range(len(out)):
        out[k] = low + (high - low) * out[k]


def uniform(rng: Mersenne, low: float, high: float, shape: tuple[int, ...]) -> np.ndarray:
    """`rng.uniform(low, high, shape)` of a `RandomState`."""
    out = np.empty(math.prod(shape))
    draw_uniform(rng, float(low), float(high), out)
    return out.reshape(shape)


def positions(sizes: np.ndarray | int, like: np.ndarray) -> np.ndarray:
    """`pos` of B problems [B, n]: i/n, where a second list of nodes, if any, starts again at zero.

    `sizes` is how many nodes the first list has, one number or [B]; `like` is any array [B, n, ...].
    """
    n = like.shape[1]
    first = np.broadcast_to(np.asarray(sizes).reshape(-1, 1), (len(like), 1))
    i = np.arange(n)[None]
    with np.errstate(divide="ignore", invalid="ignore"):  # an empty second list has no entries to divide
        return np.where(i < first, i / first, (i - first) / (n - first))


def vector(name: str, values: Any, smallest: int = 2) -> np.ndarray:
    """A user's list of finite numbers, as float64 [n]."""
    array = _numbers(name, values)
    if array.ndim != 1 or len(array) < smallest:
        raise ValueError(f"{name} must be a list of at least {smallest} numbers, not of shape {array.shape}")
    return array


def vectors(**lists: Any) -> list[np.ndarray]:
    """A user's lists of finite numbers, all of one length."""
    found = {name: vector(name, values) for name, values in lists.items()}
    if len({len(x) for x in found.values()}) > 1:
        lengths = ", ".join(f"{name}: {len(x)}" for name, x in found.items())
        raise ValueError(f"lists of one length are needed, not {lengths}")
    return list(found.values())


def number(name: str, value: Any) -> float:
    array = _numbers(name, value)
    if array.ndim != 0:
        raise ValueError(f"{name} must be one number, not of shape {array.shape}")
    return float(array)


def square_matrix(name: str, values: Any) -> np.ndarray:
    """A user's matrix of finite numbers, as float64 [n, n]."""
    array = _numbers(name, values)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or len(array) < 2:
        hint = "; a list of edges is edges=..., or --edges" if array.shape[1:] in ((2,), (3,)) else ""
        raise ValueError(f"{name} must be a square matrix of at least 2 x 2, not of shape {array.shape}{hint}")
    lost = np.argwhere((array != 0) & (array.astype(np.float32) == 0))
    if len(lost):
        i, j = (int(k) for k in lost[0])
        raise ValueError(f"{name}[{i}, {j}] is {array[i, j]}, which is 0 in 32 bits, as where there is no edge")
    return array


def _numbers(name: str, values: Any) -> np.ndarray:
    values = values.detach().cpu().double().numpy() if hasattr(values, "detach") else values  # NumPy has no bfloat16
    try:
        array = np.array(values, dtype=np.float64, order="C")
    except OverflowError:
        raise ValueError(f"{name} holds a number that is too large") from None
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold numbers only, not {shown(values)}") from None
    too_large = ~(np.abs(array) <= LARGEST)  # NaN is not less than anything
    if too_large.any():
        where = tuple(int(i) for i in np.argwhere(too_large)[0])
        raise ValueError(f"{name} must be finite in 32 bits, but holds {array[where]} at {list(where)}")
    return array
