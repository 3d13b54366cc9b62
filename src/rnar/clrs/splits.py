"""The official sets of CLRS-30, regenerated here, and the proof that they are the reference's.

They are what dm-clrs 2.0.3 generates from its own seeds (its archive for download is older: it lacks Quickselect's
hint `pivot`). Digests made by dm-clrs itself are shipped in `official.json`. The sets of a task that is not of CLRS-30
are drawn in the same way: with the same seeds, sizes and numbers of samples.
"""

import hashlib
import json
from collections.abc import Callable
from functools import cache
from importlib import resources
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from rnar.clrs.batch import Batch
from rnar.clrs.layouts import to_dm_clrs
from rnar.clrs.mersenne import seeded
from rnar.clrs.registry import find
from rnar.common.checking import checked
from rnar.common.names import nearest

Split = Literal["train", "val", "test"]

BLOCK = 32  # samples that a digest is fed at a time


class Size(NamedTuple):
    seed: int
    length: int
    samples: int


def size_of(task: str, split: Split | str) -> Size:
    """The seed, length and number of samples of a set."""
    algorithm = find(task)
    if split not in get_args(Split):
        raise ValueError(f"no split {split!r}{nearest(split, get_args(Split))}; there are {', '.join(get_args(Split))}")
    seed, length, samples = {"train": (1, 16, 1000), "val": (2, 16, 32), "test": (3, 64, 32)}[split]
    if split != "train":  # tasks with small outputs get more samples to be judged on
        samples *= algorithm.multiplier
    return Size(seed, algorithm.problem.length(length), samples)


@checked
def official(task: str, split: Split | str) -> Batch:
    """An official set, whole; of a task that has none (see `is_official`), the set that is drawn in its place.

    The test sets take up to 150 MB.
    """
    seed, length, samples = size_of(task, split)
    return find(task).sample(seeded(seed), length, samples)


@cache
def facts() -> dict[str, Any]:
    """As dm-clrs gave them: `{task: {split: {"samples", "mean_steps", "most_steps", "sha256": {"stage/name"}}}}`."""
    return json.loads(resources.files("rnar.clrs").joinpath("official.json").read_text())


def is_official(task: str) -> bool:
    """True if the task is one of CLRS-30, whose sets are those that everybody has."""
    return task in facts()


def mean_steps(task: str, split: Split) -> float:
    """How many steps the runs of a set have; where nobody has counted them, it is drawn."""
    return facts()[task][split]["mean_steps"] if is_official(task) else float(official(task, split).lengths.mean())


def digests(batch: Batch, progress: Callable[[int], None] = lambda samples: None) -> dict[str, str]:
    """`{"stage/name": SHA-256}` of a batch in the layout of dm-clrs.

    It is fed 32 samples at a time, each with as many steps as their own longest: nothing has to be dense at once.
    """
    hashes: dict[str, Any] = {}
    for start in range(0, batch.size, BLOCK):
        block = batch.part(slice(start, start + BLOCK))
        for key, array in to_dm_clrs(block).items():
            hashes.setdefault(key, hashlib.sha256()).update(np.ascontiguousarray(array))
        progress(block.size)
    return {key: value.hexdigest() for key, value in hashes.items()}


def differences(task: str, split: Split, progress: Callable[[int], None] = lambda samples: None) -> list[str]:
    """Regenerate an official set; the features in which it differs from what dm-clrs generates."""
    if not is_official(task):
        raise ValueError(f"{task} has no official set to compare with: it is not one of dm-clrs")
    expected = facts()[task][split]["sha256"]
    found = digests(official(task, split), progress)
    return sorted(key for key in expected.keys() | found.keys() if expected.get(key) != found.get(key))
