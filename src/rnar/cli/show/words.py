"""The value of a feature in words, with what changed since the step before: one method for each kind of feature.

Each method takes the value `now` and the one `before`, which is None where there is nothing to compare with.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.text import Text

from rnar.clrs import Feature, Sample
from rnar.clrs.naming import classes, labels, number
from rnar.clrs.pointers import in_order, linked_list

LINKED_LISTS = ("topo_h", "topo", "s_prev", "stack_prev")  # pointers that are read best as one list
MOST_PAIRS = 16  # edges, or changes of a table, that are told in one step

NEW, MARK = "bold yellow", "*"  # what is new stands out in this style or, where there are no colours, by this mark

Value = Any  # an array, or one entry of it
Before = np.ndarray | None


class Item(NamedTuple):
    text: str
    new: bool | np.bool_ = False


class Ink:
    """How this terminal shows what is new."""

    def __init__(self, console: Console):
        self.colour = console.color_system is not None and not console.no_color

    @property
    def legend(self) -> Text:
        how = ("what is yellow", NEW) if self.colour else (f"what is marked {MARK}", "")
        return Text.assemble(how, (" changed in that step", "dim"))

    def item(self, item: Item, style: str = "", old: str = "") -> Text:
        """A text; `old` is the mark of what is not new, a space where columns must not move."""
        if self.colour:
            return Text.assemble((item.text, NEW if item.new else style))
        return Text((MARK if item.new else old) + item.text)

    def line(self, items: Iterable[Item], separator: str = "  ", nothing: str = "–") -> Text:
        return Text(separator).join(map(self.item, items)) or Text(nothing)


class Words:
    """Says what the features of one sample are."""

    def __init__(self, sample: Sample, ink: Ink):
        self.task, self.ink, self.labels = sample.task, ink, labels(sample)
        A = sample.inputs.get("A")
        self.undirected = A is not None and bool((A == A.T).all())

    def say(self, name: str, feature: Feature, now: Value, before: Before = None) -> Text:
        if feature.place == "node":
            return OF_NODES[feature.kind](self, name, feature, np.asarray(now), before)
        if feature.place == "edge":
            return (self.edges if feature.kind == "mask" else self.entries)(name, feature, np.asarray(now), before)
        return self.whole(name, feature, now, before)

    def node(self, i: int | np.integer) -> str:
        return self.labels[int(i)]

    def one(self, name: str, feature: Feature, now: Value, before: Before) -> Text:
        """The node that is marked."""
        return self.ink.item(Item(self.node(int(now)), differs(now, before)))

    def scalars(self, name: str, feature: Feature, now: Value, before: Before) -> Text:
        """`0: 0.42  3: 0.17`; most start at 0 and are not told before they change."""
        new = changed(now, before)
        items = (Item(f"{self.node(i)}: {number(now[i])}", new[i]) for i in np.flatnonzero((now != 0) | new))
        return self.ink.line(items, nothing="all 0")

    def members(self, name: str, feature: Feature, now: Value, before: Before) -> Text:
        """`{0, 3}`, and who left."""
        new = changed(now, before)
        inside = (Item(self.node(i), new[i]) for i in np.flatnonzero(now == 1))
        text = Text.assemble("{", self.ink.line(inside, ", ", nothing=""), "}")
        left = [Item(self.node(i), True) for i in np.flatnonzero(new & (now != 1))]
        return Text.assemble(text, "  without ", self.ink.line(left, ", ")) if left else text

    def groups(self, name: str, feature: Feature, now: Value, before: Before) -> Text:
        """`white 1, 4   grey 0`: the nodes of each class."""
        new, said = changed(now, before), []
        for code, class_name in enumerate(classes(self.task, name, feature)):
            nodes = [Item(self.node(i), new[i]) for i in np.flatnonzero(now == code)]
            if nodes:
                said.append(Text.assemble(f"{class_name} ", self.ink.line(nodes, ", ")))
        return Text("   ").join(said)

    def pointers(self, name: str, feature: Feature, now: Value, before: Before) -> Text:
        """`3→1  4→1`; a node that points at itself, and did so before, is not told."""
        new = changed(now, before)
        listed = linked_list(now) if name in LINKED_LISTS else None
        if listed is not None:
            return self.ink.line((Item(self.node(i), new[i]) for i in listed), " → ")
        told = np.flatnonzero((now != np.arange(len(now))) | new)
        return self.ink.line(Item(f"{self.node(i)}→{self.node(now[i])}", new[i]) for i in told)

    def order(self, name: str, feature: Feature, now: Value, before: Before) -> Text:
        """`0.12 → 0.45`: the nodes in the order which the pointers make."""
        return self.ink.line((Item(self.node(i)) for i in in_order(now)), " → ")

    def edges(self, name: str, feature: Feature, now: Value, before: Before) -> Text:
        """`0–3  1–2`, or `0→3` where directions matter; what is new comes first where there are too many to tell."""
        new = changed(now, before)
        symmetric = self.undirected and bool((now == now.T).all())
        arrow = "–" if symmetric else "→"
        pairs = np.argwhere((np.triu(now) if symmetric else now) == 1)
        if len(pairs) > MOST_PAIRS:
            pairs = pairs[np.argsort(~new[tuple(pairs.T)], kind="stable")]
        return self._capped([Item(f"{self.node(i)}{arrow}{self.node(j)}", new[i, j]) for i, j in pairs])

    def entries(self, name: str, feature: Feature, now: Value, before: Before) -> Text:
        """`[2,4] 0.98`: the entries of a table that changed; at first, those that are not 0."""
        new = changed(now, before)
        pairs = np.argwhere(new if before is not None else now > 0)
        told = (f"[{self.node(i)},{self.node(j)}] {self.cell(name, feature, now[i, j])}" for i, j in pairs)
        return self._capped([Item(text, before is not None) for text in told])

    def _capped(self, items: list[Item]) -> Text:
        more = len(items) - MOST_PAIRS
        said = self.ink.line(items[:MOST_PAIRS])
        return Text.assemble(said, f"  and {more} more") if more > 0 else said

    def cell(self, name: str, feature: Feature, x: Value) -> str:
        """One entry of a table. A zero is a dot: most entries start as one."""
        if feature.kind == "categorical":
            return classes(self.task, name, feature)[int(x)]
        if feature.kind == "mask":
            return "✓" if x == 1 else "·"
        if feature.kind == "scalar" and x == 0:
            return "·"
        return self.node(int(x)) if feature.kind == "pointer" else number(x)

    def whole(self, name: str, feature: Feature, now: Value, before: Before) -> Text:
        """A value of the whole graph."""
        told = number(float(now)) if feature.kind == "scalar" else classes(self.task, name, feature)[int(now)]
        return self.ink.item(Item(told, differs(now, before)))


OF_NODES: dict[str, Callable[..., Text]] = {
    "scalar": Words.scalars,
    "mask": Words.members,
    "mask_one": Words.one,
    "categorical": Words.groups,
    "pointer": Words.pointers,
    "permutation": Words.order,
}


def changed(now: Value, before: Before) -> Value:
    """Which entries are new: none, where nothing was before."""
    return np.zeros(np.shape(now), bool) if before is None else np.asarray(now != before)


def differs(now: Value, before: Before) -> bool:
    return bool(changed(now, before).any())
