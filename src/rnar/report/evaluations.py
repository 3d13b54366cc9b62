"""Evaluations as JSON and CSV, and the scores of such a CSV read again."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from rnar.evaluation.changes import Changes
from rnar.evaluation.measures import Tally
from rnar.nn.heads import HintSource
from rnar.report.runs import Row
from rnar.report.scores import LARGEST_SEEN, Score, Trial
from rnar.report.shared import as_table, read_table, said
from rnar.report.trials import Outcome, largest_seen
from rnar.runtime.workers import Precision
from rnar.training.environment import versions
from rnar.training.result import Count, Share
from rnar.training.run import Which

COLUMNS: tuple[str, ...] = (
    "run", "model", "seed", "task", "n", "nodes", "samples", "network", "trained_steps", "largest_seen",
    "hard_hints", "hints_from", "after", "precision", "problems", "what", "name", "step", "value", "low", "high"
)  # fmt: skip
SCORE = "score"  # as against a number of an output or of a hint, in the column `what`
Size = Annotated[int, Meta(ge=1)]


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
        "largest_seen": largest_seen(outcome.run),
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
        "changes": {name: _changes(changes) for name, changes in evaluation.changes.items()},
        "seconds": round(outcome.seconds, 3),
    }


def _hint(tally: Tally) -> dict[str, Any]:
    steps = [_number(score) for score in tally.each]
    return {"measure": tally.measure.name, "all": _number(tally.score), "steps": steps}


def _changes(changes: Changes) -> dict[str, Any]:
    """The accuracy of a hint where it changes, over all entries, and of copying it: in all, by step and by node."""
    found = {}
    for name, total in changes.total._asdict().items():
        steps, nodes = (getattr(places, name).tolist() for places in (changes.by_step, changes.by_node))
        found[name] = {"all": _number(total), "steps": [*map(_number, steps)], "nodes": [*map(_number, nodes)]}
    return found


def _number(value: float) -> float | None:
    """None where there was nothing to judge."""
    return float(value) if math.isfinite(value) else None


def as_csv(outcomes: Sequence[Outcome]) -> bytes:
    """One line for each number."""
    values = ({**plain(outcome), "problems": str(outcome.problems)} for outcome in outcomes)
    return as_table(COLUMNS, (line for value in values for line in _lines(value)))


def _lines(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    same, (low, high) = {name: value[name] for name in COLUMNS if name in value}, value["interval"]
    yield {**same, "what": SCORE, "value": value["score"], "low": low, "high": high}
    yield {**same, "what": "exact", "value": value["exact"]}
    for name, score in value["outputs"].items():
        yield {**same, "what": "output", "name": name, "value": score}
    for name, hint in value["hints"].items():
        for step, score in enumerate(hint["steps"], start=1):
            yield {**same, "what": f"hint {hint['measure']}", "name": name, "step": step, "value": score}


class Recorded(msgspec.Struct):
    """A line with a score."""

    run: str
    model: str
    seed: Count
    task: str
    n: Size
    samples: Size
    network: Which
    trained_steps: Count
    hints_from: HintSource
    after: Share
    precision: Precision
    value: Share
    low: Share
    high: Share
    hard_hints: bool | None = None
    largest_seen: Size = LARGEST_SEEN

    @property
    def score(self) -> Score:
        """Its settings are not known, so that each run and way of asking is a recipe of its own."""
        trial = Trial(self.network, self.hard_hints, self.hints_from, self.precision, self.after)
        run = Row(self.task, self.model, self.seed, True, self.trained_steps, self.trained_steps)
        bounds = (self.low, self.high)
        return Score(run, f"{self.run} {trial}", trial, self.n, self.value, bounds, self.samples, self.largest_seen)


def is_recorded(path: Path) -> bool:
    """Does the file begin as `rnar evaluate --csv` writes it?"""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.readline(10_000).decode("utf-8-sig", "replace").strip().split(",")
    return set(head) >= {"what", "trained_steps", "value"}


def recorded(paths: Sequence[Path]) -> list[Score]:
    """The scores of all these files. Of two of a network at one size, the one of more samples counts."""
    scores: dict[tuple[str, str, int], Score] = {}
    for path in paths:
        for number, line in enumerate(read_table(path, "scores")[1], start=1):
            if line["what"] == SCORE:
                score = _parsed(line, f"row {number} of {path}").score
                other = scores.get(key := (score.run.task, score.recipe, score.n))
                if other is None or (other.samples or 0) <= (score.samples or 0):
                    scores[key] = score
    if not scores:
        raise ValueError(f"there is no score in {', '.join(map(str, paths))}; `rnar evaluate --csv FILE` writes some")
    return list(scores.values())


def _parsed(line: dict[str, str], place: str) -> Recorded:
    cells = said(line, COLUMNS)
    try:
        return msgspec.convert({name: text for name, text in cells.items() if text}, Recorded, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(f"{place} tells no score: {str(error).replace('`', '')}") from None
