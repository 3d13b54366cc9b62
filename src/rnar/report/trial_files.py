"""Outcomes as JSON and CSV."""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from rnar.evaluation.measures import Tally
from rnar.report.store import as_table
from rnar.report.trials import Outcome
from rnar.training.environment import versions

COLUMNS: tuple[str, ...] = (
    "run", "model", "seed", "task", "n", "nodes", "samples", "network", "hard_hints",
    "hints_from", "problems", "what", "name", "step", "value", "low", "high"
)  # fmt: skip


def as_json(outcomes: Sequence[Outcome]) -> bytes:
    """Everything, one object for each run, task and size."""
    value = {"versions": versions(), "evaluations": [plain(outcome) for outcome in outcomes]}
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()


def plain(outcome: Outcome) -> dict[str, Any]:
    """An outcome as plain data."""
    evaluation, problems = outcome.evaluation, outcome.problems
    return {
        **identity(outcome),
        "problems": {"official": problems.official, "seed": problems.seed},
        "score": _number(evaluation.score),
        "interval": [_number(bound) for bound in outcome.interval],
        "exact": evaluation.exact,
        "outputs": {name: _number(score) for name, score in evaluation.outputs.items()},
        "hints": {name: _hint(tally) for name, tally in evaluation.hints.items()},
        "seconds": round(outcome.seconds, 3),
    }


def identity(outcome: Outcome) -> dict[str, Any]:
    """Which run was evaluated, and on which problems."""
    settings, problems = outcome.run.settings, outcome.problems
    return {
        "run": str(outcome.run.path),
        "model": settings.name,
        "seed": settings.seed,
        "task": problems.task,
        "n": problems.n,
        "nodes": outcome.nodes,
        "samples": problems.samples,
        "network": outcome.trial.which,
        "hard_hints": outcome.trial.hard,
        "hints_from": outcome.trial.source,
    }


def _hint(tally: Tally) -> dict[str, Any]:
    steps = [_number(score) for score in tally.each]
    return {"measure": tally.measure.name, "all": _number(tally.score), "steps": steps}


def _number(value: float) -> float | None:
    """None where there was nothing to judge."""
    return float(value) if math.isfinite(value) else None


def as_csv(outcomes: Sequence[Outcome]) -> bytes:
    """One line for each number."""
    each = ((outcome, {**identity(outcome), "problems": str(outcome.problems)}) for outcome in outcomes)
    return as_table(COLUMNS, ({**same, **line} for outcome, same in each for line in _lines(outcome)))


def _lines(outcome: Outcome) -> Iterator[dict[str, Any]]:
    evaluation, (low, high) = outcome.evaluation, outcome.interval
    yield {"what": "score", "value": _number(evaluation.score), "low": _number(low), "high": _number(high)}
    yield {"what": "exact", "value": evaluation.exact}
    for name, score in evaluation.outputs.items():
        yield {"what": "output", "name": name, "value": _number(score)}
    for name, tally in evaluation.hints.items():
        what = f"hint {tally.measure.name}"
        for step, score in enumerate(tally.each, start=1):
            yield {"what": what, "name": name, "step": step, "value": _number(score)}
