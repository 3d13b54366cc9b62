"""The value of a feature in words, with marks on what changed since the step before."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.text import Text

from rnar.clrs import Feature, Sample
from rnar.clrs.naming import classes, labels, number
from rnar.clrs.pointers import in_order, linked_list

LINKED_LISTS = ("topo_h", "topo", "s_prev", "stack_prev")  # pointers that are read best as one list
MOST_PAIRS = 16  # edges, or changes of a table, that are told in one step
NEW, MARK = "bold yellow", "*"  # what is new stands out in this style or, where there are no colours, by this mark


class Ink:
    """How this terminal shows what is new."""

    def __init__(self, console: Console):
        self.colour = console.color_system is not None and not console.no_color

    @property
    def legend(self) -> Text:
        how = ("what is yellow", NEW) if self.colour else (f"what is marked {MARK}", "")
        return Text.assemble(how, (" changed in that step", "dim"))

    def mark(self, text: str, new: Any, style: str = "", old: str = "") -> Text:
        """A text; `old` is the mark of what is not new, a space where columns must not move."""
        if self.colour:
            return Text.assemble((text, NEW if new else style))
        return Text((MARK if new else old) + text)

    def line(self, items: Iterable[tuple[str, Any]], separator: str = "  ", nothing: str = "–") -> Text:
        """Texts, each with whether it is new, in a line."""
        return Text(separator).join(self.mark(text, new) for text, new in items) or Text(nothing)


class Words:
    """Says what the features of one sample are."""

    def __init__(self, sample: Sample, ink: Ink, names: Sequence[str] = ()):
        self.task, self.ink, self.node = sample.task, ink, list(names) or labels(sample)
        A = sample.inputs.get("A")
        self.undirected = A is not None and bool((A == A.T).all())

    def say(self, name: str, feature: Feature, now: Any, before: np.ndarray | None = None) -> Text:
        """A value now, and what is new in it where there is one of the step before."""
        now, new, ink, node = np.asarray(now), changed(now, before), self.ink, self.node
        if feature.place == "graph" and feature.kind == "scalar":
            return ink.mark(number(float(now)), new)
        if feature.place == "graph":
            return ink.mark(classes(self.task, name, feature)[int(now)], new)
        if feature.place == "edge":
            return self._edges(now, new) if feature.kind == "mask" else self._entries(name, feature, now, before)
        if feature.kind == "mask_one":
            return ink.mark(node[int(now)], new)
        if feature.kind == "scalar":  # most start at 0 and are not told before they change
            told = np.flatnonzero((now != 0) | new)
            return ink.line(((f"{node[i]}: {number(now[i])}", new[i]) for i in told), nothing="all 0")
        if feature.kind == "permutation":
            return ink.line(((node[i], False) for i in in_order(now)), " → ")
        if feature.kind == "mask":
            return self._members(now, new)
        if feature.kind == "categorical":
            return self._groups(classes(self.task, name, feature), now, new)
        return self._pointers(name, now, new)

    def _members(self, now: np.ndarray, new: np.ndarray) -> Text:
        """`{0, 3}`, and who left."""
        inside = self.ink.line(((self.node[i], new[i]) for i in np.flatnonzero(now == 1)), ", ", nothing="")
        left = [(self.node[i], True) for i in np.flatnonzero(new & (now != 1))]
        return Text.assemble("{", inside, "}", *(["  without ", self.ink.line(left, ", ")] if left else []))

    def _groups(self, names: tuple[str, ...], now: np.ndarray, new: np.ndarray) -> Text:
        """`white 1, 4   grey 0`: the nodes of each class."""
        members = {name: np.flatnonzero(now == code) for code, name in enumerate(names)}
        lines = {name: self.ink.line(((self.node[i], new[i]) for i in some), ", ") for name, some in members.items()}
        return Text("   ").join(Text.assemble(f"{name} ", lines[name]) for name, some in members.items() if len(some))

    def _pointers(self, name: str, now: np.ndarray, new: np.ndarray) -> Text:
        """`3→1  4→1`; a node that points at itself, and did so before, is not told."""
        listed = linked_list(now) if name in LINKED_LISTS else None
        if listed is not None:
            return self.ink.line(((self.node[i], new[i]) for i in listed), " → ")
        told = np.flatnonzero((now != np.arange(len(now))) | new)
        return self.ink.line((f"{self.node[i]}→{self.node[now[i]]}", new[i]) for i in told)

    def _edges(self, now: np.ndarray, new: np.ndarray) -> Text:
        """`0–3  1–2`, or `0→3` where directions matter; what is new comes first where there are too many to tell."""
        symmetric = self.undirected and bool((now == now.T).all())
        pairs, arrow = np.argwhere((np.triu(now) if symmetric else now) == 1), "–" if symmetric else "→"
        if len(pairs) > MOST_PAIRS:
            pairs = pairs[np.argsort(~new[tuple(pairs.T)], kind="stable")]
        return self._capped([(f"{self.node[i]}{arrow}{self.node[j]}", new[i, j]) for i, j in pairs])

    def _entries(self, name: str, feature: Feature, now: np.ndarray, before: np.ndarray | None) -> Text:
        """`[2,4] 0.98`: the entries of a table that changed; at first, those that are not 0."""
        pairs = np.argwhere(now > 0 if before is None else now != before)
        told = (f"[{self.node[i]},{self.node[j]}] {self.cell(name, feature, now[i, j])}" for i, j in pairs)
        return self._capped([(text, before is not None) for text in told])

    def _capped(self, items: list[tuple[str, Any]]) -> Text:
        more = len(items) - MOST_PAIRS
        said = self.ink.line(items[:MOST_PAIRS])
        return Text.assemble(said, f"  and {more} more") if more > 0 else said

    def cell(self, name: str, feature: Feature, x: Any) -> str:
        """One entry of a table. A zero is a dot: most entries start as one."""
        if feature.kind == "categorical":
            return classes(self.task, name, feature)[int(x)]
        if feature.kind == "mask":
            return "✓" if x == 1 else "·"
        if feature.kind == "pointer":
            return self.node[int(x)]
        return number(x) if x != 0 else "·"


def changed(now: Any, before: np.ndarray | None) -> np.ndarray:
    """Which entries are new: none, where nothing was before."""
    return np.zeros(np.shape(now), bool) if before is None else np.asarray(now != before)
