"""Numbers that follow from what was measured."""

from __future__ import annotations

from statistics import median

import pytest

from rnar.benchmark.report import Outside, Series, ratio


def test_numbers_follow_from_what_was_measured():
    ours, theirs = Series([1.0, 4.0, 2.0], [10, 20, 30], [100, 1000, 400]), Series([8.0, 8.0, 6.0], [1, 1, 1])
    assert (ours.median, ours.range) == (2.0, (1.0, 4.0))
    assert ours.sample_steps_per_second == median([10 / 1, 20 / 4, 30 / 2])
    assert ours.flops_per_second == median([100 / 1, 1000 / 4, 400 / 2])
    assert theirs.flops_per_second is None
    found = ratio(theirs, ours)
    assert (found.of_medians, found.lowest, found.highest) == (8 / 2, 8 / 4, 8 / 1)
    assert Outside(data=0.1, update=0.5, all=1.0).share(step=4.5) == pytest.approx(0.2)
