"""A page as one HTML file that needs nothing else; page.html is what stands around the table."""

from collections.abc import Iterable
from html import escape
from importlib.resources import files
from string import Template

from rnar.report.page import Cell, Page


def render(page: Page) -> str:
    groups = {columns[0] for columns in page.groups() if len(columns) > 1}
    kinds = [' class="words"' * (k < page.left) + ' class="ours"' * (k in groups) for k in range(len(page.head))]
    notes = "<br>".join(f"<sup>{letter}</sup> {escape(note)}" for letter, note in page.notes)
    rows = []
    for place, row in enumerate(page.rows):
        cells = [text(cell) + _tail(cell, room) for cell, room in zip(row, page.tails(), strict=True)]
        rows.append(_row("td", kinds, cells, " class=rule" * (place in page.rules)))
    return Template((files("rnar.report.formats") / "page.html").read_text("utf-8")).substitute(
        title=escape(page.title),
        head=_row("th", kinds, [escape(head).replace("\n", "<br>") for head in page.head]),
        rows="\n".join(rows),
        notes=f"<p>{notes}</p>" * bool(notes),
        about=escape(" ".join(page.about)),
    )


def _row(tag: str, kinds: Iterable[str], cells: Iterable[str], kind: str = "") -> str:
    columns = zip(kinds, cells, strict=True)
    return f"<tr{kind}>{''.join(f'<{tag}{column}>{cell}</{tag}>' for column, cell in columns)}</tr>"


def text(cell: Cell) -> str:
    found = escape(cell.text)
    if cell.beats:
        found = f"<u>{found}</u>"
    if cell.best:
        found = f"<b>{found}</b>"
    return f'<span class="{cell.tone}">{found}</span>' if cell.tone else found


def _tail(cell: Cell, room: tuple[str, str]) -> str:
    spread = f"± {escape(cell.spread)}" if cell.spread else ""
    marks = f"<sup>{cell.marks}</sup>" if cell.marks else ""
    found = f' <span class="spread" style="width: {len(room[0]) + 2.4:g}ch">{spread}</span>' if room[0] else ""
    return found + (f'<span class="marks" style="width: {len(room[1])}ch">{marks}</span>' if room[1] else "")
