"""A batch as one compressed file of NumPy arrays, written piece by piece: it is never dense in memory as a whole."""

import math
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np

from rnar.clrs import Batch, Feature, find, order_as_hint
from rnar.clrs.dm_clrs import widen
from rnar.clrs.transforms import spec_with_order_as_hint

Layout = Literal["rnar", "dm-clrs"]

PIECE = 1 << 23  # bytes, about


class Array(NamedTuple):
    """One array of the file: what is stored of it, and how each piece of that becomes what is written."""

    name: str
    stored: np.ndarray
    convert: Callable[[np.ndarray, slice], np.ndarray] = lambda piece, where: piece

    @property
    def header(self) -> dict[str, Any]:
        like = self.convert(self.stored[:0], slice(0, 0))
        shape = (len(self.stored), *like.shape[1:])
        return {"descr": np.lib.format.dtype_to_descr(like.dtype), "fortran_order": False, "shape": shape}

    @property
    def bytes(self) -> int:
        header = self.header
        return math.prod(header["shape"]) * np.dtype(header["descr"]).itemsize

    def pieces(self) -> Iterator[np.ndarray]:
        """All of it, some entries of the first axis at a time."""
        many = max(1, PIECE * len(self.stored) // max(1, self.bytes))
        for start in range(0, len(self.stored), many):
            where = slice(start, start + many)
            yield self.convert(self.stored[where], where)


def arrays_of(batch: Batch, layout: Layout) -> list[Array]:
    """`input/NAME`, `hint/NAME`, `output/NAME` and `lengths`."""
    spec = find(batch.task).spec
    if layout == "rnar":
        stages = (("input", batch.inputs), ("hint", batch.hints), ("output", batch.outputs))
        arrays = [Array(f"{stage}/{name}", stored) for stage, values in stages for name, stored in values.items()]
        return [*arrays, Array("lengths", batch.lengths)]
    spec, batch = spec_with_order_as_hint(spec), order_as_hint(batch)
    return [
        *(Array(f"input/{name}", batch.inputs[name], widened(f, batch)) for name, f in spec.inputs.items()),
        *(Array(f"hint/{name}", batch.hints[name], widened_hint(f, batch)) for name, f in spec.hints.items()),
        *(Array(f"output/{name}", batch.outputs[name], widened(f, batch)) for name, f in spec.outputs.items()),
        Array("lengths", batch.lengths.astype(np.float32)),
    ]


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


def widened(feature: Feature, batch: Batch) -> Callable[[np.ndarray, slice], np.ndarray]:
    """As in `rnar.clrs.to_dm_clrs`, which does all at once."""
    return lambda piece, where: widen(feature, piece, batch.nodes)


def widened_hint(feature: Feature, batch: Batch) -> Callable[[np.ndarray, slice], np.ndarray]:
    own_steps = batch.own_steps

    def convert(piece: np.ndarray, where: slice) -> np.ndarray:
        dense = widen(feature, piece, batch.nodes)
        dense[~own_steps[where]] = 0
        return dense

    return convert


def write(file: BinaryIO, arrays: list[Array], progress: Callable[[int], None] = lambda bytes: None) -> None:
    """In the format of `numpy.savez_compressed`; the same arrays give the same bytes."""
    with zipfile.ZipFile(file, "w") as archive:
        for array in arrays:
            entry = zipfile.ZipInfo(f"{array.name}.npy")  # which has a fixed date
            entry.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(entry, "w", force_zip64=True) as inside:
                np.lib.format.write_array_header_1_0(inside, array.header)
                for piece in array.pieces():
                    inside.write(piece.tobytes())
                    progress(piece.nbytes)
