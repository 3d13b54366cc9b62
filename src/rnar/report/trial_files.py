"""Outcomes as JSON and CSV."""

import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from rnar.evaluation.measures import Tally
from rnar.report.scored import Scored
from rnar.report.store import as_table
from rnar.report.trials import Outcome
from rnar.training.environment import versions

COLUMNS: tuple[str, ...] = (
    "run", "model", "seed", "task", "n", "nodes", "samples", "network", "trained_steps", "largest_seen",
    "hard_hints", "hints_from", "after", "precision", "problems", "what", "name", "step", "value", "low", "high"
)  # fmt: skip


def as_json(outcomes: Sequence[Outcome]) -> bytes:
    """Everything, one object for each run, task and size."""
    value = {"versions": versions(), "evaluations": [plain(outcome) for outcome in outcomes]}
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()


def plain(outcome: Outcome) -> dict[str, Any]:
    """An outcome as plain data: which run was evaluated on which problems, and how it did."""
    settings, problems, evaluation = outcome.run.settings, outcome.problems, outcome.evaluation
    drawn = {"official": problems.official, "seed": problems.seed}
    return {
        "run": str(outcome.run.path),
        "model": settings.name,
        "seed": settings.seed,
        "trained_steps": outcome.step,
        "largest_seen": Scored.of(outcome).seen,
        "task": problems.task,
        "n": problems.n,
        "nodes": outcome.nodes,
        "samples": problems.samples,
        "network": outcome.trial.which,
        "hard_hints": outcome.trial.hard,
        "hints_from": outcome.trial.source,
        "after": outcome.trial.after,
        "precision": outcome.trial.precision,
        "problems": {"file": problems.file} if problems.file else drawn,
        "score": _number(evaluation.score),
        "interval": [_number(bound) for bound in outcome.interval],
        "exact": evaluation.exact,
        "outputs": {name: _number(score) for name, score in evaluation.outputs.items()},
        "hints": {name: _hint(tally) for name, tally in evaluation.hints.items()},
        "seconds": round(outcome.seconds, 3),
    }


def _hint(tally: Tally) -> dict[str, Any]:
    steps = [_number(score) for score in tally.each]
    return {"measure": tally.measure.name, "all": _number(tally.score), "steps": steps}


def _number(value: float) -> float | None:
    """None where there was nothing to judge."""
    return float(value) if math.isfinite(value) else None


def as_csv(outcomes: Sequence[Outcome]) -> bytes:
    """One line for each number."""
    each = ({**plain(outcome), "problems": str(outcome.problems)} for outcome in outcomes)
    return as_table(COLUMNS, (line for found in each for line in _lines(found)))


def _lines(found: dict[str, Any]) -> Iterator[dict[str, Any]]:
    same, (low, high) = {name: found[name] for name in COLUMNS if name in found}, found["interval"]
    yield {**same, "what": "score", "value": found["score"], "low": low, "high": high}
    yield {**same, "what": "exact", "value": found["exact"]}
    for name, score in found["outputs"].items():
        yield {**same, "what": "output", "name": name, "value": score}
    for name, hint in found["hints"].items():
        for step, score in enumerate(hint["steps"], start=1):
            yield {**same, "what": f"hint {hint['measure']}", "name": name, "step": step, "value": score}
