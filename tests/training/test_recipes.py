"""Recipes by name, which give defaults of settings."""

from __future__ import annotations

import json

import pytest

from helpers.training import tiny
from rnar.cli.train import settings_flags
from rnar.report.runs import rows_of, unusual
from rnar.sweep.plan import train_arguments
from rnar.training import Run, Settings, train
from rnar.training.recipes import RECIPES
from rnar.training.settings import SETTINGS


def test_a_recipe_gives_defaults_and_what_is_given_says_otherwise():
    steady, plain = (Settings("bfs", recipe=name).resolved() for name in ("steady", "standard"))
    assert (steady.schedule, steady.average, steady.precision) == ("cosine", 0.999, "float32")
    assert plain == Settings("bfs").resolved() and (plain.schedule, plain.average) == ("constant", None)
    other = Settings("bfs", recipe="steady", schedule="constant", average="none").resolved()
    assert (other.schedule, other.average) == ("constant", 0)
    assert Settings("bfs", average="none").resolved() == plain
    assert Settings("bfs", model="rt", recipe="steady").resolved().batch == 4  # as its own paper has it


def test_a_recipe_that_is_not_there_is_refused():
    with pytest.raises(ValueError, match="no recipe 'stedy' .did you mean 'steady'.*; there are standard, steady"):
        Settings("bfs", recipe="stedy")


def test_a_run_keeps_the_name_of_its_recipe_and_all_settings(small, tmp_path):
    settings = tiny(tmp_path / "run", recipe="steady")
    result = train(settings, quiet=True)
    plain = json.loads((tmp_path / "run" / "config.json").read_text())["settings"]
    assert (plain["recipe"], plain["schedule"], plain["average"]) == ("steady", "cosine", 0.999)
    assert Run(tmp_path / "run").settings.plain() == settings.resolved().plain() and result.average
    same = tiny(tmp_path / "run", schedule="cosine", average=0.999)
    assert train(same) == result, "by which name it was asked for makes no other run"
    (row,) = rows_of(tmp_path / "run")
    assert (
        'recipe="steady"' in row.settings and unusual(row).count("schedule cosine") == 1 and "recipe" not in row.recipe
    )


def test_settings_of_a_recipe_are_asked_for_by_flags():
    words = train_arguments(Settings("bfs", recipe="steady", average=0, steps=50).resolved())
    assert words[words.index("--recipe") + 1] == "steady" and words[words.index("--average") + 1] == "0.0"
    assert settings_flags().constructor_factory()(recipe="steady").recipe == "steady"


def test_recipes_name_settings_and_the_help_tells_them():
    assert all(name in SETTINGS for recipe in RECIPES.values() for name in recipe)
    help = " ".join((Settings.__doc__ or "").split("steps:")[0].split())
    assert all(f'"{name}"' in help for name in RECIPES)
