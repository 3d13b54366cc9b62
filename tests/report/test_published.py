"""The numbers of the paper that the package brings along."""

from __future__ import annotations

from statistics import mean

import pytest

from rnar.clrs.splits import facts
from rnar.models import MODELS as RECIPES
from rnar.report import published
from rnar.report.page import percent
from rnar.report.published import AVERAGE, MODELS, TASKS, models_of, numbers, tasks_of


def scores(table: int, model: str) -> dict[str, float]:
    return {task: numbers()[table, model, task].mean for task in tasks_of(table)}


def test_every_cell_of_the_four_tables_is_there():
    assert {table: (len(tasks_of(table)), len(models_of(table))) for table in (1, 2, 3, 4)} == {
        1: (10, 4),
        2: (30, 4),
        3: (26, 3),
        4: (21, 4),
    }
    averages = 4 + 3 + 4  # Table 1 prints none
    assert len(numbers()) == 10 * 4 + 30 * 4 + 26 * 3 + 21 * 4 + averages
    assert set(TASKS) == set(facts()) == set(tasks_of(2)) and set(MODELS) <= set(RECIPES)
    for (_, _, task), number in numbers().items():
        assert 0 <= number.mean <= 100 and number.source
        assert (number.spread == "") == (task == AVERAGE)


def printed(number: published.Number) -> tuple[float, str]:
    return number.mean, number.spread


def test_a_few_cells_are_what_the_paper_prints():
    assert printed(numbers()[1, "rnar", "quickselect"]) == (87.08, "2.21")
    assert printed(numbers()[2, "rt", "naive_string_matcher"]) == (65.01, "32.3")
    assert numbers()[2, "g-forgetnet", AVERAGE].mean == 82.89
    assert printed(numbers()[3, "rnar-nope", "floyd_warshall"]) == (9.92, "4.50")
    assert printed(numbers()[4, "rnar-janossy-2", "optimal_bst"]) == (78.06, "3.40")


def test_the_averages_that_the_paper_prints_are_those_of_its_cells_but_for_two_that_have_a_note():
    wrong = {}
    for (table, model, task), number in numbers().items():
        if task == AVERAGE and round(mean(scores(table, model).values()), 2) != number.mean:
            wrong[table, model] = number.mean, round(mean(scores(table, model).values()), 2)
            assert f"the cells give {wrong[table, model][1]:.2f}" in number.note
    assert wrong == {(2, "rnar"): (75.78, 75.79), (4, "rnar-janossy-3"): (74.63, 74.62)}


def test_what_the_paper_says_of_its_first_table_follows_from_it():
    """RNAR improves on its baseline in 8 of 10 tasks and is the best in 6 of 10."""
    best = [max(models_of(1), key=lambda model, task=task: scores(1, model)[task]) for task in tasks_of(1)]
    beaten = [task for task in tasks_of(1) if scores(1, "rnar")[task] > scores(1, "triplet-gmpnn")[task]]
    assert (len(beaten), best.count("rnar")) == (8, 6)


def test_tables_agree_where_they_repeat_a_number_but_for_the_naive_string_matcher():
    differing = {
        (model, task): (number.mean, numbers()[2, model, task].mean)
        for (table, model, task), number in numbers().items()
        if table != 2 and task != AVERAGE and (2, model, task) in numbers()
        if number.mean != numbers()[2, model, task].mean
    }
    assert differing == {("rnar", "naive_string_matcher"): (98.95, 93.71)}
    notes = [numbers()[table, "rnar", "naive_string_matcher"].note for table in (2, 3, 4)]
    assert "98.95 ± 0.42" in notes[0] and "93.71 ± 2.26" in notes[1] and notes[1] == notes[2]


def test_the_four_tasks_that_ran_out_of_memory_are_marked_and_are_those_that_table_3_leaves_out():
    marked = {task for (_, _, task), number in numbers().items() if "out of memory" in number.note}
    assert marked == set(tasks_of(2)) - set(tasks_of(3)) and len(marked) == 4
    found = published.published("rnar-mpnn", "bridges")
    assert found is not None and found.mean == 72.22


@pytest.mark.parametrize(
    "model, categories, tasks",
    [("rt", 66.60, 66.18), ("g-forgetnet", None, 82.89)],
)
def test_averages_of_categories_and_of_tasks_are_those_of_the_models_own_papers(model, categories, tasks):
    assert round(published.mean_of_tasks(scores(2, model)), 2) == tasks
    if categories is not None:
        assert round(published.mean_of_categories(scores(2, model)), 2) == categories


def test_there_are_eight_categories():
    found = [published.category(task) for task in TASKS]
    assert len(set(found)) == 8 and found.count("graphs") == 12
    assert published.mean_of_categories({"bfs": 0.0, "dfs": 10.0, "minimum": 45.0}) == 25.0


@pytest.mark.parametrize(
    ("value", "digits", "text"),
    [(100.0, 2, "100.00"), (99.996, 2, "99.99"), (99.96, 1, "99.9"), (99.6, 0, "99"), (87.006, 2, "87.01")],
)
def test_100_is_printed_only_where_all_is_right(value, digits, text):
    assert percent(value, digits) == text
