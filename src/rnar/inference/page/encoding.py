"""Arrays in few letters: bytes that are mostly zero, compressed.

A hint changes little from step to step, and a network is right most of the time. So of the truth the differences in
time are kept, and of what a network decided the differences from the truth, byte by byte (exclusive or); then all bytes
of a like place in their numbers stand together. `parts/data.js` undoes it.
"""

import base64
import zlib

import numpy as np

BYTES = {"u1": np.dtype("<u1"), "u2": np.dtype("<u2"), "f4": np.dtype("<f4")}
KEPT_BITS = 0xFFFFF000  # of a network's numbers: three to four digits
NOT_JUDGED = 255  # in place of -1


class Packer:
    """Collects arrays, one after the other."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def in_time(self, values: np.ndarray) -> None:
        """[T, ...]: each step as the difference from the one before."""
        raw = as_bytes(values)
        self._add(np.concatenate([raw[:1], raw[1:] ^ raw[:-1]]))

    def beside(self, values: np.ndarray, others: np.ndarray) -> None:
        """The difference from another array of the same shape and type."""
        self._add(as_bytes(values) ^ as_bytes(others))

    def plain(self, values: np.ndarray) -> None:
        self._add(as_bytes(values))

    def _add(self, raw: np.ndarray) -> None:
        self._parts.append(np.ascontiguousarray(raw.transpose(2, 0, 1)).tobytes())

    def text(self) -> str:
        return base64.b64encode(zlib.compress(b"".join(self._parts), 9)).decode()


def as_bytes(values: np.ndarray) -> np.ndarray:
    """[T, ...] -> uint8 [T, entries, bytes of an entry]"""
    flat = np.ascontiguousarray(values).reshape(len(values), int(np.prod(values.shape[1:])))  # there may be none
    return flat.view(np.uint8).reshape(*flat.shape, flat.dtype.itemsize)


def typed(values: np.ndarray, kind: str, nodes: int) -> tuple[np.ndarray, str]:
    """Stored values [T, ...] in the least type that holds them, and its name."""
    name = "f4" if kind == "scalar" else "u2" if kind not in ("mask", "categorical") and nodes > NOT_JUDGED else "u1"
    if name != "f4":
        values = np.where(values < 0, NOT_JUDGED, values)
    return values.astype(BYTES[name]), name


def rounded(numbers: np.ndarray) -> np.ndarray:
    """A network's numbers with fewer bits: what they were computed to is noise."""
    bits = np.ascontiguousarray(numbers, np.dtype("<f4")).view(np.uint32)
    return ((bits + np.uint32(0x800)) & np.uint32(KEPT_BITS)).view(np.dtype("<f4"))


def as_shares(probabilities: np.ndarray) -> np.ndarray:
    """Probabilities in steps of 1/255."""
    return np.round(255 * np.clip(probabilities, 0, 1)).astype(np.uint8)
