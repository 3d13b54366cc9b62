"""How long a step of dm-clrs takes, from what `rnar bench --against ... --json FILE` has measured."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from statistics import mean
from typing import NamedTuple


class Rate(NamedTuple):
    """A training step of dm-clrs, in the mean over some sizes of problems."""

    seconds: float
    sizes: tuple[int, ...]
    threads: int


def rates(paths: Iterable[Path]) -> dict[tuple[str, str], Rate]:
    """By task and model. Of measurements at several sizes it is the mean, for training has its sizes in turn."""
    found: dict[tuple[str, str], dict[int, tuple[float, int]]] = {}
    for path in paths:
        task, model, n, threads, seconds = _read(path)
        if n in found.setdefault((task, model), {}):
            raise ValueError(f"{path} measures {task} with {model} at n={n} once more; give each size once")
        found[task, model][n] = seconds, threads
    return {
        key: Rate(mean(seconds for seconds, _ in sizes.values()), tuple(sorted(sizes)), next(iter(sizes.values()))[1])
        for key, sizes in found.items()
    }


def _read(path: Path) -> tuple[str, str, int, int, float]:
    try:
        value = json.loads(path.read_bytes())
        theirs, sizes = value["dm_clrs"], value["sizes"]
        if theirs is not None:
            known = value["task"], value["model"], int(sizes["n"]), int(sizes["threads"])
            return *known, float(theirs["training"]["median"])
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path} is not what `rnar bench --json` writes") from None
    raise ValueError(f"{path} has no measurement of dm-clrs; `rnar bench` makes one with --against")
