"""A page in Markdown, as GitHub shows it. It has no colours: differences have their signs."""

import re
from pathlib import Path

from rnar.common.files import appearing, free
from rnar.report.page import Cell, Page

BEGIN, END = "<!-- results -->", "<!-- /results -->"


def render(page: Page) -> str:
    """Without the title, for a document has headings of its own."""
    columns = len(page.head)
    rule = ["---"] * page.left + ["---:"] * (columns - page.left)
    lines = [_line([escaped(head.replace("\n", " ")) for head in page.head]), _line(rule)]
    lines += [_line(list(map(text, row))) for row in page.rows]
    notes = [f"<sup>{letter}</sup> {escaped(note)}" for letter, note in page.notes]
    return "\n".join([*lines, "", *(["; ".join(notes) + ".", ""] if notes else []), escaped(" ".join(page.about)), ""])


def _line(cells: list[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def text(cell: Cell) -> str:
    found = escaped(cell.text)
    if cell.beats:
        found = f"<u>{found}</u>"
    if cell.best:
        found = f"**{found}**"
    spread = f" ± {cell.spread}" if cell.spread else ""
    return found + spread + (f" <sup>{cell.marks}</sup>" if cell.marks else "")


def escaped(words: str) -> str:
    return re.sub(r"([\\`*_|<>\[\]])", r"\\\1", words)


def fill(path: Path, table: str) -> bool:
    """Put a table between the two marks of a document; whether that changed anything."""
    target = free(path, replace=True)
    if not target.exists():
        raise ValueError(f"there is no {path} to put a table into")
    document = target.read_bytes().decode()
    before, begin, rest = document.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end) or BEGIN in rest:
        raise ValueError(f"{path} has no place for a table: write {BEGIN} and, below it, {END} once where it shall be")
    new = f"{before}{BEGIN}\n{table.strip()}\n{END}{after}"
    if new != document:
        with appearing(target) as file:
            file.write(new.encode())
    return new != document
