"""What holds while a hand works, in this process and in another."""

from __future__ import annotations

import gc

import pytest

from rnar.engine.workers import Workers
from rnar.models import find


def collects(reasoner, item, tell) -> bool:
    return gc.isenabled()


def fails(reasoner, item, tell) -> None:
    raise ValueError("no")


@pytest.mark.parametrize("threads", [1, 2])
def test_no_garbage_is_looked_for_while_they_work_and_afterwards_it_is(threads):
    workers = Workers(find("mpnn").build("minimum", size=4), threads=threads)
    assert workers.map(collects, range(4)) == [False] * 4 and gc.isenabled()
    with pytest.raises(ValueError, match="no"):
        workers.map(fails, range(2))
    assert gc.isenabled()


def test_who_wants_no_collection_at_all_still_has_none():
    workers = Workers(find("mpnn").build("minimum", size=4), threads=1)
    gc.disable()
    try:
        workers.map(collects, [0])
        assert not gc.isenabled()
    finally:
        gc.enable()
