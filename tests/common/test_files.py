"""Files that are written whole or not at all."""

from __future__ import annotations

import pytest

from rnar.common.files import appearing


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
