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
    tails = page.tails()
    head = zip_longest(*(head.split("\n") for head in page.head), fillvalue="")
    rows = ["\\midrule\n" * (place in page.rules) + _line(map(_padded, row, tails))
            for place, row in enumerate(page.rows)]  # fmt: skip
    return Template((files("rnar.report.formats") / "page.tex").read_text("utf-8")).substitute(
        title=escaped(page.title),
        align="l" * page.left + "r" * (len(page.head) - page.left),
        head="\n".join(_line(rf"\textbf{{{escaped(part)}}}" if part else "" for part in line) for line in head),
        rows="\n".join(rows),
        notes="".join(f"\\textsuperscript{{{letter}}} {escaped(note)}.\n" for letter, note in page.notes),
        about=escaped(" ".join(page.about)),
    )


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def text(cell: Cell) -> str:
    found = escaped(cell.text)
    if cell.best:
        found = rf"\textbf{{{found}}}"
    if cell.beats:
        found = rf"\underline{{{found}}}"
    return rf"\textcolor[HTML]{{{TONES[cell.tone]}}}{{{found}}}" if cell.tone else found


def _padded(cell: Cell, room: tuple[str, str]) -> str:
    """With what follows, in as much room as all of the column have."""
    own, most = _tail(*cell.tail), _tail(*room)
    return text(cell) + (own if own == most else rf"\rlap{{{own}}}\hphantom{{{most}}}")


def _tail(spread: str, marks: str) -> str:
    return rf" $\pm$ {escaped(spread)}" * bool(spread) + rf"\,\textsuperscript{{{marks}}}" * bool(marks)


def escaped(words: str) -> str:
    return words.translate(SPECIAL)
