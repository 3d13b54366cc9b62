"""A batch as named arrays, in stored form or in the layout of dm-clrs: one-hots, float32, the constant `pred_h` a hint
again. That one is for checks against the reference, and for code that was written for it.

Each array can be made piece by piece, so that a file is written of a batch which is never dense as a whole.
"""

import math
import zipfile
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Literal, NamedTuple

import numpy as np

from rnar.clrs.batch import Batch
from rnar.clrs.registry import find
from rnar.clrs.spec import Feature
from rnar.clrs.transforms import order_as_hint, spec_with_order_as_hint
from rnar.common.checking import checked

Layout = Literal["rnar", "dm-clrs"]

PIECE = 1 << 23  # bytes, about


class Array(NamedTuple):
    """One array: what is stored of it, and how that becomes what is wanted."""

    name: str
    stored: np.ndarray
    feature: Feature | None = None
    """what it is widened as; None: it stays as it is stored"""
    nodes: int = 0
    padding: np.ndarray | None = None
    """bool [T, B]: where a hint becomes zero: a stored index 0 in the padding would be node 0"""

    def part(self, where: slice) -> np.ndarray:
        """Some entries of the first axis."""
        if self.feature is None:
            return self.stored[where]
        dense = widen(self.feature, self.stored[where], self.nodes)
        if self.padding is not None:
            dense[self.padding[where]] = 0
        return dense

    @property
    def header(self) -> dict[str, Any]:
        like = self.part(slice(0))
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
            yield self.part(slice(start, start + many))


def arrays_of(batch: Batch, layout: Layout) -> list[Array]:
    """`input/NAME`, `hint/NAME`, `output/NAME` and `lengths`."""
    spec, lengths, dense = find(batch.task).spec, batch.lengths, layout == "dm-clrs"
    if dense:
        spec, batch, lengths = spec_with_order_as_hint(spec), order_as_hint(batch), lengths.astype(np.float32)
    found = []
    for stage, features, values in zip(("input", "hint", "output"), spec, batch.stages.values(), strict=True):
        padding = ~batch.own_steps if stage == "hint" else None
        for name, feature in features.items():
            wide = feature if dense else None
            found.append(Array(f"{stage}/{name}", values[name], wide, batch.nodes, padding))
    return [*found, Array("lengths", lengths)]


@checked
def to_dm_clrs(batch: Batch) -> dict[str, np.ndarray]:
    """`{"input/key": [B, n], "hint/i": [T, B, n], "output/pred": [B, n], ..., "lengths": [B]}`, all float32."""
    return {array.name: array.part(slice(None)) for array in arrays_of(batch, "dm-clrs")}


def widen(feature: Feature, stored: np.ndarray, nodes: int) -> np.ndarray:
    """Indices of mask_one and codes of categorical become one-hots; all else keeps its shape."""
    if feature.kind == "mask_one":
        return np.eye(nodes, dtype=np.float32)[stored]
    if feature.kind == "categorical":
        assert feature.classes is not None
        rows = np.eye(feature.classes + 1, feature.classes, dtype=np.float32)
        rows[-1, -1] = -1  # code -1: the last class, negative
        return rows[stored]
    return stored.astype(np.float32)


def write_npz(file: BinaryIO, arrays: list[Array], progress: Callable[[int], None] = lambda bytes: None) -> None:
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
