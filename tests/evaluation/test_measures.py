"""How answers of each kind are judged."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from helpers.scoring import score
from rnar.clrs import node
from rnar.clrs.spec import graph
from rnar.evaluation.measures import Tally, measure_of


@pytest.mark.parametrize("kind", [node.pointer, node.mask_one, node.categorical(3), node.mask, node.scalar])
def test_every_measure_is_that_of_its_kind(kind):
    rng = np.random.default_rng(0)
    for _ in range(50):
        low = -1 if kind.kind in ("mask", "categorical") else 0
        truth = torch.from_numpy(rng.integers(low, 2, (3, 4)))
        said = torch.from_numpy(rng.integers(0, 2, (3, 4)))
        if kind.kind == "scalar":
            truth, said = truth.float() / 3, said.float() / 7
        tally = Tally(measure_of(kind), measure_of(kind).counts(said, truth).numpy())
        assert tally.score == pytest.approx(score(kind, said, truth), abs=1e-6, nan_ok=True)


def test_what_is_not_judged_has_no_score_and_is_not_wrong():
    truth = torch.tensor([-1, -1])
    accuracy = Tally(
        measure_of(graph.categorical(3)), measure_of(graph.categorical(3)).counts(truth + 1, truth).numpy()
    )
    assert np.isnan(accuracy.score) and accuracy.right.all()
    f1 = Tally(measure_of(graph.mask), measure_of(graph.mask).counts(truth + 2, truth).numpy())
    assert f1.score == 1 and f1.right.all()
