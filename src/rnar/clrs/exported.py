"""Samples that were exported to a file, read again and checked."""

import zipfile
import zlib
from pathlib import Path

import numpy as np

from rnar.clrs.batch import Batch
from rnar.clrs.registry import find
from rnar.clrs.spec import Feature


def read(path: Path, task: str) -> Batch:
    """The samples of a task in such a file, checked; only in the layout of this package."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise ValueError(f"{path} is no file that `rnar data export` writes: {error}") from None
    spec, lengths = find(task).spec, arrays.pop("lengths", None)
    stages = dict(zip(("input", "hint", "output"), spec, strict=True))
    wanted = {f"{stage}/{name}": feature for stage, features in stages.items() for name, feature in features.items()}
    if lengths is None or arrays.keys() != wanted.keys():
        other = next(iter(sorted(arrays.keys() ^ wanted.keys())), "lengths")
        raise ValueError(f"{path} has no samples of {task} in the layout rnar: see {other}")
    size, nodes, steps = len(lengths), arrays["input/pos"].shape[-1], int(lengths.max(initial=0))
    for name, feature in wanted.items():
        shape = (*([steps] if name.startswith("hint/") else []), size, *feature.shape(nodes))
        _check(f"{path}: {name}", arrays[name], feature, shape, nodes)
    _check(f"{path}: lengths", lengths, None, (size,), steps + 1)
    found = {stage: {name: arrays[f"{stage}/{name}"] for name in features} for stage, features in stages.items()}
    return Batch(task, found["input"], found["hint"], found["output"], lengths)


def _check(name: str, array: np.ndarray, feature: Feature | None, shape: tuple[int, ...], nodes: int) -> None:
    """Raise unless an array has that shape, and values that a feature can have; None is that of lengths."""
    dtype = np.dtype(np.int32 if feature is None else feature.dtype)
    if array.shape != shape or array.dtype != dtype or not array.size:
        raise ValueError(
            f"{name} is {array.dtype} {array.shape}, and must be {dtype} {shape}, with at least one sample"
        )
    kind = "pointer" if feature is None else feature.kind
    most = {"mask": 2, "categorical": feature.classes if feature else 0}.get(kind, nodes)
    if kind == "scalar" and not np.isfinite(array).all():
        raise ValueError(f"{name} has numbers that are not finite")
    if kind != "scalar" and not -1 <= array.min() <= array.max() < (most or nodes):
        raise ValueError(f"{name} has values from {array.min()} to {array.max()}; they must be below {most}")
