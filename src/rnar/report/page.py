"""A table before it has a format: cells that know what they mean, not how they look."""

from __future__ import annotations

import string
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from typing import Literal

MINUS, DASH_SIGN = "−", "–"


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


class Notes:
    """Texts below a table, each once, with the letters by which cells point at them."""

    def __init__(self) -> None:
        self._letters: dict[str, str] = {}
        letters = string.ascii_lowercase
        self._free = iter([*letters, *("".join(pair) for pair in product(letters, letters))])

    def mark(self, text: str) -> str:
        """The letter of a text; none of no text."""
        if text and text not in self._letters:
            self._letters[text] = next(self._free)
        return self._letters.get(text, "")

    def marks(self, *texts: str) -> str:
        return ",".join(sorted(filter(None, map(self.mark, texts)), key=lambda mark: (len(mark), mark)))

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

    def tails(self) -> list[tuple[str, str]]:
        """Of each column the longest: as much room is left behind each number, so that their points are in line."""
        columns = zip(*([cell.tail for cell in row] for row in self.rows), strict=True)
        return [(max((s for s, _ in column), key=len), max((m for _, m in column), key=len)) for column in columns]


def number(value: float | None) -> Cell:
    """A score in percent."""
    return DASH if value is None else Cell(f"{value:.2f}")


def difference(ours: float | None, theirs: float | None) -> Cell:
    """In points of percent, as they are printed."""
    if ours is None or theirs is None:
        return DASH
    points = round(ours, 2) - round(theirs, 2)
    text = f"{points:+.2f}".replace("-", MINUS)
    return Cell(text, tone="better" if points > 0.004 else "worse" if points < -0.004 else "")
