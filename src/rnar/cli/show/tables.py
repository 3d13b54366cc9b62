"""The tables that an algorithm fills, as the book prints them: side by side, a row for each node."""

from __future__ import annotations

import numpy as np
from rich.table import Table
from rich.text import Text

from rnar.cli.show.ink import Item
from rnar.cli.show.lists import lists_of
from rnar.cli.show.words import Words, changed
from rnar.clrs import Feature, Sample

MOST_ROWS = 8
WIDEST_CELL = 6


class Tables:
    """Draws the edge features of a sample, where they are more than sets of edges and small enough."""

    def __init__(self, sample: Sample, words: Words):
        self.words = words
        lists = list(lists_of(sample).values())
        self.rows, self.columns = lists[0], lists[-1]  # of two strings, one entry for each pair of their letters

    def of(self, features: dict[str, Feature], width: int) -> dict[str, Feature]:
        """Those of the features that are to be drawn."""
        edges = {name: feature for name, feature in features.items() if feature.place == "edge"}
        is_filled = any(feature.kind != "mask" for feature in edges.values())
        fits = len(self.rows) <= MOST_ROWS and (len(self.columns) + 1) * WIDEST_CELL <= width
        return edges if is_filled and fits else {}

    def draw(self, name: str, feature: Feature, now: np.ndarray, before: np.ndarray | None = None) -> Table:
        new, ink = changed(now, before), self.words.ink
        table = Table.grid(padding=(0, 1, 0, 0))
        for _ in range(len(self.columns) + 1):
            table.add_column(justify="right")
        title = ink.padded(Item(name, new.any()), "bold")
        table.add_row(title, *(Text(self.words.node(j), "dim") for j in self.columns))
        for i in self.rows:
            cells = (Item(self.words.cell(name, feature, now[i, j]), new[i, j]) for j in self.columns)
            table.add_row(Text(self.words.node(i), "dim"), *(ink.padded(cell) for cell in cells))
        return table
