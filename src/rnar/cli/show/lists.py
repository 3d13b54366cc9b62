"""The list that an algorithm walks along, with its hints as marks below the nodes:

    0.42 → 0.00 → 0.72 → 0.09
    p      i      j      r,pivot

for sorting, searching and string matching.
"""

from collections.abc import Iterator
from itertools import zip_longest

import numpy as np
from rich.table import Column, Table
from rich.text import Text

from rnar.cli.show.words import Ink
from rnar.clrs import Sample, find
from rnar.clrs.naming import has_letters, labels, letters, lists_of
from rnar.clrs.pointers import in_order

ORDER = "pred_h"  # the hint that says in which order the list now is


class Lists:
    """One list of numbers, or two strings; nothing where nodes have no key or no hint marks one."""

    def __init__(self, sample: Sample, ink: Ink):
        self.sample, self.ink = sample, ink
        marks = [name for name, feature in find(sample.task).spec.hints.items() if feature.kind == "mask_one"]
        shown = bool(marks) and sample.inputs.get("key", np.zeros(())).ndim == 1
        self.marks, self.lists = (marks, lists_of(sample)) if shown else ([], {})
        ordered = shown and ORDER in sample.hints
        complete = ordered and all(len(self._order(t)) == sample.nodes for t in range(sample.steps))
        self.arrow = "→ " if complete else ""
        self.hints = {*self.marks, *([ORDER] if complete else [])}
        """the hints that this picture shows"""
        self.labels = letters(sample) if has_letters(sample) else labels(sample)
        widest = max(*(len(label) + len(self.arrow) for label in self.labels), *map(len, marks), 0)
        self.pitch = widest + 1 + (0 if ink.colour else 1)
        """how many columns one node has: room for its label and an arrow, and for any one mark"""

    def at(self, t: int, width: int) -> Iterator[tuple[str, Table]]:
        """The lists at step t, by name, no line longer than `width`."""
        many = max(1, width // self.pitch)
        for name, nodes in self.lists.items():
            before = nodes
            if self.arrow:
                name, nodes, before = ORDER, self._order(t), self._order(max(t - 1, 0))
            columns = [
                [self._label(i, i != j, i != nodes[-1]), *self._below(i, t)] for i, j in zip(nodes, before, strict=True)
            ]
            grid = Table.grid(*(Column(width=self.pitch, no_wrap=True) for _ in range(min(many, len(nodes)))))
            for start in range(0, len(nodes), many):
                for row in zip_longest(*columns[start : start + many], fillvalue=""):
                    grid.add_row(*row)
            yield name, grid

    def _order(self, t: int) -> np.ndarray:
        return np.array(in_order(self.sample.hints[ORDER][t]))

    def _label(self, i: int, new: bool, goes_on: bool) -> Text:
        label = self.ink.mark(self.labels[i], new)
        label.pad_right(self.pitch - len(label) - len(self.arrow))
        return label.append(self.arrow if goes_on else "", "dim")

    def _below(self, i: int, t: int) -> list[Text]:
        """The marks of node i, as many on one line as there is room for."""
        lines: list[Text] = []
        for mark in self.marks:
            now, before = self.sample.hints[mark][t], self.sample.hints[mark][max(t - 1, 0)]
            if now != i:
                continue
            text = self.ink.mark(mark, now != before, "cyan")
            if lines and len(lines[-1]) + 1 + len(text) < self.pitch:
                lines[-1].append(",").append_text(text)
            else:
                lines.append(text)
        return lines
