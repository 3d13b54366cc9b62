"""A page for programs: numbers alone, a spread in a column of its own, nothing for a dash."""

import csv
import io

from rnar.common.escaping import as_cell
from rnar.report.page import DASH_SIGN, MINUS, Cell, Page

TIMES = " × "


def render(page: Page) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    names = page.names or [head.replace("\n", " ") for head in page.head]
    spreads = {k for k in range(len(names)) if any(row[k].spread for row in page.rows)}
    writer.writerow(
        [as_cell(part) for k, name in enumerate(names) for part in _parts(name, f"{name} ±", name, k in spreads)]
    )
    for row in page.rows:
        cells = zip(row, names, strict=True)
        writer.writerow(
            [as_cell(part) for k, (cell, name) in enumerate(cells) for part in _values(cell, name, k in spreads)]
        )
    return file.getvalue()


def _values(cell: Cell, name: str, spread: bool) -> list[str]:
    text = "" if cell.text == DASH_SIGN else cell.text.replace(MINUS, "-")
    return _parts(text, cell.spread, name, spread)


def _parts(text: str, spread: str, name: str, has_spread: bool) -> list[str]:
    """The columns that one column makes."""
    if TIMES in name:
        first, _, second = text.partition(TIMES)
        return [first, second]
    return [text, spread] if has_spread else [text]
