"""What runs beside dm-clrs, in its own Python."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from rnar.benchmark import dm_clrs_step


def test_dm_clrs_compiles_before_it_is_timed_also_when_a_longer_batch_comes():
    lengths = iter([5, 5, 5, 7, 7, 7])
    taken: list[int] = []

    def step(batch: SimpleNamespace) -> None:
        taken.append(batch.steps)

    child = dm_clrs_step.Reference.__new__(dm_clrs_step.Reference)
    child._compiled = set()
    child._batches = iter(lambda: padded(next(lengths)), None)
    answers = [child.timed(step) for _ in range(4)]
    assert taken == [5, 5, 5, 7, 7, 7]  # the first of each length is not timed
    assert [answer["padded_steps"] for answer in answers] == [5, 5, 7, 7]
    assert [answer["sample_steps"] for answer in answers] == [1 + 4, 1 + 4, 1 + 6, 1 + 6]


def padded(steps: int) -> SimpleNamespace:
    """A batch as dm-clrs has them, of two samples."""
    hint = SimpleNamespace(data=np.zeros((steps, 2)))
    return SimpleNamespace(features=SimpleNamespace(hints=[hint], lengths=np.array([1.0, steps])), steps=steps)
