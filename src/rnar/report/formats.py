"""A page in each format: in a terminal of any width, and as text in Markdown, LaTeX, CSV and HTML."""

import csv
import io
import re
from collections.abc import Callable, Iterator
from html import escape
from importlib.resources import files
from itertools import zip_longest
from pathlib import Path
from string import Template
from typing import NamedTuple

from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rnar.common.escaping import as_cell
from rnar.common.files import free, write
from rnar.report.page import DASH_SIGN, MINUS, Cell, Page

FAR = 10_000  # columns, of a terminal in which everything fits
STYLES = {"": "", "better": "green", "worse": "red", "quiet": "dim"}
TIMES = " × "
BEGIN, END = "<!-- results -->", "<!-- /results -->"
LATEX = str.maketrans({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "±": r"$\pm$", "−": "$-$", "–": "--", "×": r"$\times$", "·": r"$\cdot$",
    "ï": r"\"{\i}", "č": r"\v{c}", "ć": r"\'{c}",
})  # fmt: skip


class Markup(NamedTuple):
    """How cells look in a format of text, as patterns with %s in them."""

    escape: Callable[[str], str]
    beats: str
    best: str
    tones: dict[str, str]
    spread: str
    marks: str
    note: str

    def cell(self, cell: Cell, room: str = "") -> str:
        """A cell; `room` is what stands in place of a spread where there is none."""
        text = self.escape(cell.text)
        for pattern, applies in ((self.beats, cell.beats), (self.best, cell.best)):
            text = pattern % text if applies else text
        spread = self.spread % self.escape(cell.spread) if cell.spread else room
        return self.tones.get(cell.tone, "%s") % text + spread + (self.marks % cell.marks) * bool(cell.marks)

    def notes(self, page: Page) -> list[str]:
        return [self.note % (letters, self.escape(text)) for text, letters in page.notes.items()]


IN_MARKDOWN = Markup(
    lambda words: re.sub(r"([\\`*_|<>\[\]])", r"\\\1", words),
    "<u>%s</u>", "**%s**", {}, " ± %s", " <sup>%s</sup>", "<sup>%s</sup> %s",
)  # fmt: skip
COLOURS = {"better": "0072B2", "worse": "D55E00", "quiet": "666666"}  # that people with any vision tell apart
IN_LATEX = Markup(
    lambda words: words.translate(LATEX),
    r"\underline{%s}", r"\textbf{%s}", {tone: rf"\textcolor[HTML]{{{code}}}{{%s}}" for tone, code in COLOURS.items()},
    r" $\pm$ %s", r"\textsuperscript{%s}", "\\textsuperscript{%s} %s.\n",
)  # fmt: skip
IN_HTML = Markup(
    escape,
    "<u>%s</u>", "<b>%s</b>", {tone: f'<span class="{tone}">%s</span>' for tone in COLOURS},
    ' <span class="spread">± %s</span>', "<sup>%s</sup>", "<sup>%s</sup> %s",
)  # fmt: skip


def markdown(page: Page) -> str:
    """Without the title, for a document has headings of its own. There are no colours: differences have their signs."""
    head = [IN_MARKDOWN.escape(head.replace("\n", " ")) for head in page.head]
    rule = ["---"] * page.left + ["---:"] * (len(head) - page.left)
    lines = [f"| {' | '.join(cells)} |" for cells in [head, rule, *(map(IN_MARKDOWN.cell, row) for row in page.rows)]]
    notes = ["; ".join(IN_MARKDOWN.notes(page)) + ".", ""] if page.notes else []
    return "\n".join([*lines, "", *notes, IN_MARKDOWN.escape(" ".join(page.about)), ""])


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
        write(target, new.encode())
    return new != document


def latex(page: Page) -> str:
    """In the looks of the paper, narrowed to the width of the text; page.tex says which packages it needs."""
    heads = zip_longest(*(head.split("\n") for head in page.head), fillvalue="")
    head = [[rf"\textbf{{{IN_LATEX.escape(part)}}}" if part else "" for part in line] for line in heads]
    head, rows = ([" & ".join(cells) + r" \\" for cells in lines] for lines in
                  (head, [map(IN_LATEX.cell, row) for row in page.rows]))  # fmt: skip
    if page.rule is not None:
        rows[page.rule : page.rule] = ["\\midrule"] * (page.rule < len(rows))
    return _template("page.tex").substitute(
        title=IN_LATEX.escape(page.title),
        align="l" * page.left + "r" * (len(page.head) - page.left),
        head="\n".join(head),
        rows="\n".join(rows),
        notes="".join(IN_LATEX.notes(page)),
        about=IN_LATEX.escape(" ".join(page.about)),
    )


def html(page: Page) -> str:
    """One file that needs nothing else; page.html is what stands around the table."""
    groups = {columns[0] for columns in page.groups() if len(columns) > 1}
    kinds = [' class="words"' * (k < page.left) + ' class="ours"' * (k in groups) for k in range(len(page.head))]

    def line(tag: str, cells: list[str], kind: str = "") -> str:
        inside = "".join(f"<{tag}{kind}>{cell}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))
        return f"<tr{kind}>{inside}</tr>"

    room = [' <span class="spread"></span>' * spread for spread in page.spreads()]  # so that decimal points are in line
    rows = [list(map(IN_HTML.cell, row, room)) for row in page.rows]
    return _template("page.html").substitute(
        title=escape(page.title),
        head=line("th", [escape(head).replace("\n", "<br>") for head in page.head]),
        rows="\n".join(line("td", row, " class=rule" * (k == page.rule)) for k, row in enumerate(rows)),
        notes=f"<p>{'<br>'.join(IN_HTML.notes(page))}</p>" * bool(page.notes),
        about=escape(" ".join(page.about)),
    )


def _template(name: str) -> Template:
    return Template((files("rnar.report") / name).read_text("utf-8"))


def as_csv(page: Page) -> str:
    """For programs: numbers alone, a spread in a column of its own, nothing for a dash."""
    names = page.names or [head.replace("\n", " ") for head in page.head]
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    rows = [[("" if c.text == DASH_SIGN else c.text.replace(MINUS, "-"), c.spread) for c in row] for row in page.rows]
    for row in ([(name, f"{name} ±") for name in names], *rows):
        parts = []
        for (text, spread), name, has_spread in zip(row, names, page.spreads(), strict=True):
            first, _, second = text.partition(TIMES)
            parts += [first, second] if TIMES in name else [text, spread] if has_spread else [text]
        writer.writerow(map(as_cell, parts))
    return file.getvalue()


FORMATS = {"markdown": markdown, "latex": latex, "csv": as_csv, "html": html}
"""and the terminal, which is no text"""


def terminal(page: Page, console: Console) -> Iterator[RenderableType]:
    """The table, in several pieces if it is too wide, and what stands below it. No number is ever cut."""
    yield Text(page.title, "bold")
    everything = list(range(len(page.head)))
    whole = (_table(page, everything, *way) for way in ((True, 1), (False, 1), (False, 0)))
    table = next((table for table in whole if _fits(table, console)), None)
    if table is None:
        words = piece = everything[: page.left]
        for more in page.groups():
            if piece != words and not _fits(_table(page, piece + more), console):
                yield _table(page, piece)
                piece = words
            piece = piece + more
        table = _table(page, piece)
    yield from (table, "")
    yield from (Text(f"{letters}  {text}", "dim") for text, letters in page.notes.items())
    yield Text(" ".join(page.about), "dim")


def _fits(table: Table, console: Console) -> bool:
    return table.__rich_measure__(console, console.options.update(max_width=FAR)).maximum <= console.width


def _table(page: Page, columns: list[int], aligned: bool = False, padding: int = 1) -> Table:
    """Of these columns; `aligned`: the decimal points of each are in line."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, padding, 0, 0), header_style="bold", show_edge=False)
    for k in columns:
        words = k < page.left
        table.add_column(page.head[k], justify="left" if words else "right", overflow="fold", no_wrap=not words)
    room = {k: max((len(_tail(row[k])) for row in page.rows), default=0) * aligned for k in columns}
    for place, row in enumerate(page.rows):
        if place == page.rule:
            table.add_section()
        table.add_row(*(Padding(shown(row[k]), (0, max(0, room[k] - len(_tail(row[k]))), 0, 0)) for k in columns))
    return table


def shown(cell: Cell) -> Text:
    """A cell in a terminal."""
    words = cell.text.replace(TIMES, "×") if cell.tone == "quiet" else cell.text
    style = " ".join(["bold"] * cell.best + ["underline"] * cell.beats)
    return Text.assemble((words, style), (_tail(cell), "dim"), style=STYLES[cell.tone])


def _tail(cell: Cell) -> str:
    return f" ±{cell.spread}" * bool(cell.spread) + f" {cell.marks}" * bool(cell.marks)
