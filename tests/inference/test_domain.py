"""What a network was trained on: problems drawn as those of training are not told to be unlike them."""

from __future__ import annotations

import numpy as np
import pytest

from rnar.clrs import ALGORITHMS, Stream, find
from rnar.inference.domain import TrainingDomain


@pytest.mark.parametrize("task", ALGORITHMS)
def test_hardly_a_training_problem_is_told_to_be_outside(task):
    data = Stream(task, 0).state
    domain, rng, outside = TrainingDomain(task, data), np.random.RandomState(7), []
    for n in data["sizes"]:
        batch = find(task).sample(rng, n, 40, **data["options"])
        outside += filter(None, (domain.outside(batch.sample(b)) for b in range(batch.size)))
    assert len(outside) <= 0.02 * 40 * len(data["sizes"]), outside


def test_sizes_are_counted_in_nodes():
    assert TrainingDomain("segments_intersect", {"sizes": [4, 16], "options": {}}).sizes == [4, 4]
    assert TrainingDomain("optimal_bst", {"sizes": [4], "options": {}}).sizes == [5]
    assert TrainingDomain("kmp_matcher", Stream("kmp_matcher", 0).state).sizes == [20]
