"""What a feature is: a place (node, edge, graph) times a kind (scalar, mask, pointer, ...), and the words to write one.

    key=node.scalar    adj=edge.mask    phase=graph.categorical(3)

Features are *stored* as what they are and widened to one-hots only where a network reads them:

| kind        | stored as                                             | dtype   |
|-------------|-------------------------------------------------------|---------|
| scalar      | the number                                            | float32 |
| mask        | 0 or 1; -1 where the entry is neither judged nor real | int8    |
| mask_one    | the index of the one node that is marked              | int16   |
| categorical | the class; -1 where the entry is not judged           | int8    |
| pointer     | the index of the node that is pointed at              | int16   |
| permutation | the predecessor of each node; the first is its own    | int16   |
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

Place = Literal["node", "edge", "graph"]
Kind = Literal["scalar", "mask", "mask_one", "categorical", "pointer", "permutation"]

DTYPES: dict[Kind, type] = {
    "scalar": np.float32,
    "mask": np.int8,
    "mask_one": np.int16,
    "categorical": np.int8,
    "pointer": np.int16,
    "permutation": np.int16,
}
MOST_NODES = np.iinfo(np.int16).max  # an index of a node must fit the dtype above


@dataclass(frozen=True)
class Feature:
    """One named quantity of a task: where it lives and of which kind it is."""

    place: Place
    kind: Kind
    classes: int | None = None
    """How many classes a categorical has; None for every other kind."""

    @property
    def dtype(self) -> type:
        return DTYPES[self.kind]

    def shape(self, nodes: int) -> tuple[int, ...]:
        """The stored shape of one sample at one step, without batch or time axes."""
        places = {"node": (nodes,), "edge": (nodes, nodes), "graph": ()}[self.place]
        return places[:-1] if self.kind == "mask_one" else places

    def width(self, nodes: int) -> int:
        """How many numbers one sample stores at one step."""
        return math.prod(self.shape(nodes))

    def __str__(self) -> str:
        return f"{self.place}.{self.kind}" + (f"({self.classes})" if self.classes else "")


class Words:
    """The features of one place, as attributes: `node.pointer`, `edge.categorical(4)`."""

    def __init__(self, place: Place):
        self.scalar = Feature(place, "scalar")
        self.mask = Feature(place, "mask")
        self.mask_one = Feature(place, "mask_one")
        self.pointer = Feature(place, "pointer")
        self.permutation = Feature(place, "permutation")
        self._place: Place = place

    def categorical(self, classes: int) -> Feature:
        return Feature(self._place, "categorical", classes)


node, edge, graph = Words("node"), Words("edge"), Words("graph")


class Spec(NamedTuple):
    """The features of a task, by stage and name."""

    inputs: dict[str, Feature]
    hints: dict[str, Feature]
    outputs: dict[str, Feature]
