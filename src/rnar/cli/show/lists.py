"""The list that an algorithm walks along, with its hints as marks below the nodes:

    0.42 → 0.00 → 0.72 → 0.09
    p      i      j      r,pivot

for sorting, searching and string matching.
"""

from collections.abc import Iterator

import numpy as np
from rich.text import Text

from rnar.cli.show.words import Ink, Item
from rnar.clrs import Sample, find
from rnar.clrs.naming import has_letters, labels, letters, lists_of
from rnar.clrs.pointers import in_order

ORDER = "pred_h"  # the hint that says in which order the list now is


class Lists:
    """One list of numbers, or two strings; nothing where nodes have no key or no hint marks one."""

    def __init__(self, sample: Sample, ink: Ink):
        self.sample, self.ink = sample, ink
        marks = [name for name, feature in find(sample.task).spec.hints.items() if feature.kind == "mask_one"]
        seen = bool(marks) and sample.inputs.get("key", np.zeros(())).ndim == 1
        self.marks = marks if seen else []
        self.lists = lists_of(sample) if seen else {}
        ordered = seen and ORDER in sample.hints
        complete = ordered and all(len(self._order(t)) == sample.nodes for t in range(sample.steps))
        self.arrow = "→ " if complete else ""
        self.hints = {*self.marks, *([ORDER] if self.arrow else [])}
        """the hints that this picture shows"""
        self.labels = letters(sample) if has_letters(sample) else labels(sample)
        label = max(map(len, self.labels)) + 1 + len(self.arrow)
        mark = max(map(len, marks), default=0) + 1
        self.pitch = max(label, mark) + (0 if ink.colour else 1)
        """how many columns one node has: room for its label and an arrow, and for any one mark"""

    def at(self, t: int, width: int) -> Iterator[tuple[str, Text]]:
        """The lists at step t, by name, no line longer than `width`."""
        for name, nodes in self.lists.items():
            before = nodes
            if self.arrow:
                name, nodes, before = ORDER, self._order(t), self._order(max(t - 1, 0))
            cells = [self.ink.item(Item(self.labels[i], i != j)) for i, j in zip(nodes, before, strict=True)]
            marks = [self._below(int(i), t) for i in nodes]
            yield name, Text("\n").join(self._rows(cells, marks, max(1, width // self.pitch)))

    def _order(self, t: int) -> np.ndarray:
        return np.array(in_order(self.sample.hints[ORDER][t]))

    def _below(self, i: int, t: int) -> list[Text]:
        """The marks of node i, as many on one line as there is room for."""
        found: list[Text] = []
        for mark in self.marks:
            now, before = self.sample.hints[mark][t], self.sample.hints[mark][max(t - 1, 0)]
            if now != i:
                continue
            text = self.ink.item(Item(mark, now != before), "cyan")
            if found and len(found[-1]) + 1 + len(text) < self.pitch:
                found[-1].append(",").append_text(text)
            else:
                found.append(text)
        return found

    def _rows(self, cells: list[Text], marks: list[list[Text]], many: int) -> Iterator[Text]:
        """Rows of so many cells, and below each row its marks."""
        for start in range(0, len(cells), many):
            part = slice(start, start + many)
            yield self._row(cells[part], self.arrow, start + many < len(cells))
            for depth in range(max(map(len, marks[part]))):
                yield self._row([mark[depth] if depth < len(mark) else Text() for mark in marks[part]])

    def _row(self, texts: list[Text], arrow: str = "", goes_on: bool = False) -> Text:
        row = Text()
        for k, text in enumerate(texts):
            row.append_text(text)
            if goes_on or k < len(texts) - 1:
                row.pad_right(self.pitch - len(text) - len(arrow))
                row.append(arrow, "dim")
        row.rstrip()
        return row
