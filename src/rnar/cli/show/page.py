"""The page that shows a run: what the algorithm is given, its hints step by step, and its answer."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from rnar.cli.show.given import given
from rnar.cli.show.ink import Ink, Item
from rnar.cli.show.lists import Lists
from rnar.cli.show.names import in_words
from rnar.cli.show.tables import Tables
from rnar.cli.show.words import LINKED_LISTS, Words, differs
from rnar.clrs import Feature, Sample, find

GAP = 4  # columns between two tables
Lines = Iterable[tuple[Text, RenderableType]]


class Page:
    """A sample on a console."""

    def __init__(self, sample: Sample, console: Console):
        self.sample, self.console, self.ink = sample, console, Ink(console)
        self.spec = find(sample.task).spec
        self.words = Words(sample, self.ink)
        self.lists, self.tables = Lists(sample, self.ink), Tables(sample, self.words)
        self.margin = max(len("step 000"), *(len(name) + 1 for name in self.spec.hints)) + 2
        self.width = console.width - self.margin
        self.drawn = self.tables.of(self.spec.hints, self.width)
        told = {name: f for name, f in self.spec.hints.items() if name not in {*self.lists.hints, *self.drawn}}
        self.short = {name: f for name, f in told.items() if f.place == "graph" or f.kind == "mask_one"}
        self.long = {name: f for name, f in told.items() if name not in self.short}

    def print(self, steps: int, origin: str) -> None:
        """The page, with the first so many steps."""
        total = self.sample.steps
        about = f"{find(self.sample.task).chapter}: {self.sample.nodes} nodes, {total} steps; {origin}"
        self.console.print(Text.assemble((self.sample.task, "bold"), "  ", (about, "dim")), end="\n\n")
        self._print((Text(name), value) for name, value in given(self.sample, self.words, self.width))
        self.console.print(Text.assemble("\n", self.ink.legend))
        for t in range(min(steps, total)):
            self.console.print()
            self._print(self._step(t))
        if total > steps:
            self.console.print(Text(f"\n… {total - steps} more; --steps {total} shows all steps"))
        self.console.print()
        self._print(self._answers())

    def _print(self, lines: Lines) -> None:
        """Names in the margin, values beside them."""
        grid = Table.grid()
        grid.add_column(width=self.margin)
        grid.add_column()
        for name, value in lines:
            grid.add_row(name, value)
        self.console.print(grid)

    def _step(self, t: int) -> Lines:
        yield Text(f"step {t}", "bold"), self._short_hints(t)
        for name, picture in self.lists.at(t, self.width):
            yield self._name(name, t), picture
        for name, feature in self.long.items():
            yield self._name(name, t), self.words.say(name, feature, *self._values(name, t))
        if self.drawn:
            yield Text(), self._tables(t)

    def _values(self, name: str, t: int) -> tuple[np.ndarray, np.ndarray | None]:
        """A hint now and one step before."""
        hint = self.sample.hints[name]
        return hint[t], hint[t - 1] if t else None

    def _name(self, name: str, t: int) -> Text:
        new = name in self.sample.hints and differs(*self._values(name, t))
        return self.ink.item(Item(name, new), "dim")

    def _short_hints(self, t: int) -> Text:
        """Those of one word each, on one line."""
        told = []
        for name, feature in self.short.items():
            now, before = self._values(name, t)
            value = self.words.say(name, feature, now)
            if differs(now, before):
                told.append(self.ink.item(Item(f"{name} {value}", True)))
            else:
                told.append(Text.assemble((f"{name} ", "dim"), value))
        return Text("   ").join(told)

    def _tables(self, t: int) -> RenderableType:
        values = {name: self._values(name, t) for name in self.drawn}
        if t and not any(differs(*value) for value in values.values()):
            return Text(f"{', '.join(self.drawn)}: unchanged", "dim")
        tables = [self.tables.draw(name, feature, *values[name]) for name, feature in self.drawn.items()]
        return side_by_side(tables, self.console, self.width)

    def _answers(self) -> Lines:
        drawn = self.tables.of(self.spec.outputs, self.width)
        for name, feature in self.spec.outputs.items():
            answer = self.sample.outputs[name]
            if name in drawn:
                yield Text("answer", "bold green"), self.tables.draw(name, feature, answer)
            else:
                yield Text("answer", "bold green"), Text.assemble(f"{name}: ", self._answer(name, feature, answer))

    def _answer(self, name: str, feature: Feature, answer: np.ndarray) -> Text:
        if feature.kind == "mask_one":
            return Text(in_words(self.sample, int(answer)))
        said = self.words.say(name, feature, answer)
        if (feature.place, feature.kind) == ("node", "pointer") and name not in LINKED_LISTS:
            alone = [self.words.node(i) for i in np.flatnonzero(answer == np.arange(len(answer)))]
            said.append(f"   (at {'itself' if len(alone) == 1 else 'themselves'}: {', '.join(alone)})")
        return said


def side_by_side(tables: list[Table], console: Console, width: int) -> Group:
    """As many beside each other as there is room for."""
    rows: list[list[Table]] = []
    left = 0
    for table in tables:
        needed = Measurement.get(console, console.options, table).maximum + GAP
        if not rows or needed > left:
            rows.append([])
            left = width + GAP
        rows[-1].append(table)
        left -= needed
    grids = []
    for row in rows:
        grids.append(Table.grid(padding=(0, GAP, 0, 0)))
        grids[-1].add_row(*row)
    return Group(*grids)
