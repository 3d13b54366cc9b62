"""A page in a terminal of any width: no number is ever cut."""

from collections.abc import Iterator

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rnar.report.page import Cell, Page

SHORT = 8  # letters that need no second line
TONES = {"": "", "better": "green", "worse": "red", "quiet": "dim"}


def parts(page: Page, width: int) -> Iterator[RenderableType]:
    """The table, in several pieces if it is too wide, and what stands below it."""
    yield Text(page.title, "bold")
    everything = list(range(len(page.head)))
    for tall, padding in ((False, 1), (True, 1), (True, 0)):
        if _width(page, everything, tall, padding) <= width:
            yield _table(page, everything, tall, padding)
            break
    else:
        for columns in _pieces(page, width):
            yield _table(page, columns, True, 1)
    yield ""
    for letter, note in page.notes:
        yield Text(f"{letter}  {note}", "dim")
    yield Text(" ".join(page.about), "dim")


def _width(page: Page, columns: list[int], tall: bool, padding: int) -> int:
    """Of a table of these columns. `tall`: what follows ± has a line of its own."""
    tails = page.tails()
    heads = [max(map(cell_len, page.head[k].split("\n"))) for k in columns]
    cells = [max(_cell_width(row[k], tails[k], tall) for row in page.rows) for k in columns]
    return sum(map(max, heads, cells)) + (1 + padding) * len(columns)


def _cell_width(cell: Cell, room: tuple[str, str], tall: bool) -> int:
    return max(map(cell_len, text(cell, tall).plain.split("\n"))) + (0 if tall else missing(cell, room))


def _pieces(page: Page, width: int) -> Iterator[list[int]]:
    """Columns that fit, each time with the words on the left."""
    words = list(range(page.left))
    piece, place = list(words), page.left
    for span in page.spans or [1] * (len(page.head) - page.left):
        more = list(range(place, place + span))
        if len(piece) > len(words) and _width(page, piece + more, True, 1) > width:
            yield piece
            piece = list(words)
        piece, place = piece + more, place + span
    yield piece


def _table(page: Page, columns: list[int], tall: bool, padding: int) -> Table:
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, padding, 0, 0), header_style="bold", show_edge=False)
    for k in columns:
        table.add_column(page.head[k], justify="left" if k < page.left else "right", overflow="fold")
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
        found.append(f"{space}±{cell.spread}", "dim")
    if cell.marks:
        found.append(f" {cell.marks}", "dim")
    return found


def missing(cell: Cell, room: tuple[str, str]) -> int:
    """By how much what stands behind this number is shorter than what stands behind another of the column."""
    return _length(room) - _length(cell.tail)


def _length(tail: tuple[str, str]) -> int:
    return sum(len(part) + space for part, space in zip(tail, (2, 1), strict=True) if part)
