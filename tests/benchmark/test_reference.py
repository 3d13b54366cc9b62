"""Models that dm-clrs has as well."""

from __future__ import annotations

from rnar.benchmark.reference import COUNTERPARTS
from rnar.models import MODELS


def test_every_counterpart_is_a_model_of_the_same_parts():
    for name, parts in COUNTERPARTS.items():
        processor = MODELS[name].processor(8)
        assert (processor.triplets is not None, processor.gate is not None) == (parts.triplets, parts.gate)
        assert processor.uses_adjacency == parts.along_edges
        assert type(processor.aggregator).__name__.lower() == parts.aggregator
