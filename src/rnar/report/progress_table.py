"""When does a network know the answer? What it says before the algorithm has ended, beside what that has by then."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean

import numpy as np
import torch

from rnar.clrs import find
from rnar.clrs.spec import Feature
from rnar.evaluation.measures import measure_of
from rnar.evaluation.sets import ProblemSet
from rnar.report import published as paper
from rnar.report.page import DASH, Cell, Page, number
from rnar.report.trials import Outcome, counted, unusual

SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
"""of an algorithm's steps, after which networks are asked"""
ALGORITHM = "the algorithm"
ABOUT = (
    "Scores are micro-F1 in percent, on {samples} samples, of the answer that is asked for after a part of the "
    "steps. The algorithm: of the hint that becomes the answer, as it is by then, where there is one. Who is right "
    "before the algorithm has got there does not follow it."
)


def progress_table(outcomes: Sequence[Outcome]) -> Page:
    """A line for each network, task and size, of what was tried after each share of the steps."""
    shares = sorted({outcome.trial.after for outcome in outcomes})
    page = Page("Answers before the end", ["task", "model", "n", *(f"{share:.0%}" for share in shares)], left=2)
    page.about += [ABOUT.format(samples=counted(outcome.problems for outcome in outcomes))]
    page.about += unusual(outcome.trial for outcome in outcomes)
    found: dict[ProblemSet, dict[Path, dict[float, Outcome]]] = {}
    for outcome in outcomes:
        each = found.setdefault(outcome.problems, {}).setdefault(outcome.run.path, {})
        each[outcome.trial.after] = outcome
    for problems, networks in found.items():
        first = Cell(paper.title(problems.task)), Cell(str(problems.n))
        for each in networks.values():
            scores = [number(100 * each[share].evaluation.score) if share in each else DASH for share in shares]
            model = next(iter(each.values())).run.settings.name
            page.add(first[0], Cell(model), first[1], *scores)
        if known := algorithm(problems, shares):
            page.add(first[0], Cell(ALGORITHM, tone="quiet"), first[1], *(number(100 * score) for score in known))
    return page


def algorithm(problems: ProblemSet, shares: Sequence[float]) -> list[float]:
    """The score of what the algorithm itself has after each share of its steps; nothing where no hint becomes the
    answer."""
    spec, becomes = find(problems.task).spec, dict(becoming(problems.task))
    if len(becomes) < len(spec.outputs):
        return []
    measures = {name: measure_of(spec.outputs[name]) for name in becomes}
    sums = [{name: np.zeros(measure.width) for name, measure in measures.items()} for _ in shares]
    for batch in problems.batches():
        for share, found in zip(shares, sums, strict=True):
            last = batch.beginning(share).lengths - 1
            for name, hint in becomes.items():
                state, truth = batch.hints[hint][last, range(batch.size)], batch.outputs[name]
                counts = measures[name].counts(torch.from_numpy(state), torch.from_numpy(truth))
                found[name] += counts.numpy().sum(axis=0)
    return [mean(float(measures[name].score(found[name])) for name in becomes) for found in sums]


def becoming(task: str) -> Iterator[tuple[str, str]]:
    """The outputs of a task that are the last state of a hint, and that hint: pi is pi_h, pred is pred_h."""
    spec = find(task).spec
    for name, feature in spec.outputs.items():
        hint = f"{name}_h"
        if hint in spec.hints and _form(spec.hints[hint]) == _form(feature):
            yield name, hint


def _form(feature: Feature) -> tuple[str, str]:
    """What is stored in the same way: an order is stored as pointers."""
    return feature.place, "pointer" if feature.kind == "permutation" else feature.kind
