"""A page as one HTML file that needs nothing else."""

from collections.abc import Iterable, Iterator
from html import escape

from rnar.report.page import Cell, Page

STYLE = """
:root { color-scheme: light dark; --better: #0072b2; --worse: #c04f00; --quiet: #6b6b6b; --line: #bbb; }
@media (prefers-color-scheme: dark) { :root { --better: #56b4e9; --worse: #f09050; --quiet: #a0a0a0; --line: #555; } }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 90rem; padding: 0 1rem; }
h1 { font-size: 1.25rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .2rem .7rem; text-align: right; white-space: nowrap; }
th.words, td.words { text-align: left; }
thead th { border-bottom: 1.5px solid; border-top: 2px solid; vertical-align: bottom; }
tbody tr:last-child td { border-bottom: 2px solid; }
tbody tr.rule td { border-top: 1.5px solid var(--line); }
tbody tr:hover td { background: rgb(128 128 128 / 12%); }
td.ours, th.ours { border-left: 1px solid var(--line); }
.spread, .marks { display: inline-block; text-align: left; }
.better { color: var(--better); } .worse { color: var(--worse); } .quiet, .spread { color: var(--quiet); }
u { text-underline-offset: 3px; } sup { line-height: 0; }
p, ol { color: var(--quiet); font-size: .87rem; max-width: 60rem; }
""".strip()


def render(page: Page) -> str:
    kinds, tails = list(_kinds(page)), page.tails()
    heads = "".join(f"<th{kind}>{escape(head).replace(chr(10), '<br>')}</th>"
                    for kind, head in zip(kinds, page.head, strict=True))  # fmt: skip
    rows = [f"<tr{' class=rule' if place in page.rules else ''}>{_cells(row, kinds, tails)}</tr>"
            for place, row in enumerate(page.rows)]  # fmt: skip
    notes = "<br>".join(f"<sup>{letter}</sup> {escape(note)}" for letter, note in page.notes)
    return "\n".join([
        "<!DOCTYPE html>",
        '<html lang="en">',
        f'<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{escape(page.title)}</title>",
        f"<style>\n{STYLE}\n</style></head>",
        f'<body><h1>{escape(page.title)}</h1><div class="scroll"><table>',
        f"<thead><tr>{heads}</tr></thead>",
        "<tbody>",
        *rows,
        "</tbody></table></div>",
        f"<p>{notes}</p>" * bool(notes) + f"<p>{escape(' '.join(page.about))}</p>",
        "</body></html>",
        "",
    ])  # fmt: skip


def _kinds(page: Page) -> Iterator[str]:
    """The class of each column: words, or the first of columns that stay together."""
    yield from [' class="words"'] * page.left
    for span in page.spans or [1] * (len(page.head) - page.left):
        yield ' class="ours"' if span > 1 else ""
        yield from [""] * (span - 1)


def _cells(row: Iterable[Cell], kinds: Iterable[str], tails: Iterable[tuple[str, str]]) -> str:
    columns = zip(row, kinds, tails, strict=True)
    return "".join(f"<td{kind}>{text(cell)}{_tail(cell, room)}</td>" for cell, kind, room in columns)


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
