"""A batch as one compressed file of NumPy arrays, written piece by piece: it is never dense in memory as a whole."""

import math
import zipfile
from collections.abc import Callable, Iterator
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
