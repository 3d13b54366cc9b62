"""Numbers and lists as one says them."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from rnar.clrs.problems.problem import LARGEST

MOST = 12  # things that are named one by one


def exact(x: Any) -> str:
    """A number as the user gave it, `5.0`, or with four digits where it has many."""
    text = str(np.float32(x) if abs(x) <= LARGEST else float(x))
    return text if len(text) <= 7 else f"{float(x):.4g}"


def percent(share: float) -> str:
    """A share as a whole percentage, which is 100 % or 0 % only of all or nothing."""
    text = f"{share:.0%}"
    return ">99%" if text == "100%" and share < 1 else "<1%" if text == "0%" and share > 0 else text


def several(things: Iterable[object], most: int = MOST) -> str:
    """`0, 3 and 5`; `0, 1, 2 and 40 more`."""
    texts = [str(thing) for thing in things]
    if len(texts) > most + 1:
        texts = [*texts[:most], f"{len(texts) - most} more"]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def named(one: str, things: Iterable[object], most: int = MOST) -> str:
    """`node 3`, `nodes 0, 3 and 5`."""
    things = list(things)
    plural = one.removesuffix("y") + "ies" if one.endswith("y") else f"{one}s"
    return f"{one if len(things) == 1 else plural} {several(things, most)}"


def chosen(mask: np.ndarray) -> list[int]:
    """The nodes of a mask."""
    return [int(i) for i in np.flatnonzero(mask == 1)]
