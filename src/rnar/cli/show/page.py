"""The page that shows a run: what the algorithm is given, its hints step by step, and its answer."""

from collections.abc import Iterable, Sequence

import numpy as np
from rich.columns import Columns
from rich.console import Console, RenderableType
from rich.table import Column, Table
from rich.text import Text

from rnar.cli.show.lists import Lists
from rnar.cli.show.words import LINKED_LISTS, Ink, Words, changed
from rnar.clrs import Feature, Sample, edge, find
from rnar.clrs.naming import has_letters, in_words, letters, lists_of, number, numbers

GAP = 4  # columns between two tables
MOST_ROWS, WIDEST_CELL = 8, 6  # of a table that is drawn
ALSO = {
    "pos": "pos (the place in the list, from 0 to 1)",
    "pred": "pred (the node before)",
    "adj": "adj (the edges of A, and each node with itself)",
    "string": "string (which of the two)",
}
"""inputs that tell a reader nothing new: they are only named"""
Lines = Iterable[tuple[Text | str, RenderableType]]


class Page:
    """A sample on a console, its nodes by their names where they have names."""

    def __init__(self, sample: Sample, console: Console, names: Sequence[str] = ()):
        self.sample, self.console, self.ink = sample, console, Ink(console)
        self.spec = find(sample.task).spec
        self.words, self.lists = Words(sample, self.ink, names), Lists(sample, self.ink)
        nodes = list(lists_of(sample).values())
        self.rows, self.columns = nodes[0], nodes[-1]
        """of a table; that of two strings has an entry for each pair of their letters"""
        self.margin = max(len("step 000"), *(len(name) + 1 for name in self.spec.hints)) + 2
        self.width = console.width - self.margin
        self.drawn = self._tables_of(self.spec.hints)
        told = {name: f for name, f in self.spec.hints.items() if name not in {*self.lists.hints, *self.drawn}}
        self.short = {name: f for name, f in told.items() if f.place == "graph" or f.kind == "mask_one"}
        self.long = {name: f for name, f in told.items() if name not in self.short}

    def print(self, steps: int, origin: str) -> None:
        """The page, with the first so many steps."""
        total = self.sample.steps
        about = f"{find(self.sample.task).chapter}: {self.sample.nodes} nodes, {total} steps; {origin}"
        self.console.print(Text.assemble((self.sample.task, "bold"), "  ", (about, "dim")), end="\n\n")
        self._print(self._given())
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
        grid = Table.grid(Column(width=self.margin), Column())
        for name, value in lines:
            grid.add_row(name, value)
        self.console.print(grid)

    def _given(self) -> Lines:
        """The names and values of the inputs."""
        inputs, values, with_letters = self.spec.inputs, self.sample.inputs, has_letters(self.sample)
        for name, feature in inputs.items():
            if feature.place == "graph" or feature.kind == "mask_one":
                yield name, self.words.say(name, feature, values[name])
        told = [name for name, f in inputs.items() if f.place == "node" and f.kind != "mask_one" and name not in ALSO]
        texts = {name: [number(x) for x in values[name]] for name in told}
        if "key" in told:
            texts["key"] = letters(self.sample) if with_letters else numbers(values["key"])
        for name, nodes in lists_of(self.sample).items() if told else ():
            yield name if with_letters else "nodes", node_table(nodes, texts, self.width)
        if inputs.get("A") == edge.scalar:
            yield "A", neighbours(values["A"], self.words.undirected, self.words.node)
        yield "also", Text(", ".join(ALSO[name] for name in inputs if name in ALSO), "dim")

    def _step(self, t: int) -> Lines:
        yield Text(f"step {t}", "bold"), self._short_hints(t)
        for name, picture in self.lists.at(t, self.width):
            yield self._name(name, t), picture
        for name, feature in self.long.items():
            yield self._name(name, t), self.words.say(name, feature, *self._values(name, t))
        if self.drawn:
            yield "", self._tables(t)

    def _values(self, name: str, t: int) -> tuple[np.ndarray, np.ndarray | None]:
        """A hint now and one step before."""
        hint = self.sample.hints[name]
        return hint[t], hint[t - 1] if t else None

    def _is_new(self, name: str, t: int) -> bool:
        return name in self.sample.hints and bool(changed(*self._values(name, t)).any())

    def _name(self, name: str, t: int) -> Text:
        return self.ink.mark(name, self._is_new(name, t), "dim")

    def _short_hints(self, t: int) -> Text:
        """Those of one word each, on one line."""
        told = []
        for name, feature in self.short.items():
            value = self.words.say(name, feature, self.sample.hints[name][t])
            new = self._is_new(name, t)
            told.append(self.ink.mark(f"{name} {value}", True) if new else Text.assemble((f"{name} ", "dim"), value))
        return Text("   ").join(told)

    def _tables(self, t: int) -> RenderableType:
        if t and not any(self._is_new(name, t) for name in self.drawn):
            return Text(f"{', '.join(self.drawn)}: unchanged", "dim")
        tables = [self._table(name, feature, *self._values(name, t)) for name, feature in self.drawn.items()]
        return Columns(tables, padding=(0, GAP))

    def _tables_of(self, features: dict[str, Feature]) -> dict[str, Feature]:
        """The features drawn as tables: those of edges, if they are more than sets of edges and there is room."""
        edges = {name: feature for name, feature in features.items() if feature.place == "edge"}
        is_filled = any(feature.kind != "mask" for feature in edges.values())
        fits = len(self.rows) <= MOST_ROWS and (len(self.columns) + 1) * WIDEST_CELL <= self.width
        return edges if is_filled and fits else {}

    def _table(self, name: str, feature: Feature, now: np.ndarray, before: np.ndarray | None = None) -> Table:
        """A table that an algorithm fills, as the book prints it: a row for each node."""
        new, node = changed(now, before), self.words.node
        table = Table.grid(*(Column(justify="right") for _ in range(len(self.columns) + 1)), padding=(0, 1, 0, 0))
        table.add_row(self.ink.mark(name, new.any(), "bold", old=" "), *(Text(node[j], "dim") for j in self.columns))
        for i in self.rows:
            cells = ((self.words.cell(name, feature, now[i, j]), new[i, j]) for j in self.columns)
            table.add_row(Text(node[i], "dim"), *(self.ink.mark(*cell, old=" ") for cell in cells))
        return table

    def _answers(self) -> Lines:
        drawn = self._tables_of(self.spec.outputs)
        for name, feature in self.spec.outputs.items():
            answer, title = self.sample.outputs[name], Text("answer", "bold green")
            if name in drawn:
                yield title, self._table(name, feature, answer)
            else:
                yield title, Text.assemble(f"{name}: ", self._answer(name, feature, answer))

    def _answer(self, name: str, feature: Feature, answer: np.ndarray) -> Text:
        if feature.kind == "mask_one":
            return Text(in_words(self.sample, int(answer)))
        said = self.words.say(name, feature, answer)
        if (feature.place, feature.kind) == ("node", "pointer") and name not in LINKED_LISTS:
            alone = [self.words.node[i] for i in np.flatnonzero(answer == np.arange(len(answer)))]
            said.append(f"   (at {'itself' if len(alone) == 1 else 'themselves'}: {', '.join(alone)})")
        return said


def node_table(nodes: np.ndarray, texts: dict[str, list[str]], width: int) -> Table:
    """The numbers of nodes, and below each what is known of it, in as many blocks as the width demands."""
    rows = {"": [str(i) for i in nodes], **{name: [row[i] for i in nodes] for name, row in texts.items()}}
    widest = max(len(cell) for row in rows.values() for cell in row)
    many = max(1, (width - max(map(len, rows))) // (widest + 2) - 1)
    table = Table.grid(padding=(0, 2, 0, 0))
    for start in range(0, len(nodes), many):
        for name, row in rows.items():
            cells = (Text(cell, "" if name else "dim", justify="right") for cell in row[start : start + many])
            table.add_row(Text(name, "dim"), *cells)
    return table


def neighbours(A: np.ndarray, undirected: bool, names: list[str]) -> Table:
    """A line for each node: `0 – 1 (0.42)  3 (0.17)`, without weights where all are 1."""
    weighted = bool(((A != 0) & (A != 1)).any())
    table = Table.grid(padding=(0, 1, 0, 0))
    for i, row in enumerate(A):
        joined = (f"{names[j]} ({number(row[j])})" if weighted else names[j] for j in np.flatnonzero(row))
        table.add_row(Text(names[i], justify="right"), Text("–" if undirected else "→", "dim"), "  ".join(joined))
    return table
