"""How many samples fit into memory."""

from __future__ import annotations

import pytest

import rnar.clrs
from rnar.evaluation import memory
from rnar.evaluation.memory import samples_at_once, step_bytes
from rnar.models import find
from rnar.runtime import Workers


def test_less_memory_or_larger_problems_mean_fewer_samples_at_once():
    model = find("rnar")
    reasoner = model.build("floyd_warshall")
    batches = [rnar.clrs.sample("floyd_warshall", n, 2, seed=0) for n in (8, 16, 32, 64)]
    sizes = [samples_at_once(reasoner, batch, False, 10**9) for batch in batches]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1] > 1
    assert samples_at_once(reasoner, batches[-1], False, 1) == 1
    assert samples_at_once(reasoner, batches[-1], True, 10**9) < sizes[-1]
    assert step_bytes(reasoner, "floyd_warshall", 64) > 5 * 4 * 64 * 64 * 128


def test_where_little_memory_is_free_few_samples_are_tried_at_once_or_none(monkeypatch):
    model = find("rnar")
    reasoner, batch = model.build("minimum"), rnar.clrs.sample("minimum", 64, 32, seed=0)
    needed = step_bytes(reasoner, "minimum", 64)
    monkeypatch.setattr(memory, "free_memory", lambda: 4 * needed)
    assert max(map(len, memory.cut(Workers(reasoner, 1), batch, False, memory.BUDGET))) == 2
    monkeypatch.setattr(memory, "free_memory", lambda: None)
    assert max(map(len, memory.cut(Workers(reasoner, 1), batch, False, memory.BUDGET))) > 2
    monkeypatch.setattr("rnar.common.memory.free_memory", lambda: 1000)
    with pytest.raises(ValueError, match="minimum: 300 nodes are too many for this network: .* 2.9 GB of memory"):
        memory.check_step(reasoner, "minimum", 300, 32)
