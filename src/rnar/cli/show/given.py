"""What an algorithm is given: the inputs of a sample, as lines for a page."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from rnar.cli.show.lists import letters, lists_of
from rnar.cli.show.names import has_letters, number, numbers
from rnar.cli.show.words import Words
from rnar.clrs import Sample, edge, find

ALSO = {
    "pos": "pos (the place in the list, from 0 to 1)",
    "pred": "pred (the node before)",
    "adj": "adj (the edges of A, and each node with itself)",
    "string": "string (which of the two)",
}


def given(sample: Sample, words: Words, width: int) -> Iterator[tuple[str, RenderableType]]:
    """Names and values; what says nothing new comes last, by name only."""
    spec = find(sample.task).spec.inputs
    for name, feature in spec.items():
        if feature.place == "graph" or feature.kind == "mask_one":
            yield name, words.say(name, feature, sample.inputs[name])
    for name, nodes in lists_of(sample).items():
        table = node_table(sample, nodes, width)
        if table is not None:
            yield name if has_letters(sample) else "nodes", table
    if spec.get("A") == edge.scalar:
        yield "A", neighbours(sample.inputs["A"], words.undirected)
    yield "also", Text(", ".join(ALSO[name] for name in spec if name in ALSO), "dim")


def node_table(sample: Sample, nodes: np.ndarray, width: int) -> Table | None:
    """The numbers of nodes, and below each what is known of it; as many blocks as it takes."""
    rows = {"": [str(i) for i in nodes]}
    for name, feature in find(sample.task).spec.inputs.items():
        if feature.place != "node" or feature.kind == "mask_one" or name in ALSO:
            continue
        rows[name] = values_of(sample, name, nodes)
    if len(rows) == 1:
        return None
    widest = max(len(cell) for row in rows.values() for cell in row)
    many = max(1, (width - max(map(len, rows))) // (widest + 2) - 1)
    table = Table.grid(padding=(0, 2, 0, 0))
    for start in range(0, len(nodes), many):
        for name, row in rows.items():
            style = "" if name else "dim"
            table.add_row(
                Text(name, "dim"), *(Text(cell, style, justify="right") for cell in row[start : start + many])
            )
    return table


def values_of(sample: Sample, name: str, nodes: np.ndarray) -> list[str]:
    if name != "key":
        return [number(x) for x in sample.inputs[name][nodes]]
    return [letters(sample)[i] for i in nodes] if has_letters(sample) else numbers(sample.inputs["key"])


def neighbours(A: np.ndarray, undirected: bool) -> Table:
    """A line for each node: `0 – 1 (0.42)  3 (0.17)`, without weights where all are 1."""
    weighted = bool(((A != 0) & (A != 1)).any())
    table = Table.grid(padding=(0, 1, 0, 0))
    for i, row in enumerate(A):
        joined = (f"{j} ({number(row[j])})" if weighted else str(j) for j in np.flatnonzero(row))
        table.add_row(Text(str(i), justify="right"), Text("–" if undirected else "→", "dim"), "  ".join(joined))
    return table
