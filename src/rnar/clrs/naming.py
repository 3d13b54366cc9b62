"""What nodes, classes and numbers are called where people read them."""

import numpy as np

from rnar.clrs import Feature, Sample, find, node
from rnar.clrs.problems.strings import LETTERS, HaystackAndNeedle

ARROWS = ("↖", "↑", "←", "·")
CLASSES = {"key": tuple(LETTERS), "color": ("white", "grey", "black"), "b_h": ARROWS, "b": ARROWS}
PHASES: dict[str, tuple[str, ...]] = {
    "heapsort": ("build", "take", "repair"),
    "graham_scan": ("start", "lowest", "angles", "pop", "push"),
    "jarvis_march": ("start", "wrap"),
    "mst_kruskal": ("next", "find u", "find v"),
    "kmp_matcher": ("prefixes", "match"),
    "dag_shortest_paths": ("sort", "relax"),
    "strongly_connected_components": ("graph", "transpose"),
}


def classes(task: str, name: str, feature: Feature) -> tuple[str, ...]:
    """The names of the classes of a categorical, or of the two values of a mask of the whole graph."""
    known = PHASES.get(task, ()) if name == "phase" else CLASSES.get(name, ())
    if not feature.classes:
        return known if len(known) == 2 else ("no", "yes")
    return known if len(known) == feature.classes else tuple(str(code) for code in range(feature.classes))


def number(x: float) -> str:
    """Two decimals, or two digits where the decimals would be zeros."""
    x = float(x)
    if x.is_integer():
        return str(int(x))
    return f"{x:.2f}" if abs(x) >= 0.005 else f"{x:.2g}"


def numbers(values: np.ndarray) -> list[str]:
    """Numbers with as few decimals as tell them apart, all with as many."""
    whole = bool((values == np.round(values)).all())
    decimals, most = (0, 0) if whole else (2, 6)
    while decimals < most and len({f"{x:.{decimals}f}" for x in values}) < len(set(values.tolist())):
        decimals += 1
    return [f"{x:.{decimals}f}" for x in values]


def distinct(values: np.ndarray) -> list[str]:
    """The same; where two are equal, with the number of the node: `5#0`, `5#2`."""
    found = numbers(values)
    return [name if found.count(name) == 1 else f"{name}#{i}" for i, name in enumerate(found)]


def has_letters(sample: Sample) -> bool:
    """Whether the nodes are the letters of two strings. A user's own inputs may have the same names and other kinds."""
    inputs = find(sample.task).spec.inputs
    return "string" in inputs and inputs.get("key") == node.categorical(len(LETTERS))


def letters(sample: Sample) -> list[str]:
    return [LETTERS[code] for code in sample.inputs["key"]]


def lists_of(sample: Sample) -> dict[str, np.ndarray]:
    """The nodes of each list, by the list's name: two strings, or one list of all nodes."""
    if not has_letters(sample):
        return {"key": np.arange(sample.nodes)}
    names = ("haystack", "needle") if isinstance(find(sample.task).problem, HaystackAndNeedle) else ("x", "y")
    return {name: np.flatnonzero(sample.inputs["string"] == k) for k, name in enumerate(names)}


def labels(sample: Sample) -> list[str]:
    """What each node is called: by its key (0.42) or letter (G7) where it has one, else by its number."""
    key = sample.inputs.get("key")
    if key is None or key.ndim != 1:
        return [str(i) for i in range(sample.nodes)]
    if has_letters(sample):
        return [f"{letter}{i}" for i, letter in enumerate(letters(sample))]
    return distinct(key)


def in_words(sample: Sample, i: int) -> str:
    """A node with what is known of it: `node 3 (key 0.45)`."""
    inputs = sample.inputs
    if has_letters(sample):
        found = f"node {i} (letter {LETTERS[inputs['key'][i]]})"
        return f"no match (node {i}, the needle's first letter)" if inputs["string"][i] else found
    known = [name for name, x in inputs.items() if x.shape == inputs["pos"].shape and name not in ("pos", "pred")]
    return f"node {i}" + (f" ({', '.join(f'{name} {number(inputs[name][i])}' for name in known)})" if known else "")
