"""Tasks, models and seeds as one names them."""

from __future__ import annotations

import pytest

from helpers.sweeping import SEQUENTIAL
from rnar.clrs import ALGORITHMS
from rnar.models import MODELS
from rnar.sweep.choosing import models_of, seeds_of, tasks_of


def test_tasks_are_names_wildcards_and_groups_each_once():
    assert tasks_of("all") == list(ALGORITHMS)
    assert tasks_of("sequential") == SEQUENTIAL
    assert tasks_of("b?s, mst*,bfs") == ["bfs", "mst_kruskal", "mst_prim"]


def test_models_are_names_and_wildcards_each_once():
    assert models_of("rt,rnar-janossy-*,rt") == ["rt", "rnar-janossy-1", "rnar-janossy-2", "rnar-janossy-3"]
    assert models_of("*") == list(MODELS)


@pytest.mark.parametrize(("words", "seeds"), [("3", [3]), ("0-4", [0, 1, 2, 3, 4]), ("7, 1-2,2-3", [7, 1, 2, 3])])
def test_seeds_are_numbers_and_ranges_each_once(words, seeds):
    assert seeds_of(words) == seeds
