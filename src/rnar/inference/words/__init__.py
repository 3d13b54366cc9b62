"""An answer in words of its problem: "the median is 5.0", "no path to node 7"."""

from collections.abc import Callable, Sequence
from inspect import signature

import numpy as np

from rnar.clrs import Feature, Sample, find
from rnar.clrs.naming import classes, in_words, labels
from rnar.clrs.pointers import in_order
from rnar.inference.words.graphs import GRAPHS
from rnar.inference.words.lists import LISTS
from rnar.inference.words.saying import chosen, exact, several

Outputs = dict[str, np.ndarray]

SAYINGS: dict[str, Callable[..., str]] = {**LISTS, **GRAPHS}
"""by task; the parameters are inputs and outputs of the task, `names` of its nodes, or the whole `sample`"""


def say(sample: Sample, outputs: Outputs, names: Sequence[str] = ()) -> str:
    """An answer to a problem, the algorithm's or a network's, in a sentence; `names` are those of the nodes."""
    saying = SAYINGS.get(sample.task)
    if saying is None:
        return of_any(sample, outputs, names)
    names = names or [str(i) for i in range(sample.nodes)]
    known = {"sample": sample, "names": names, **sample.inputs, **outputs}
    return saying(**{name: known[name.rstrip("_")] for name in signature(saying).parameters})


def of_any(sample: Sample, outputs: Outputs, names: Sequence[str] = ()) -> str:
    """An answer of any algorithm, a user's own too: each output by its kind of feature."""
    features, nodes = find(sample.task).spec.outputs, names or labels(sample)
    return "; ".join(f"{name}: {_by_kind(sample, name, features[name], x, nodes)}" for name, x in outputs.items())


def _by_kind(sample: Sample, name: str, feature: Feature, x: np.ndarray, node: Sequence[str]) -> str:
    def entry(value: np.ndarray) -> str:
        if feature.kind == "scalar":
            return exact(float(value))
        if feature.kind == "pointer":
            return node[int(value)]
        return classes(sample.task, name, feature)[int(value)] if value >= 0 else "–"

    if feature.place == "graph":
        return entry(x)
    if feature.place == "edge" and feature.kind == "mask":
        return several(f"{node[i]}→{node[j]}" for i, j in np.argwhere(x == 1)) or "none"
    if feature.place == "edge":
        return several(f"[{node[i]},{node[j]}] {entry(x[i, j])}" for i, j in np.argwhere(x > 0)) or "all 0"
    if feature.kind == "mask_one":
        return in_words(sample, int(x))
    if feature.kind == "mask":
        return f"{{{several(node[i] for i in chosen(x))}}}"
    if feature.kind == "permutation":
        return several(node[i] for i in in_order(x))
    if feature.kind == "pointer":
        return several(f"{node[i]}→{entry(j)}" for i, j in enumerate(x) if i != j) or "all at themselves"
    return several(f"{node[i]}: {entry(value)}" for i, value in enumerate(x))
