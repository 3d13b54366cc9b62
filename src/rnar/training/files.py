"""Reading and writing the files of a run: whole, or not at all."""

import hashlib
import json
from pathlib import Path
from typing import Any

import msgspec
import safetensors.torch
import torch
from safetensors import SafetensorError
from torch import Tensor

from rnar.common.files import read, write
from rnar.nn.reasoner import current_name

CONFIG, METRICS, STATE, BEST, TESTS, RESULT = (
    "config.json", "metrics.jsonl", "state.safetensors", "best.safetensors", "tests.json", "result.json"
)  # fmt: skip
NOTES = "rnar"
"""the one key of the metadata, since safetensors writes several in any order: a checksum, a blank, and plain data"""


def write_json(path: Path, value: Any) -> None:
    write(path, (json.dumps(value, indent=2, allow_nan=False) + "\n").encode())


def read_json(path: Path, form: Any) -> Any:
    """Plain data of that form, which is a type."""
    return decoded(read(path), form, str(path))


def decoded(content: bytes, form: Any, name: str) -> Any:
    """Plain data out of JSON, if it has that form; `name` is where it stands, for errors."""
    try:
        value = msgspec.json.decode(content)
        msgspec.convert(value, form)
        return value
    except msgspec.ValidationError as error:
        what, _, where = str(error).replace("`", "").partition(" - at $.")
        said = f"{where}: {what[0].lower()}{what[1:]}".removeprefix(": ")
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError):
        said = "it is not JSON"
    raise ValueError(f"{name} is damaged or not of a run: {said}")


def _checksum(tensors: dict[str, Tensor], notes: str) -> str:
    """Of the names, types, shapes and bytes of all tensors, and of the plain data."""
    checksum = hashlib.blake2b(notes.encode(), digest_size=16)
    for name, tensor in sorted(tensors.items()):
        checksum.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        checksum.update(tensor.flatten().view(torch.uint8).numpy().tobytes())
    return checksum.hexdigest()


def pack(tensors: dict[str, Tensor], notes: dict[str, Any]) -> bytes:
    """Tensors, and plain data beside them, as one file with a checksum: the same bytes of the same tensors and data."""
    plain = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    said = json.dumps(notes)
    return safetensors.torch.save(plain, {NOTES: f"{_checksum(plain, said)} {said}"})


def unpack(content: bytes, name: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The inverse of `pack`, with weights named as they are now; `name` is the file's, for errors."""
    try:
        tensors = safetensors.torch.load(content)
        metadata = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])["__metadata__"]
        checksum, _, said = metadata[NOTES].partition(" ")
        if metadata[NOTES].startswith("{"):  # older files have the checksum apart, or none
            checksum, said = metadata.get("blake2b"), metadata[NOTES]
        if checksum not in (None, _checksum(tensors, said)):
            raise ValueError("its checksum does not fit: bytes of it have changed since it was written")
        return {current_name(name): tensor for name, tensor in tensors.items()}, json.loads(said)
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        said = f"it has no {error}" if isinstance(error, KeyError) else str(error).split("\n")[0]
        raise ValueError(f"{name} is damaged or not of a run ({said})") from None
