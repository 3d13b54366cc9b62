"""Files that are written whole or not at all, and what is read as one."""

from __future__ import annotations

import os
import sys
import threading

import pytest

from rnar.common.files import appearing, read


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(RuntimeError), appearing(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert [p.name for p in tmp_path.iterdir()] == ["file"] and path.read_text() == "old"
    with appearing(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"] and path.read_text() == "new"


@pytest.mark.skipif(sys.platform == "win32", reason="has no such things")
def test_what_may_never_end_is_not_read_unless_a_pipe_is_meant(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, tmp_path, type(pipe)("/dev/zero")):
        with pytest.raises(ValueError, match=f"{path} is no file"):
            read(path)
    writer = threading.Thread(target=pipe.write_bytes, args=(b"5 2 9",))
    writer.start()
    assert read(pipe, pipes=True) == b"5 2 9"
    writer.join()
    with pytest.raises(ValueError, match="/dev/zero is no file"):
        read(type(pipe)("/dev/zero"), pipes=True)
