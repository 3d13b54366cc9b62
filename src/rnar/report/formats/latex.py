"""A page in LaTeX, in the looks of the paper; page.tex is what stands around the table, and says what it needs."""

from collections.abc import Iterable
from importlib.resources import files
from itertools import zip_longest
from string import Template

from rnar.report.page import Cell, Page

# blue and vermilion, which people with any vision tell apart
TONES = {"better": "0072B2", "worse": "D55E00", "quiet": "666666"}
SPECIAL = str.maketrans({
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "±": r"$\pm$", "−": "$-$", "–": "--", "×": r"$\times$", "·": r"$\cdot$",
    "ï": r"\"{\i}", "č": r"\v{c}", "ć": r"\'{c}",
})  # fmt: skip


def render(page: Page) -> str:
    """A table that is made narrower where it is wider than the page."""
    heads = zip_longest(*(head.split("\n") for head in page.head), fillvalue="")
    head = [[rf"\textbf{{{escaped(part)}}}" if part else "" for part in line] for line in heads]
    cells = [[text(cell) + _tail(cell) for cell in row] for row in page.rows]
    widths = [max(map(len, column)) for column in zip(*head, *cells, strict=True)]
    rows = ["\\midrule\n" * (k in page.rules) + _line(row, widths) for k, row in enumerate(cells)]
    return Template((files("rnar.report.formats") / "page.tex").read_text("utf-8")).substitute(
        title=escaped(page.title),
        align="l" * page.left + "r" * (len(page.head) - page.left),
        head="\n".join(_line(line, widths) for line in head),
        rows="\n".join(rows),
        notes="".join(f"\\textsuperscript{{{letter}}} {escaped(note)}.\n" for letter, note in page.notes),
        about=escaped(" ".join(page.about)),
    )


def _line(cells: Iterable[str], widths: Iterable[int]) -> str:
    """A row whose cells stand below those of other rows, for a person who edits it."""
    return " & ".join(f"{cell:{width}}" for cell, width in zip(cells, widths, strict=True)) + r" \\"


def text(cell: Cell) -> str:
    found = escaped(cell.text)
    if cell.best:
        found = rf"\textbf{{{found}}}"
    if cell.beats:
        found = rf"\underline{{{found}}}"
    return rf"\textcolor[HTML]{{{TONES[cell.tone]}}}{{{found}}}" if cell.tone else found


def _tail(cell: Cell) -> str:
    spread = rf" $\pm$ {escaped(cell.spread)}" if cell.spread else ""
    return spread + (rf"\textsuperscript{{{cell.marks}}}" if cell.marks else "")


def escaped(words: str) -> str:
    return words.translate(SPECIAL)
