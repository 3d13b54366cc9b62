"""Batches in files of NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import rnar.clrs
from helpers.files import load
from rnar.clrs import ALGORITHMS
from rnar.clrs.layouts import arrays_of, write_npz


@pytest.mark.parametrize("task", ALGORITHMS)
def test_the_layout_of_dm_clrs_is_written_piece_by_piece_as_it_is_at_once(tmp_path, monkeypatch, task):
    monkeypatch.setattr("rnar.clrs.layouts.PIECE", 1000)
    batch = rnar.clrs.sample(task, n=7, batch=5, seed=3)
    with open(tmp_path / "set.npz", "wb") as file:
        write_npz(file, arrays_of(batch, "dm-clrs"))
    expected, found = rnar.clrs.to_dm_clrs(batch), load(tmp_path / "set.npz")
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert found[name].dtype == values.dtype
        assert np.array_equal(found[name], values)
