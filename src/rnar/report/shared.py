"""Runs of several folders and CSV files, and the CSV file by which they are shared."""

import csv
import io
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from rnar.common.escaping import as_cell, from_cell, printable
from rnar.common.files import free, read, write
from rnar.report.runs import COLUMNS, Row, Tell, configured, parsed, rows_of, without

FILE = "runs.csv"
BOOLEANS = {"yes": True, "no": False}
KEY = ("task", "model", "seed", "planned", "settings")  # what makes a run the same run
LATER = ("test_last", "test_average")  # columns that older files do not have
NEEDED = COLUMNS[:6]  # that no row is without


def gather(paths: Iterable[Path], tell: Tell) -> list[Row]:
    """All runs in these folders, below them, and in these CSV files, each once. What cannot be read is told."""
    return _once([row for path in paths for row in _rows_at(path, tell)], tell)


def _rows_at(path: Path, tell: Tell) -> list[Row]:
    if not path.exists():
        raise ValueError(f"there is no {path}; name folders with runs, or CSV files that --export wrote")
    folders = configured(path) if path.is_dir() else []
    if not path.is_dir() or (not folders and (path / FILE).is_file()):
        return _read_rows(path / FILE if path.is_dir() else path, tell)
    rows: list[Row] = []
    for folder in folders:
        try:
            rows += rows_of(folder)
        except (ValueError, OSError) as error:
            tell(f"{folder} is left out: {error}")
    if not rows:
        unreadable = " that can be read" if folders else ""
        raise ValueError(f"there is no run{unreadable} in {path} or below; `rnar train` makes one")
    return rows


def _once(rows: Iterable[Row], tell: Tell) -> list[Row]:
    """Each run once: of two that are the same the one that got further, and else the first.

    Two that are finished and disagree are both left out: one of them is wrong.
    """
    kept: dict[tuple[Any, ...], Row] = {}
    wrong = set()
    for row in rows:
        key = tuple(getattr(row, name) for name in KEY)
        other, run = kept.setdefault(key, row), f"{row.task}, {row.model}, seed {row.seed}"
        if other.finished and row.finished and _outcome(other) != _outcome(row):
            tell(f"{other.place} and {row.place} are the same run ({run}) and disagree; both are left out")
            wrong.add(key)
        elif other is not row and other.path and row.path:
            tell(f"{other.path} and {row.path} are the same run ({run}); it is counted once")
        if (row.finished, row.steps) > (other.finished, other.steps):
            kept[key] = row
    return [row for key, row in kept.items() if key not in wrong]


def _outcome(row: Row) -> tuple[Any, ...]:
    """What came out, by which two rows of one run must agree; of a run that was repeated the time may differ."""
    return row.steps, row.validation_step, row.test_n64, row.test_samples


def export(rows: Iterable[Row], folder: Path) -> str:
    """Put rows into the folder's CSV, in place of those of the same runs; all others stay as they are.

    So does the row of a run that had been finished where it now is not, or tested on more samples. Says what was done,
    in words.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--export {folder} is a file; name a folder, in which {FILE} is made")
    folder.mkdir(parents=True, exist_ok=True)
    path = free(folder / FILE, replace=True)
    lines = _read_lines(path) if path.exists() else []
    before, replaced, added = len(lines), 0, 0
    places = {_key(line): place for place, line in reversed(list(enumerate(lines)))}
    for row in rows:
        new = {name: _written(getattr(row, name)) for name in COLUMNS}
        place = places.get(_key(new))
        if place is None:
            lines.append(new)
            added += 1
        elif _rank(new) >= _rank(lines[place]):
            lines[place] = {**lines[place], **new, "note": new["note"] or lines[place].get("note", "")}
            replaced += 1
    lines.sort(key=lambda line: (line["task"], line["model"], line["settings"], _count(line["seed"]), line["planned"]))
    columns = dict.fromkeys([*COLUMNS, *(name for line in lines for name in line)])  # those that somebody added: last
    write(path, as_csv(columns, lines))
    return f"{path}: rows {added} added, {replaced} replaced, {before - replaced} kept"


def _written(value: Any) -> str:
    """A value as the CSV has it: None is empty, a bool is yes or no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if value is None else str(value)


def _rank(line: Mapping[str, str]) -> tuple[bool, int]:
    """How much is known of a run: whether it is finished, and on how many samples it was tested."""
    finished = line["finished"] == "yes"
    return finished, _count(line["test_samples"]) if finished else 0


def _count(text: str) -> int:
    return int(text) if text.isdecimal() else 0


def _key(line: Mapping[str, str]) -> tuple[str, ...]:
    """What tells runs apart: on how many samples it was tested does not make another run."""
    return tuple(without(("test_samples",), line[name]) if name == "settings" else line[name] for name in KEY)


def as_csv(columns: Iterable[str], lines: Iterable[Mapping[str, Any]]) -> bytes:
    """The content of a CSV file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: as_cell(x) if isinstance(x, str) else x for name, x in line.items()} for line in lines)
    return text.getvalue().encode()


def read_csv(path: Path, what: str) -> tuple[list[str], list[dict[str, str]]]:
    """The columns and the lines of a CSV file."""
    try:
        reader = csv.DictReader(io.StringIO(read(path).decode("utf-8-sig")), restval="")
        return list(reader.fieldnames or []), list(reader)
    except (UnicodeDecodeError, csv.Error):
        raise ValueError(f"{path} is no CSV of {what}: it is not text") from None


def said(line: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """The cells of a line, safe to be shown."""
    return {name: printable(from_cell(line.get(name) or "")) for name in names}


def _read_rows(path: Path, tell: Tell) -> list[Row]:
    """The rows of a CSV; those that make no sense are told and left out."""
    rows = []
    for number, line in enumerate(_read_lines(path), start=1):
        try:
            rows.append(replace(_row(line), place=f"row {number} of {path}"))
        except ValueError as error:
            tell(f"row {number} of {path} is left out: {error}")
    if not rows:
        raise ValueError(f"there is no run in {path}; `rnar report RUNS --export FOLDER` writes some")
    return rows


def _read_lines(path: Path) -> list[dict[str, str]]:
    columns, lines = read_csv(path, "runs")
    missing = [name for name in COLUMNS if name not in (*LATER, *columns)]
    if missing:
        raise ValueError(f"{path} is no CSV of runs as --export writes it: it has no column {missing[0]}")
    if any(None in line for line in lines):
        raise ValueError(f"{path} is damaged: a row has more cells than there are columns")
    return lines


def _row(line: dict[str, str]) -> Row:
    """A row out of the cells of one, if each makes sense."""
    cells = said(line, COLUMNS)
    values = {name: text for name, text in cells.items() if text or name in NEEDED}
    if cells["finished"] not in BOOLEANS:
        raise ValueError(f"finished is {cells['finished']!r}, neither yes nor no")
    try:
        row = msgspec.convert({**values, "finished": BOOLEANS[cells["finished"]]}, Row, strict=False)
    except msgspec.ValidationError as error:
        what, _, name = str(error).replace("`", "").partition(" - at $.")
        raise ValueError(f"{name} is {cells.get(name)!r}: {what[0].lower()}{what[1:]}") from None
    parsed(row.settings)  # raises if they are not name=value
    return row
