"""Scores that `rnar evaluate --csv` wrote, read again."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta

from rnar.common.escaping import from_cell, printable
from rnar.common.files import read
from rnar.nn.reasoner import HintSource, Precision
from rnar.report.scored import LARGEST_SEEN, Scored
from rnar.report.trial_files import COLUMNS
from rnar.report.trials import Trial
from rnar.training.result import Count, Share
from rnar.training.run import Which

Size = Annotated[int, Meta(ge=1)]
SCORE = "score"  # as against a number of an output or of a hint, in the column `what`


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
    def scored(self) -> Scored:
        trial = Trial(self.network, self.hard_hints, self.hints_from, self.precision, self.after)
        return Scored(
            self.run, f"{self.run} {trial}", self.model, self.seed, self.task, self.n, self.samples, self.value,
            (self.low, self.high), trial, self.trained_steps, self.largest_seen, {},
        )  # fmt: skip


def is_recorded(path: Path) -> bool:
    """Does the file begin as --csv writes it?"""
    return path.is_file() and set(_head(path)) >= {"what", "trained_steps", "value"}


def _head(path: Path) -> list[str]:
    with path.open("rb") as file:
        return file.readline(10_000).decode("utf-8-sig", "replace").strip().split(",")


def recorded(paths: Sequence[Path]) -> list[Scored]:
    """The scores of all these files. Of a network that was tried twice at a size, the one of more samples counts."""
    found: dict[tuple[str, str, int], Scored] = {}
    for path in paths:
        for number, line in enumerate(_lines(path), start=1):
            if line["what"] == SCORE:
                each = _parsed(line, f"row {number} of {path}").scored
                key = each.task, each.kind, each.n
                if key not in found or found[key].samples <= each.samples:
                    found[key] = each
    if not found:
        raise ValueError(f"there is no score in {', '.join(map(str, paths))}; `rnar evaluate --csv FILE` writes some")
    return list(found.values())


def _lines(path: Path) -> list[dict[str, str]]:
    try:
        return list(csv.DictReader(io.StringIO(read(path).decode("utf-8-sig")), restval=""))
    except (UnicodeDecodeError, csv.Error):
        raise ValueError(f"{path} is no CSV of scores: it is not text") from None


def _parsed(line: dict[str, str], place: str) -> Recorded:
    said = {name: printable(from_cell(line.get(name) or "")) for name in COLUMNS}
    try:
        return msgspec.convert({name: text for name, text in said.items() if text}, Recorded, strict=False)
    except msgspec.ValidationError as error:
        raise ValueError(f"{place} tells no score: {str(error).replace('`', '')}") from None
