"""A table before it has a format: cells that know what they mean, not how they look."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise, product
from string import ascii_lowercase
from typing import Literal

MINUS, DASH_SIGN = "−", "–"
LETTERS = [*ascii_lowercase, *map("".join, product(ascii_lowercase, repeat=2))]


@dataclass(frozen=True)
class Cell:
    text: str = ""
    spread: str = ""
    """what follows ±"""
    marks: str = ""
    """letters of notes"""
    tone: Literal["", "better", "worse", "quiet"] = ""
    best: bool = False
    beats: bool = False
    """its baseline"""


DASH = Cell(DASH_SIGN, tone="quiet")
"""what was not run"""
EMPTY = Cell()


@dataclass
class Page:
    """A table with all that stands around it."""

    title: str
    head: list[str]
    """of the columns, each in one or two lines"""
    left: int = 2
    """so many columns from the left hold words, the others numbers"""
    rows: list[list[Cell]] = field(default_factory=list)
    rule: int | None = None
    """the number of the row above which a line is drawn"""
    notes: dict[str, str] = field(default_factory=dict)
    """texts below the table, each with the letters by which cells point at it"""
    names: list[str] = field(default_factory=list)
    """of the columns for programs, where heads are the same; x × y is two"""
    spans: list[int] = field(default_factory=list)
    """of the columns of numbers, how many stay together where a table is too wide; none: each is on its own"""
    about: list[str] = field(default_factory=list)
    """what the numbers are, in sentences"""

    def marks(self, *texts: str) -> str:
        """The letters of these notes; none for an empty text."""
        letters = [self.notes.setdefault(text, LETTERS[len(self.notes)]) for text in texts if text]
        return ",".join(sorted(letters, key=LETTERS.index))

    def groups(self) -> list[list[int]]:
        """The columns of numbers, those together that stay together."""
        ends = accumulate(self.spans or [1] * (len(self.head) - self.left), initial=self.left)
        return [list(range(*pair)) for pair in pairwise(ends)]

    def spreads(self) -> list[bool]:
        """Whether each column has a spread anywhere."""
        return [any(row[k].spread for row in self.rows) for k in range(len(self.head))]


def quiet(text: str) -> Cell:
    return Cell(text, tone="quiet")


def mark_best(rows: list[list[Cell]], places: Sequence[int]) -> None:
    """Mark the highest score in these places of all rows; those that are printed alike are alike."""
    values = {(i, k): float(row[k].text) for i, row in enumerate(rows) for k in places
              if row[k].text not in ("", DASH_SIGN)}  # fmt: skip
    for (i, k), value in values.items():
        rows[i][k] = replace(rows[i][k], best=value == max(values.values()))


def percent(value: float, digits: int = 2) -> str:
    """A score in percent as it is printed: 100 only where all is right."""
    text = f"{value:.{digits}f}"
    return f"{100 - 10**-digits:.{digits}f}" if value < 100 <= float(text) else text


def number(value: float | None, spread: str = "", marks: str = "") -> Cell:
    """A score in percent."""
    return replace(DASH, marks=marks) if value is None else Cell(percent(value), spread, marks)


def difference(ours: float | None, theirs: float | None) -> Cell:
    """In points of percent, as they are printed."""
    if ours is None or theirs is None:
        return DASH
    points = round(float(percent(ours)) - float(percent(theirs)), 2)
    return Cell(f"{points:+.2f}".replace("-", MINUS), tone="better" if points > 0 else "worse" if points < 0 else "")
