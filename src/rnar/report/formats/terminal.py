"""A page in a terminal of any width: no number is ever cut."""

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rnar.report.page import Cell, Page

SHORT = 8  # letters that need no second line
FAR = 10_000  # columns, of a terminal in which everything fits
TONES = {"": "", "better": "green", "worse": "red", "quiet": "dim"}


def parts(page: Page, console: Console) -> Iterator[RenderableType]:
    """The table, in several pieces if it is too wide, and what stands below it."""
    yield Text(page.title, "bold")
    everything = list(range(len(page.head)))
    for tall, padding in ((False, 1), (True, 1), (True, 0)):
        table = _table(page, everything, tall, padding)
        if _fits(table, console):
            yield table
            break
    else:
        yield from _pieces(page, console)
    yield ""
    for letter, note in page.notes:
        yield Text(f"{letter}  {note}", "dim")
    yield Text(" ".join(page.about), "dim")


def _fits(table: Table, console: Console) -> bool:
    return table.__rich_measure__(console, console.options.update(max_width=FAR)).maximum <= console.width


def _pieces(page: Page, console: Console) -> Iterator[Table]:
    """Tables of columns that fit, each time with the words on the left."""
    words = list(range(page.left))
    piece = words
    for more in page.groups():
        if piece != words and not _fits(_table(page, piece + more, True, 1), console):
            yield _table(page, piece, True, 1)
            piece = words
        piece = piece + more
    yield _table(page, piece, True, 1)


def _table(page: Page, columns: list[int], tall: bool, padding: int) -> Table:
    """Of these columns. `tall`: numbers of steps may have two lines; a number and its ± always stand together."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, padding, 0, 0), header_style="bold", show_edge=False)
    for k in columns:
        words = k < page.left
        table.add_column(page.head[k], justify="left" if words else "right", overflow="fold", no_wrap=not words)
    tails = page.tails()
    for place, row in enumerate(page.rows):
        if place in page.rules:
            table.add_section()
        cells = [(row[k], 0 if tall else missing(row[k], tails[k])) for k in columns]
        table.add_row(
            *(Padding(text(cell, tall), (0, space, 0, 0)) if space else text(cell, tall) for cell, space in cells)
        )
    return table


def text(cell: Cell, tall: bool = False) -> Text:
    style = " ".join(["bold"] * cell.best + ["underline"] * cell.beats)
    space = "\n" if tall else " "
    words = cell.text.replace(" × ", "×") if cell.tone == "quiet" else cell.text
    if cell.tone == "quiet" and len(words) > SHORT:
        words = words.replace(" of ", f"{space}of ")
    found = Text.assemble((words, style), style=TONES[cell.tone])
    if cell.spread:
        found.append(f" ±{cell.spread}", "dim")
    if cell.marks:
        found.append(f" {cell.marks}", "dim")
    return found


def missing(cell: Cell, room: tuple[str, str]) -> int:
    """By how much what stands behind this number is shorter than what stands behind another of the column."""
    return _length(room) - _length(cell.tail)


def _length(tail: tuple[str, str]) -> int:
    return sum(len(part) + space for part, space in zip(tail, (2, 1), strict=True) if part)
