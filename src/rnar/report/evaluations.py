"""Evaluations as JSON and CSV, and the scores of such a CSV read again."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from rnar.evaluation.changes import Changes
from rnar.report.scores import Score
from rnar.report.shared import as_csv as csv_of
from rnar.report.shared import read_csv, said
from rnar.report.trials import Outcome
from rnar.training.environment import versions

TRIAL = {"network": "which", "hard_hints": "hard", "hints_from": "source", "after": "after", "precision": "precision"}
"""columns that say how a network was asked, and the fields of `Trial`"""
COLUMNS: tuple[str, ...] = (
    "run", "model", "seed", "task", "n", "nodes", "samples", "network", "trained_steps", "largest_seen",
    "hard_hints", "hints_from", "after", "precision", "problems", "what", "name", "step", "value", "low", "high"
)  # fmt: skip
SCORE = "score"  # as against a number of an output or of a hint, in the column `what`


def as_json(outcomes: Sequence[Outcome]) -> bytes:
    """Everything, one object for each run, task and size."""
    value = {"versions": versions(), "evaluations": [_plain(outcome) for outcome in outcomes]}
    return (json.dumps(value, indent=2, allow_nan=False) + "\n").encode()


def _plain(outcome: Outcome) -> dict[str, Any]:
    """An outcome as plain data: which run was evaluated on which problems, and how it did."""
    settings, problems, evaluation = outcome.run.settings, outcome.problems, outcome.evaluation
    drawn = {"official": problems.official, "seed": problems.seed}
    hints = {
        name: {
            "measure": tally.measure.name,
            "all": _number(tally.score),
            "steps": [_number(score) for score in tally.each],
        }
        for name, tally in evaluation.hints.items()
    }
    return {
        "run": str(outcome.run.path),
        "model": settings.name,
        "seed": settings.seed,
        "trained_steps": outcome.step,
        "largest_seen": outcome.largest_seen,
        "task": problems.task,
        "n": problems.n,
        "nodes": outcome.nodes,
        "samples": problems.samples,
        **{name: getattr(outcome.trial, field) for name, field in TRIAL.items()},
        "problems": {"file": problems.file} if problems.file else drawn,
        "score": _number(evaluation.score),
        "interval": [_number(bound) for bound in outcome.interval],
        "exact": evaluation.exact,
        "outputs": {name: _number(score) for name, score in evaluation.outputs.items()},
        "hints": hints,
        "changes": {name: _changes(changes) for name, changes in evaluation.changes.items()},
        "seconds": round(outcome.seconds, 3),
    }


def _changes(changes: Changes) -> dict[str, Any]:
    """The accuracy of a hint where it changes, over all entries, and of copying it: in all, by step and by node."""
    accuracies = {}
    for name, total in changes.total._asdict().items():
        steps, nodes = (getattr(places, name).tolist() for places in (changes.by_step, changes.by_node))
        accuracies[name] = {"all": _number(total), "steps": [*map(_number, steps)], "nodes": [*map(_number, nodes)]}
    return accuracies


def _number(value: float) -> float | None:
    """None where there was nothing to judge."""
    return float(value) if math.isfinite(value) else None


def as_csv(outcomes: Sequence[Outcome]) -> bytes:
    """One line for each number."""
    return csv_of(COLUMNS, (line for outcome in outcomes for line in _lines(outcome)))


def _lines(outcome: Outcome) -> Iterator[dict[str, Any]]:
    value = {**_plain(outcome), "problems": str(outcome.problems)}
    same, (low, high) = {name: value[name] for name in COLUMNS if name in value}, value["interval"]
    yield {**same, "what": SCORE, "value": value["score"], "low": low, "high": high}
    yield {**same, "what": "exact", "value": value["exact"]}
    for name, score in value["outputs"].items():
        yield {**same, "what": "output", "name": name, "value": score}
    for name, hint in value["hints"].items():
        for step, score in enumerate(hint["steps"], start=1):
            yield {**same, "what": f"hint {hint['measure']}", "name": name, "step": step, "value": score}


def is_recorded(path: Path) -> bool:
    """Whether the file begins as `rnar evaluate --csv` writes it."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.readline(10_000).decode("utf-8-sig", "replace").strip().split(",")
    return set(head) >= {"what", "trained_steps", "value"}


def recorded(paths: Sequence[Path]) -> list[Score]:
    """The scores of all these files. Of two of a network at one size, the one of more samples counts."""
    scores: dict[tuple[str, str, int], Score] = {}
    for path in paths:
        for number, line in enumerate(read_csv(path, "scores")[1], start=1):
            if line["what"] == SCORE:
                score = _parsed(line, f"row {number} of {path}")
                other = scores.get(key := (score.run.task, score.recipe, score.n))
                if other is None or (other.samples or 0) <= (score.samples or 0):
                    scores[key] = score
    if not scores:
        raise ValueError(f"there is no score in {', '.join(map(str, paths))}; `rnar evaluate --csv FILE` writes some")
    return list(scores.values())


def _parsed(line: dict[str, str], place: str) -> Score:
    """Its settings are not known, so that each run and way of asking is a recipe of its own."""
    cells = {name: text for name, text in said(line, COLUMNS).items() if text}
    steps = cells.get("trained_steps")
    value = {
        **cells,
        "run": {**cells, "finished": True, "steps": steps, "planned": steps},
        "recipe": " ".join(cells.get(name, "") for name in ("run", *TRIAL)),
        "trial": {field: cells[name] for name, field in TRIAL.items() if name in cells},
        "score": cells.get("value"),
        "interval": (cells.get("low"), cells.get("high")),
    }
    try:
        return msgspec.convert(value, Score, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(f"{place} tells no score: {str(error).replace('`', '')}") from None
