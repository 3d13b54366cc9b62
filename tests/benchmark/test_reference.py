"""Models that dm-clrs has as well."""

from __future__ import annotations

from rnar.benchmark.reference import COUNTERPARTS, counterpart
from rnar.models import MODELS


def test_every_counterpart_is_a_model_of_the_same_parts():
    assert {name: tuple(counterpart(MODELS[name]).values()) for name in COUNTERPARTS} == {
        # aggregator, triplets, gate, along_edges
        "mpnn": ("max", False, False, False),
        "pgn": ("max", False, False, True),
        "triplet-gmpnn": ("max", True, True, False),
        "rnar": ("lstm", True, True, False),
        "rnar-mpnn": ("lstm", False, False, False),
        "rnar-gru": ("gru", True, True, False),
    }
