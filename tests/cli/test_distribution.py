"""The flags of distributions."""

from __future__ import annotations

from dataclasses import fields

import pytest

from rnar.cli.flags import Distribution
from rnar.clrs import ALGORITHMS


def test_the_flags_are_the_options_of_all_problems_together():
    options = {name for algorithm in ALGORITHMS.values() for name in algorithm.problem.options}
    assert {field.name for field in fields(Distribution)} == options


def test_several_numbers_have_commas_between_them():
    given = Distribution(p="0.1,0.9", needle="1,8", center="0.5,-1", low=0.0).given()
    assert given == {"p": (0.1, 0.9), "needle": (1, 8), "center": (0.5, -1.0), "low": 0.0}
    assert Distribution(p="0.3", needle="3").given() == {"p": 0.3, "needle": 3}
    with pytest.raises(ValueError, match="whole numbers"):
        Distribution(needle="1.5").given()
