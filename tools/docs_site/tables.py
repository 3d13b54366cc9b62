"""The rows of results/ and of the paper's tables, and Markdown made of them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEAST_STEPS = 1000
"""of a run that is set beside the paper"""
Row = dict[str, str]


@cache
def rows(path: str) -> tuple[Row, ...]:
    """The rows of a CSV file of the repository."""
    with (ROOT / path).open(encoding="utf-8") as file:
        return tuple(csv.DictReader(file))


@cache
def titles() -> dict[str, str]:
    """What the papers call a model or a task."""
    return {row["name"]: row["title"] for row in rows("src/rnar/report/titles.csv")}


def title(name: str) -> str:
    return titles().get(name, name)


def finished(task: str | None = None, model: str | None = None) -> list[Row]:
    """Finished runs of results/runs.csv that were scored, the longest first."""
    scored = [row for row in rows("results/runs.csv") if row["finished"] == "yes" and row["test_n64"]]
    chosen = [row for row in scored if task in (None, row["task"]) and model in (None, row["model"])]
    return sorted(chosen, key=lambda row: -int(row["steps"]))


def longest(task: str, model: str) -> Row | None:
    """The longest finished run of a model on a task, with its lowest seed; None where all are short."""
    runs = [row for row in finished(task, model) if int(row["steps"]) >= LEAST_STEPS]
    return min(runs, key=lambda row: (int(row["seed"]), -int(row["steps"])), default=None)


def published(task: str, model: str) -> str:
    """The paper's number of a model on a task, `87.08 ± 2.21`; a dash where there is none."""
    for table in ("1", "2", "3", "4"):
        for row in rows("src/rnar/report/published.csv"):
            if (row["table"], row["task"], row["model"]) == (table, task, model):
                spread = f" ± {float(row['spread']):.2f}" if row["spread"] else ""
                return f"{float(row['mean']):.2f}{spread}"
    return "–"


def percent(value: str) -> str:
    """A share in percent; a dash where it is missing."""
    return f"{100 * float(value):.2f}" if value else "–"


def table(head: Sequence[str], lines: Iterable[Sequence[str]], left: int = 1) -> str:
    """A Markdown table whose first columns are set left and the others right."""
    rule = ["---"] * left + ["---:"] * (len(head) - left)
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, rule, *lines])


def run_line(run: Row, name: str) -> list[str]:
    """A line of a table of runs; see `RUN_HEAD`."""
    interval = f"{percent(run['test_low'])} to {percent(run['test_high'])}" if run["test_low"] else "–"
    scores = [percent(run["test_n64"]), interval, percent(run["test_last"]), percent(run["test_average"])]
    return [name, *scores, run["test_samples"], f"{int(run['steps']):,}", run["seed"]]


RUN_HEAD = ("selected", "95% interval", "last", "average", "samples", "steps", "seed")
ABOUT_RUNS = (
    "Scores are micro-F1 in percent at n=64. Selected: the network that validation at n=16 chose; last: the one after "
    "all steps; average: of the weights along the training."
)
