"""A page in LaTeX, in the looks of the paper: booktabs, xcolor and graphicx are all that it needs."""

from collections.abc import Iterable

from rnar.report.page import Cell, Page

BETTER, WORSE = "0072B2", "D55E00"  # blue and vermilion, which people with any vision tell apart
TONES = {"better": BETTER, "worse": WORSE, "quiet": "666666"}
SPECIAL = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "±": r"$\pm$", "−": "$-$", "–": "--", "×": r"$\times$", "·": r"$\cdot$",
    "ï": r"\"{\i}", "č": r"\v{c}", "ć": r"\'{c}",
}  # fmt: skip


def render(page: Page) -> str:
    """A table that is made narrower where it is wider than the page."""
    align = "l" * page.left + "r" * (len(page.head) - page.left)
    tails = page.tails()
    rows = [
        ("\\midrule\n" if place in page.rules else "") + _line(map(_padded, row, tails))
        for place, row in enumerate(page.rows)
    ]
    notes = [rf"\textsuperscript{{{letter}}} {escaped(note)}." for letter, note in page.notes]
    return "\n".join([
        r"% \usepackage{booktabs,graphicx,xcolor}",
        r"\begin{table}[ht]",
        r"\centering",
        rf"\caption{{{escaped(page.title)}.}}",
        r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%",
        rf"\begin{{tabular}}{{{align}}}",
        r"\toprule",
        *_heads(page),
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}}",
        r"\par\medskip",
        r"\begin{minipage}{\linewidth}\footnotesize",
        *notes,
        escaped(" ".join(page.about)),
        r"\end{minipage}",
        r"\end{table}",
        "",
    ])  # fmt: skip


def _heads(page: Page) -> list[str]:
    """In as many lines as the highest has."""
    parts = [head.split("\n") for head in page.head]
    lines = max(map(len, parts))
    return [_line(rf"\textbf{{{escaped(part[k])}}}" if k < len(part) else "" for part in parts) for k in range(lines)]


def _line(cells: Iterable[str]) -> str:
    return " & ".join(cells) + r" \\"


def text(cell: Cell) -> str:
    found = escaped(cell.text)
    if cell.best:
        found = rf"\textbf{{{found}}}"
    if cell.beats:
        found = rf"\underline{{{found}}}"
    if cell.tone:
        found = rf"\textcolor[HTML]{{{TONES[cell.tone]}}}{{{found}}}"
    return found


def _padded(cell: Cell, room: tuple[str, str]) -> str:
    """With what follows, in as much room as all of the column have."""
    own, most = _tail(*cell.tail), _tail(*room)
    return text(cell) + (own if own == most else rf"\rlap{{{own}}}\hphantom{{{most}}}")


def _tail(spread: str, marks: str) -> str:
    return rf" $\pm$ {escaped(spread)}" * bool(spread) + rf"\,\textsuperscript{{{marks}}}" * bool(marks)


def escaped(words: str) -> str:
    return "".join(SPECIAL.get(letter, letter) for letter in words)
