"""Files of a run: what was written is what is read, or it is refused."""

import random
import subprocess
import sys
from pathlib import Path

import pytest
import safetensors.torch
import torch

from rnar.training import files
from rnar.training.files import pack, unpack

TENSORS = {
    "a": torch.arange(6.0).view(2, 3),
    "b/step": torch.tensor(7.0),
    "c": torch.zeros(0, 4),
    "d": torch.tensor([1]),
}
NOTES = {"step": 3, "score": 0.5}


def same(found, tensors=TENSORS, notes=NOTES) -> bool:
    return (
        found[1] == notes
        and found[0].keys() == tensors.keys()
        and all(torch.equal(found[0][name], x) and found[0][name].dtype == x.dtype for name, x in tensors.items())
    )


def test_what_was_packed_is_unpacked():
    assert same(unpack(pack(TENSORS, NOTES), Path("file")))


def test_a_file_without_a_checksum_is_older_and_is_read():
    assert same(unpack(safetensors.torch.save(TENSORS, {"rnar": '{"step": 3, "score": 0.5}'}), Path("file")))


def test_a_changed_byte_is_noticed_wherever_it_stands():
    """Or it changes nothing: in the name of the checksum itself, or in blanks."""
    content, draw, refused = pack(TENSORS, NOTES), random.Random(0), 0
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << draw.randrange(8)
        try:
            assert same(unpack(bytes(changed), Path("file")))
        except ValueError as error:
            refused += 1
            assert str(error).startswith("file is damaged or not of a run (")
    assert refused > 0.8 * len(content)


def test_changed_weights_are_refused_with_the_name_of_the_file():
    content = pack(TENSORS, NOTES)
    with pytest.raises(ValueError, match="state is damaged or not of a run .its checksum does not fit: bytes"):
        unpack(content[:-1] + bytes([content[-1] ^ 1]), Path("state"))


def test_the_same_tensors_and_data_are_the_same_bytes_in_every_process():
    """Several keys of metadata would be written in an order that is drawn anew for each."""
    code = "import torch; from rnar.training.files import pack; print(pack({'a': torch.ones(2)}, {'step': 3}).hex())"
    found = {subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(3)}
    assert len(found) == 1 and found == {pack({"a": torch.ones(2)}, {"step": 3}).hex().encode() + b"\n"}


def test_a_file_whose_checksum_stands_apart_is_older_and_is_read():
    notes = '{"step": 3, "score": 0.5}'
    metadata = {"rnar": notes, "blake2b": files._checksum(TENSORS, notes)}
    assert same(unpack(safetensors.torch.save(TENSORS, metadata), Path("file")))
    with pytest.raises(ValueError, match="its checksum does not fit"):
        unpack(safetensors.torch.save(TENSORS, {**metadata, "blake2b": "0"}), Path("file"))
