"""Lists and paths that pointers make, also those of a network, which may break off or go round in a circle."""

import numpy as np


def linked_list(pointers: np.ndarray) -> list[int] | None:
    """The nodes along the pointers, from the one at which none points; None where they do not form one list."""
    here = np.arange(len(pointers))
    links = pointers != here
    nodes = [int(i) for i in np.flatnonzero(links & ~np.isin(here, pointers[links]))]
    if len(nodes) != 1:
        return None if links.any() else []
    while links[nodes[-1]] and len(nodes) <= len(pointers):  # what a network says may run into a circle
        nodes.append(int(pointers[nodes[-1]]))
    return nodes if not links[nodes[-1]] and len(nodes) == links.sum() + 1 else None


def in_order(before_each: np.ndarray) -> list[int]:
    """A list in its order. Each node points at the one before it, the first at itself; without a first it is empty."""
    nodes = [i for i, before in enumerate(before_each) if before == i][:1]
    after = {int(before): i for i, before in enumerate(before_each) if i not in nodes}
    while nodes and nodes[-1] in after:
        nodes.append(after[nodes[-1]])
    return nodes


def path(pointers: np.ndarray, start: int) -> list[int]:
    """The nodes along the pointers from `start`, up to one that points at itself or is there already."""
    nodes = [int(start)]
    while int(pointers[nodes[-1]]) not in nodes:
        nodes.append(int(pointers[nodes[-1]]))
    return nodes
