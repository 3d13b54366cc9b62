"""A table before it has a format: cells that know what they mean, not how they look."""

from collections.abc import Iterator, Sequence
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
    best: bool = False
    beats: bool = False
    """its baseline"""
    tone: Literal["", "better", "worse", "quiet"] = ""
    marks: str = ""
    """letters of notes"""

    @property
    def tail(self) -> tuple[str, str]:
        """What stands behind the number."""
        return self.spread, self.marks


DASH = Cell(DASH_SIGN, tone="quiet")
"""what was not run"""
EMPTY = Cell()
NO_SCORE = (DASH.text, EMPTY.text)


class Notes:
    """Texts below a table, each once, with the letters by which cells point at them."""

    def __init__(self) -> None:
        self._letters: dict[str, str] = {}

    def marks(self, *texts: str) -> str:
        """The letters of these texts; none for an empty text."""
        told = [text for text in texts if text]
        for text in told:
            self._letters.setdefault(text, LETTERS[len(self._letters)])
        return ",".join(sorted(map(self._letters.__getitem__, told), key=LETTERS.index))

    def __iter__(self) -> Iterator[tuple[str, str]]:
        return iter((letter, text) for text, letter in self._letters.items())


@dataclass
class Page:
    """A table with all that stands around it."""

    title: str
    head: list[str]
    """of the columns, each in one or two lines"""
    left: int
    """so many columns from the left hold words, the others numbers"""
    rows: list[list[Cell]] = field(default_factory=list)
    rules: set[int] = field(default_factory=set)
    """the numbers of rows above which a line is drawn"""
    notes: Notes = field(default_factory=Notes)
    names: list[str] = field(default_factory=list)
    """of the columns for programs, where heads are the same; x × y is two"""
    spans: list[int] = field(default_factory=list)
    """of the columns of numbers, how many stay together where a table is too wide; none: each is on its own"""
    about: list[str] = field(default_factory=list)
    """what the numbers are, in sentences"""

    def add(self, *cells: Cell) -> None:
        self.rows.append(list(cells))

    def rule(self) -> None:
        self.rules.add(len(self.rows))

    def drop(self, column: int) -> None:
        """Leave a column away."""
        for each in (self.head, *self.rows):
            del each[column]

    def groups(self) -> list[list[int]]:
        """The columns of numbers, those together that stay together."""
        ends = list(accumulate(self.spans or [1] * (len(self.head) - self.left), initial=self.left))
        return [list(range(*pair)) for pair in pairwise(ends)]

    def tails(self) -> list[tuple[str, str]]:
        """The longest tail of each column. So much room is left behind each number that decimal points are in line."""
        columns = zip(*([cell.tail for cell in row] for row in self.rows), strict=True)
        return [(max((s for s, _ in column), key=len), max((m for _, m in column), key=len)) for column in columns]


def quiet(text: str) -> Cell:
    return Cell(text, tone="quiet")


def mark_best(rows: list[list[Cell]], places: Sequence[int]) -> None:
    """Mark the highest score in these places of all rows; those that are printed alike are alike."""
    values = {(i, k): float(row[k].text) for i, row in enumerate(rows) for k in places if row[k].text not in NO_SCORE}
    for (i, k), value in values.items():
        rows[i][k] = replace(rows[i][k], best=value == max(values.values()))


def percent(value: float, digits: int = 2) -> str:
    """A score in percent as it is printed: 100 only where all is right."""
    text = f"{value:.{digits}f}"
    return f"{100 - 10**-digits:.{digits}f}" if value < 100 <= float(text) else text


def number(value: float | None, spread: str = "", marks: str = "") -> Cell:
    """A score in percent."""
    return replace(DASH, marks=marks) if value is None else Cell(percent(value), spread, marks=marks)


def difference(ours: float | None, theirs: float | None) -> Cell:
    """In points of percent, as they are printed."""
    if ours is None or theirs is None:
        return DASH
    points = float(percent(ours)) - float(percent(theirs))
    text = f"{points:+.2f}".replace("-", MINUS)
    return Cell(text, tone="better" if points > 0.004 else "worse" if points < -0.004 else "")
