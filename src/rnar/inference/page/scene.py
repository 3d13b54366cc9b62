"""Places the nodes of a problem in rows or in the plane, and chooses how each feature is drawn."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rnar.clrs import Feature, Sample, find
from rnar.clrs.naming import distinct, has_letters, labels, letters, lists_of, number
from rnar.clrs.pointers import in_order
from rnar.inference.page.layout import is_dense, places

FEW = 12  # nodes, up to which numbers are written beside them
MANY = 20  # nodes in rows, up to which their numbers are written so that all differ
LONGEST = 4  # letters of a name that are written on a node
WEIGHTS = 40  # edges, up to which their weights are
HIDDEN = ("pos", "pred", "adj", "string")  # inputs that tell a reader nothing new


def scene(sample: Sample, names: Sequence[str] = ()) -> dict[str, Any]:
    """Where nodes stand and what is written on them, as plain data; `names` are what they are called, if anything."""
    found = in_plane(sample) or in_rows(sample)
    has_keys, numbered = "key" in sample.inputs, [str(i) for i in range(sample.nodes)]
    found["numbered"] = found["faces"] == numbered and not has_keys
    if names:
        found["faces"] = [name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…" for name in names]
    sides = list(lists_of(sample).values())  # of a table: of two strings, one along each
    return {
        **found,
        "labels": list(names) or (labels(sample) if has_keys else numbered),  # for pointers to a node
        "rows": sides[0].tolist(),
        "columns": sides[-1].tolist(),
        "flags": [(name, int(x)) for name, x in _inputs(sample, "node", "mask_one").items()],
    }


def _inputs(sample: Sample, place: str, kind: str) -> dict[str, np.ndarray]:
    """The inputs of a problem that are of this place and kind."""
    features = find(sample.task).spec.inputs.items()
    return {name: sample.inputs[name] for name, f in features if (f.place, f.kind) == (place, kind)}


def in_rows(sample: Sample) -> dict[str, Any]:
    """Lists: the face of each node, a bar as high as its number, and its other numbers below."""
    numbers = _numbers_of_nodes(sample)
    main = "key" if "key" in numbers else next(iter(numbers), None)
    if has_letters(sample):
        faces, bars, numbers = letters(sample), None, {}
    elif main is None:
        faces, bars = [str(i) for i in range(sample.nodes)], None
    else:
        faces, bars = [number(x) for x in numbers[main]], _bars(numbers[main])
        if main == "key" and sample.nodes <= MANY:  # else two digits, for there is no room for more
            faces = [text.partition("#")[0] for text in distinct(numbers["key"])]
    told = {name: [number(x) for x in values] for name, values in numbers.items() if name != main or len(numbers) > 1}
    if len(numbers) > 1:  # none of several is the node's own: they are all told by name
        faces = [str(i) for i in range(sample.nodes)]
    groups = [{"name": name, "nodes": list(map(int, nodes))} for name, nodes in lists_of(sample).items()]
    return {"kind": "rows", "faces": faces, "bars": bars, "told": told, "groups": groups, "given": _given(sample)}


def in_plane(sample: Sample) -> dict[str, Any] | None:
    """Points, or nodes and edges; None where a problem has neither."""
    numbers, A = _numbers_of_nodes(sample), _edges(sample)
    if A is not None:
        joined = (A != 0) | (A.T != 0)
        at, directed = places(joined), bool((A != A.T).any())
        is_round = is_dense(joined)
        pairs = [(i, j) for i, j in np.argwhere(A != 0).tolist() if directed or i < j]
        loops = [i for i in range(sample.nodes) if A[i, i] != 0]
        weighted = bool(((A != 0) & (A != 1)).any()) and len(pairs) <= WEIGHTS
        weights = [number(A[i, j]) if weighted else "" for i, j in pairs]
    elif {"x", "y"} <= numbers.keys():
        at, directed, loops, is_round = _in_square(numbers["x"], numbers["y"]), False, [], False
        pairs = [(0, 1), (2, 3)] if find(sample.task).problem.only_size == 4 and sample.nodes == 4 else []
        weights = [""] * len(pairs)
    else:
        return None
    edges = [(i, j, weight) for (i, j), weight in zip(pairs, weights, strict=True) if i != j]
    found = {"kind": "plane", "at": np.round(at, 4).tolist(), "edges": edges, "loops": loops}
    shape = {"directed": directed, "round": is_round, "points": A is None}
    return {**found, **shape, "faces": [str(i) for i in range(sample.nodes)], "given": _given(sample)}


def _in_square(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Points as they lie, upwards, in the unit square: both axes have one scale."""
    extent = max(np.ptp(x), np.ptp(y)) or 1.0
    middle = [(x.min() + x.max()) / 2, (y.min() + y.max()) / 2]
    return 0.5 + np.stack([x - middle[0], middle[1] - y], axis=1) / extent


def _edges(sample: Sample) -> np.ndarray | None:
    """The matrix of a graph: the weights if an input has them, else who is joined."""
    matrices = [*_inputs(sample, "edge", "scalar").values(), *_inputs(sample, "edge", "mask").values()]
    return matrices[0].astype(float) if matrices else None


def _numbers_of_nodes(sample: Sample) -> dict[str, np.ndarray]:
    return {name: x.astype(float) for name, x in _inputs(sample, "node", "scalar").items() if name not in HIDDEN}


def _given(sample: Sample) -> list[tuple[str, str]]:
    """Numbers of the whole problem."""
    return [(name, number(float(x))) for name, x in _inputs(sample, "graph", "scalar").items()]


def _bars(values: np.ndarray) -> list[float]:
    """Heights from 0.06 to 1, so that the least has one too."""
    low, high = min(0.0, values.min()), values.max()
    return np.round(0.06 + 0.94 * (values - low) / ((high - low) or 1.0), 3).tolist()


def way_to_draw(name: str, feature: Feature, values: np.ndarray, kind: str) -> str:
    """How a feature is drawn in a scene: flag, fill, class, number, order, arrow, edge, grid or chip.

    `values` are those of the algorithm at all steps [T, ...]; `kind` is that of the scene.
    """
    if feature.place == "graph":
        return "chip"
    if feature.place == "edge":
        return "edge" if feature.kind == "mask" and kind == "plane" else "grid"
    if feature.kind in ("pointer", "permutation"):
        ordered = kind == "rows" and all(len(in_order(row)) == len(row) for row in values.reshape(-1, values.shape[-1]))
        return "order" if ordered or (feature.kind == "permutation" and kind == "rows") else "arrow"
    return {"mask_one": "flag", "mask": "fill", "categorical": "class", "scalar": "number"}[feature.kind]


def is_shown_at_first(way: str, others: list[str], values: np.ndarray, nodes: int) -> bool:
    """Of what would crowd the picture, only the first is shown until somebody asks for more.

    `others` are the ways of the features of the same stage before this one.
    """
    if way == "number":
        return nodes <= FEW and others.count("number") < 2
    if way == "arrow":
        return "arrow" not in others
    if way == "edge":
        return len(values) == 1 or bool((values != values[:1]).any())  # what never changes is no news
    return True
