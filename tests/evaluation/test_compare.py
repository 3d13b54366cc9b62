"""The paired difference of two evaluations."""

from __future__ import annotations

import numpy as np
import pytest

from rnar.evaluation.compare import differences
from rnar.evaluation.evaluation import Evaluation
from rnar.evaluation.measures import Accuracy, SquaredError, Tally


def of_shares(*outputs: np.ndarray, entries: int = 100) -> Evaluation:
    """Samples in which these shares of the entries are right, by output."""
    counts = [np.stack([entries * share, np.full(len(share), entries)], axis=1) for share in outputs]
    return Evaluation({f"out{k}": Tally(Accuracy(), each) for k, each in enumerate(counts)})


def test_a_network_is_as_good_as_itself():
    (row,) = differences(*[of_shares(np.linspace(0, 1, 9))] * 2)
    assert (row.difference, row.interval, row.better) == (0, (0, 0), None)


def test_what_makes_samples_hard_for_both_is_not_in_the_interval():
    hard = np.random.default_rng(0).uniform(0, 0.8, 50)
    first, second = of_shares(hard), of_shares(hard + 0.1)
    (row,) = differences(first, second)
    assert row.difference == pytest.approx(0.1) and row.interval == pytest.approx((0.1, 0.1)) and row.better == 1
    assert first.interval()[1] > second.interval()[0]  # of the scores alone it cannot be told


def test_the_interval_is_that_of_the_mean_of_the_differences():
    rng = np.random.default_rng(1)
    one, other = rng.uniform(size=(2, 400))
    (row,) = differences(of_shares(one), of_shares(other))
    error = (other - one).std() / np.sqrt(400)
    assert row.interval == pytest.approx(tuple((other - one).mean() + error * np.array([-1.96, 1.96])), abs=0.01)


def test_each_output_has_its_own_difference_and_the_score_is_their_mean():
    same, worse = np.full(6, 0.5), np.full(6, 0.3)
    score, *outputs = differences(of_shares(same, same), of_shares(same, worse))
    assert [row.name for row in (score, *outputs)] == ["score", "out0", "out1"]
    assert [row.difference for row in (score, *outputs)] == pytest.approx([-0.1, 0, -0.2])
    assert [row.better for row in (score, *outputs)] == [0, None, 0]


def test_of_errors_less_is_better():
    errors = [Evaluation({"d": Tally(SquaredError(), np.full((5, 2), (x, 1.0)))}) for x in (0.4, 0.1)]
    (row,) = differences(*errors)
    assert row.difference == pytest.approx(-0.3) and row.better == 1


def test_other_samples_are_refused():
    with pytest.raises(ValueError, match="of the same samples of the same task"):
        differences(of_shares(np.ones(3)), of_shares(np.ones(4)))
