"""Rows of runs in a CSV file, to which others can add theirs."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from rnar.common.escaping import as_cell, from_cell, printable
from rnar.common.files import appearing, free, read
from rnar.report.rows import COLUMNS, KEY, LATER, Row, parsed, without

FILE = "runs.csv"
YES, NO = "yes", "no"
TYPES = {name: get_type_hints(Row)[name] for name in COLUMNS}


def export(rows: Iterable[Row], folder: Path) -> str:
    """Put rows into the folder's CSV, in place of those of the same runs; all others stay as they are.

    So does the row of a run that had been finished where it now is not, or tested on more samples. Says what was done,
    in words.
    """
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--export {folder} is a file; name a folder, in which {FILE} is made")
    folder.mkdir(parents=True, exist_ok=True)
    path = free(folder / FILE, replace=True)
    lines = _read(path) if path.exists() else []
    before, replaced, added = len(lines), 0, 0
    places = {_key(line): place for place, line in reversed(list(enumerate(lines)))}
    for row in rows:
        new, key = as_text(row), _key(as_text(row))
        if key not in places:
            lines.append(new)
            added += 1
        elif _tells_more(row, old := lines[places[key]]):
            lines[places[key]] = {**old, **new, "note": new["note"] or old.get("note", "")}
            replaced += 1
    lines.sort(key=_order)
    columns = dict.fromkeys([*COLUMNS, *(name for line in lines for name in line)])  # those that somebody added: last
    with appearing(path) as file:
        file.write(as_table(columns, lines))
    return f"{path}: rows {added} added, {replaced} replaced, {before - replaced} kept"


def as_text(row: Row) -> dict[str, str]:
    """A row as the CSV has it: None is empty, a bool is yes or no."""
    return {name: _written(getattr(row, name)) for name in COLUMNS}


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return YES if value else NO
    return "" if value is None else str(value)


def _tells_more(row: Row, line: dict[str, str]) -> bool:
    """Is there as much known as there was, or more?"""
    finished = line["finished"] == YES
    if not (row.finished and finished):
        return row.finished or not finished
    samples = line["test_samples"]
    return not samples.isdecimal() or row.test_samples is None or row.test_samples >= int(samples)


def _key(line: dict[str, str]) -> tuple[str, ...]:
    """What tells runs apart: on how many samples it was tested does not make another run."""
    settings = without(["test_samples"], line["settings"])
    return tuple(settings if name == "settings" else line[name] for name in KEY)


def _order(line: dict[str, str]) -> tuple[str, str, str, int, str]:
    seed = line["seed"]
    return line["task"], line["model"], line["settings"], int(seed) if seed.isdecimal() else 0, line["planned"]


def as_table(columns: Iterable[str], lines: Iterable[Mapping[str, Any]]) -> bytes:
    """The content of a CSV file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(columns), restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: as_cell(x) if isinstance(x, str) else x for name, x in line.items()} for line in lines)
    return text.getvalue().encode()


def read_rows(path: Path, tell: Callable[[str], None]) -> list[Row]:
    """The rows of a CSV; those that make no sense are told and left out."""
    rows = []
    for number, line in enumerate(_read(path), start=1):
        try:
            row = replace(_row(line), place=f"row {number} of {path}")
            parsed(row.settings)
            rows.append(row)
        except ValueError as error:
            tell(f"row {number} of {path} is left out: {error}")
    if not rows:
        raise ValueError(f"there is no run in {path}; `rnar report RUNS --export FOLDER` writes some")
    return rows


def _read(path: Path) -> list[dict[str, str]]:
    try:
        reader = csv.DictReader(io.StringIO(read(path).decode("utf-8-sig")), restval="")
        lines = list(reader)
    except (UnicodeDecodeError, csv.Error):
        raise ValueError(f"{path} is no CSV of runs: it is not text") from None
    missing = [name for name in COLUMNS if name not in (*LATER, *(reader.fieldnames or []))]
    if missing:
        raise ValueError(f"{path} is no CSV of runs as --export writes it: it has no column {missing[0]}")
    if any(None in line for line in lines):
        raise ValueError(f"{path} is damaged: a row has more cells than there are columns")
    return lines


def _row(line: dict[str, str]) -> Row:
    """A row out of the cells of one, if each makes sense."""
    said = {name: printable(from_cell(line.get(name, ""))) for name in COLUMNS}
    values = {name: None if text == "" and type(None) in get_args(TYPES[name]) else text for name, text in said.items()}
    if said["finished"] not in (YES, NO):
        raise ValueError(f"finished is {said['finished']!r}, neither {YES} nor {NO}")
    try:
        return msgspec.convert({**values, "finished": said["finished"] == YES}, Row, strict=False)
    except msgspec.ValidationError as error:
        what, _, name = str(error).replace("`", "").partition(" - at $.")
        raise ValueError(f"{name} is {said.get(name)!r}: {what[0].lower()}{what[1:]}") from None
