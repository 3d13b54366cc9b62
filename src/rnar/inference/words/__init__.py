"""An answer in words of its problem: "the median is 5.0", "no path to node 7"."""

from collections.abc import Callable, Sequence

import numpy as np

from rnar.clrs import Feature, Sample, find
from rnar.clrs.naming import classes, in_words, labels
from rnar.clrs.pointers import in_order
from rnar.inference.words import graphs, lists, tables
from rnar.inference.words.saying import Outputs, chosen, exact, several

SAYINGS: dict[str, Callable[[Sample, Outputs, Sequence[str]], str]] = {
    **lists.SAYINGS,
    **graphs.SAYINGS,
    **tables.SAYINGS,
}
"""by task; each takes a problem, outputs in stored form, which may make no sense, and what the nodes are called"""


def say(sample: Sample, outputs: Outputs, names: Sequence[str] = ()) -> str:
    """An answer to a problem, the algorithm's or a network's, in a sentence."""
    saying = SAYINGS.get(sample.task)
    if saying is None:
        return of_any(sample, outputs, names)
    return saying(sample, outputs, names or [str(i) for i in range(sample.nodes)])


def of_any(sample: Sample, outputs: Outputs, names: Sequence[str] = ()) -> str:
    """Of any algorithm, a user's own too: each output by what kind of feature it is."""
    features, nodes = find(sample.task).spec.outputs, names or labels(sample)
    return "; ".join(f"{name}: {_one(sample, name, features[name], x, nodes)}" for name, x in outputs.items())


def _one(sample: Sample, name: str, feature: Feature, value: np.ndarray, node: Sequence[str]) -> str:
    if feature.place == "graph":
        return exact(float(value)) if feature.kind == "scalar" else classes(sample.task, name, feature)[int(value)]
    if feature.place == "edge":
        return _of_pairs(sample, name, feature, value, node)
    if feature.kind == "mask_one":
        return in_words(sample, int(value))
    if feature.kind == "mask":
        return f"{{{several(node[i] for i in chosen(value))}}}"
    if feature.kind == "permutation":
        return several(node[i] for i in in_order(value))
    if feature.kind == "pointer":
        return several(f"{node[i]}→{node[int(j)]}" for i, j in enumerate(value) if i != j) or "all at themselves"
    said = exact if feature.kind == "scalar" else lambda x: _class(sample, name, feature, x)
    return several(f"{node[i]}: {said(x)}" for i, x in enumerate(value))


def _of_pairs(sample: Sample, name: str, feature: Feature, value: np.ndarray, node: Sequence[str]) -> str:
    if feature.kind == "mask":
        return several(f"{node[i]}→{node[j]}" for i, j in np.argwhere(value == 1)) or "none"
    told = {"scalar": exact, "pointer": lambda x: node[int(x)]}.get(
        feature.kind, lambda x: _class(sample, name, feature, x)
    )
    return several(f"[{node[i]},{node[j]}] {told(value[i, j])}" for i, j in np.argwhere(value > 0)) or "all 0"


def _class(sample: Sample, name: str, feature: Feature, code: int) -> str:
    return classes(sample.task, name, feature)[int(code)] if code >= 0 else "–"
