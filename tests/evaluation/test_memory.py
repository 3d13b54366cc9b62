"""How many samples fit into memory."""

from __future__ import annotations

import rnar.clrs
from rnar.evaluation.memory import samples_at_once, step_bytes
from rnar.models import find


def test_less_memory_or_larger_problems_mean_fewer_samples_at_once():
    model = find("rnar")
    reasoner = model.build("floyd_warshall")
    batches = [rnar.clrs.sample("floyd_warshall", n, 2, seed=0) for n in (8, 16, 32, 64)]
    sizes = [samples_at_once(reasoner, batch, False, 10**9) for batch in batches]
    assert sizes == sorted(sizes, reverse=True) and sizes[0] > sizes[-1] > 1
    assert samples_at_once(reasoner, batches[-1], False, 1) == 1
    assert samples_at_once(reasoner, batches[-1], True, 10**9) < sizes[-1]
    assert step_bytes(reasoner, "floyd_warshall", 64) > 5 * 4 * 64 * 64 * 128
