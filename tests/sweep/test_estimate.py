"""How much work a run is, and how long it takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from helpers.sweeping import SMALL_RUN as TINY
from rnar.sweep.estimate import Rates, fitted, run_work
from rnar.sweep.plan import Job
from rnar.training import Settings


def test_the_work_of_a_run_is_what_its_data_say():
    settings = Settings(tasks=("insertion_sort",), **{**TINY, "batch": 16, "test_samples": 5}).resolved()
    work = run_work(settings)  # insertion sort of n numbers has n steps, of which the first is given
    assert (work.pairs, work.calls) == (6 * 16 * (3 * 4**2 + 4 * 5**2) / 2, 6 * (3 + 4) / 2)
    assert work.validated == (1 + 3) * (4 * 15 * 16**2 + 2 * 31 * 32**2)
    selection, test = 4 * 4 * 15 * 16**2, 2 * 5 * 63 * 64**2
    assert work.tested == selection + test
    averaged = run_work(replace(settings, average=0.99, wider_n=16))
    assert averaged.validated == 2 * (1 + 3) * (4 + 2) * 15 * 16**2
    assert averaged.tested == selection + test * 3 / 2


def test_times_of_pairs_and_calls_are_found_again():
    works = [(100, 3), (900, 7), (5000, 10), (200, 1)]
    assert np.allclose(fitted([(2e-5 * pairs + 1e-3 * calls, (pairs, calls)) for pairs, calls in works]), (2e-5, 1e-3))
    assert fitted([(1.0, (100, 5)), (3.0, (100, 5))]) == (0.02, 0.0)  # one size alone


def test_a_cost_is_start_training_validation_and_test():
    rates = Rates(start=4.0, pair=2.0, call=3.0, tried_pair=0.5, memory=100)
    work = run_work(Settings(tasks=("insertion_sort",), **TINY, test_samples=1).resolved())
    cost = rates.cost(work, test_memory=7)
    training = 2 * work.pairs + 3 * work.calls + 0.5 * work.validated
    assert cost == (4.0, training, 0.5 * work.tested, 107)
    begun = Job(Settings(tasks=("bfs",), steps=10, validate_every=5).resolved(), "begun", 4)
    assert np.isclose(cost.left(begun), 4.0 + 0.6 * training + cost.test)
