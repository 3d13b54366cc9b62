"""Does a network execute, or does it guess? How its answers depend on hints, and how right its own hints are."""

import math
from collections.abc import Sequence
from pathlib import Path

from rnar.evaluation.measures import Tally
from rnar.nn.reasoner import HintSource
from rnar.report import published as paper
from rnar.report.page import DASH, Cell, Page, number
from rnar.report.trials import Outcome, counted, unusual

HEADS: dict[HintSource, str] = {"network": "own\nhints", "truth": "true\nhints", "nothing": "no\nhints"}
SOURCES = tuple(HEADS)
ABOUT = (
    "Scores are micro-F1 in percent, on {samples} samples, where a network is fed its own hints, the true ones, "
    "or none. The last column: how right its own hints are, over all steps and samples, in percent (of numbers the "
    "squared error)."
)


def hint_table(outcomes: Sequence[Outcome]) -> Page:
    """A line for each network, task and size, of what was tried with each source of hints."""
    page = Page("Answers and hints", ["task", "model", "n", *HEADS.values(), "its own hints"], left=2)
    page.about += [ABOUT.format(samples=counted(outcome.problems for outcome in outcomes))]
    page.about += unusual(outcome.trial for outcome in outcomes)
    found: dict[tuple[str, Path, int], dict[HintSource, Outcome]] = {}
    for outcome in outcomes:
        key = outcome.problems.task, outcome.run.path, outcome.problems.n
        found.setdefault(key, {})[outcome.trial.source] = outcome
    for (task, _, n), each in found.items():
        scores = [number(100 * each[source].evaluation.score) if source in each else DASH for source in HEADS]
        model = next(iter(each.values())).run.settings.name
        hints = each["network"].evaluation.hints if "network" in each else {}
        told = ", ".join(f"{name} {_said(tally)}" for name, tally in hints.items())
        page.add(Cell(paper.title(task)), Cell(model), Cell(str(n)), *scores, Cell(told) if told else DASH)
    return page


def _said(tally: Tally) -> str:
    if math.isnan(tally.score):
        return DASH.text
    return f"{tally.score:.2g}" if tally.measure.is_error else f"{100 * tally.score:.0f}"
