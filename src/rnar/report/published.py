"""The numbers of the paper (Xu and Veličković, 2024), Tables 1 to 4, every cell as it is printed there.

The paper does not say what its ± are. Those of Triplet-GMPNN are standard errors in the papers they are taken from:
of Ibarz et al. (2022) over ten seeds, or of Bevilacqua et al. (2023) over three, task by task as `source` has it.
"""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from statistics import mean

import msgspec

from rnar.clrs import find

BASELINE, MAIN, SUBSTITUTE = "triplet-gmpnn", "rnar", "rnar-mpnn"
AVERAGE = "average"
"""stands in place of a task for the mean over tasks that the paper prints"""

GRAPHS = ("graph traversal", "shortest paths", "spanning trees")  # one category of the benchmark, three chapters here


def _lines(name: str) -> list[dict[str, str]]:
    with (files("rnar.report") / name).open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _titles(kind: str) -> dict[str, str]:
    """Of models or tasks what the paper calls them, in its order."""
    return {line["name"]: line["title"] for line in _lines("titles.csv") if line["kind"] == kind}


MODELS, TASKS = _titles("model"), _titles("task")
NAMES = {**_titles("other model"), **MODELS, **TASKS}
TITLES = {int(table): title for table, title in _titles("table").items()}


def title(name: str) -> str:
    """What the paper, or that of the model, calls a model or a task; else its own name."""
    return NAMES.get(name, name)


@dataclass(frozen=True)
class Number:
    """A cell of a table, in percent."""

    table: int
    model: str
    task: str
    mean: float
    spread: str
    """as printed; empty where there is none"""
    source: str
    """whose measurement it is"""
    note: str


@cache
def numbers() -> dict[tuple[int, str, str], Number]:
    """All cells, by table, model and task."""
    cells = [msgspec.convert(line, Number, strict=False) for line in _lines("published.csv")]
    return {(cell.table, cell.model, cell.task): cell for cell in cells}


def models_of(table: int) -> list[str]:
    """In the order of the table's columns."""
    return list(dict.fromkeys(model for number, model, _ in numbers() if number == table))


def tasks_of(table: int) -> list[str]:
    """In the order of the table's rows."""
    return list(dict.fromkeys(task for number, _, task in numbers() if number == table and task != AVERAGE))


@cache
def substituted() -> tuple[str, ...]:
    """The tasks on which RNAR ran out of memory with triplets, so that the paper has RNAR-MPNN in its place."""
    return tuple(task for task in tasks_of(2) if "out of memory" in numbers()[2, MAIN, task].note)


def in_the_paper(model: str, task: str, table: int = 2) -> str:
    """The model that stands behind a model's cell in a table."""
    return SUBSTITUTE if (table, model) == (2, MAIN) and task in substituted() else model


def substitutions(model: str, tasks: Iterable[str], table: int = 2) -> str:
    """The tasks in a table for which another model stands behind a model's cells, as the paper calls them."""
    return ", ".join(TASKS[task] for task in tasks if in_the_paper(model, task, table) != model)


def published(model: str, task: str) -> Number | None:
    """A model's number: from Table 2, which has all tasks, or else from a table of ablations.

    Those of RNAR-MPNN that are missing there stand in Table 2, in the place of RNAR's.
    """
    if in_the_paper(model, task) != model:
        return None
    places = [(table, model, task) for table in (2, 3, 4)]
    if model == SUBSTITUTE and task in substituted():
        places = [(2, MAIN, task)]
    return next((numbers()[place] for place in places if place in numbers()), None)


def mean_of_tasks(scores: dict[str, float]) -> float:
    """Every task counts the same."""
    return mean(scores.values())


def category(task: str) -> str:
    """Which of the benchmark's eight categories a task is of."""
    chapter = find(task).chapter
    return "graphs" if chapter in GRAPHS else chapter


def mean_of_categories(scores: dict[str, float]) -> float:
    """Every category counts the same, however many tasks it has."""
    groups: dict[str, list[float]] = {}
    for task, score in scores.items():
        groups.setdefault(category(task), []).append(score)
    return mean(map(mean, groups.values()))
