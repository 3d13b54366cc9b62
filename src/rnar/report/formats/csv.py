"""A page for programs: numbers alone, a spread in a column of its own, nothing for a dash."""

import csv
import io
from dataclasses import replace

from rnar.common.escaping import as_cell
from rnar.report.page import DASH_SIGN, MINUS, Cell, Page

TIMES = " × "


def render(page: Page) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    names = page.names or [head.replace("\n", " ") for head in page.head]
    spreads = [any(row[k].spread for row in page.rows) for k in range(len(names))]
    for row in ([Cell(name, f"{name} ±") for name in names], *(map(_plain, row) for row in page.rows)):
        columns = zip(row, names, spreads, strict=True)
        writer.writerow([as_cell(part) for column in columns for part in _parts(*column)])
    return file.getvalue()


def _plain(cell: Cell) -> Cell:
    return replace(cell, text="" if cell.text == DASH_SIGN else cell.text.replace(MINUS, "-"))


def _parts(cell: Cell, name: str, has_spread: bool) -> list[str]:
    """The columns that one column makes."""
    if TIMES in name:
        first, _, second = cell.text.partition(TIMES)
        return [first, second]
    return [cell.text, cell.spread] if has_spread else [cell.text]
