"""The data of a page: where nodes stand, how each feature is drawn, and all values in few letters.

A hint changes little from step to step, and a network is right most of the time. So of the truth the differences in
time are kept, and of what a network decided the differences from the truth, byte by byte (exclusive or); then all bytes
of a like place in their numbers stand together, compressed. `parts/data.js` undoes it.
"""

import base64
import zlib
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from rnar.clrs import Feature, Sample, find
from rnar.clrs.naming import classes, has_letters, labels, letters, lists_of, number, numbers
from rnar.clrs.pointers import in_order
from rnar.evaluation.beliefs import Belief, Said, slack
from rnar.inference.page.layout import is_dense, places

FEW = 12  # nodes, up to which numbers are written beside them
MANY = 20  # nodes in rows, up to which their numbers are written so that all differ
LONGEST = 4  # letters of a name that are written on a node
WEIGHTS = 40  # edges, up to which their weights are
HIDDEN = ("pos", "pred", "adj", "string")  # inputs that tell a reader nothing new
KEPT_BITS = 0xFFFFF000  # of a network's numbers: three to four digits
NOT_JUDGED = 255  # in place of -1


def page_data(sample: Sample, belief: Belief | None, shown: Sample, names: Sequence[str]) -> dict[str, Any]:
    """All that the page is given, as plain data; `shown` is the sample with the numbers that a reader sees."""
    packer, picture = Packer(), scene(shown, names)
    return {
        "task": sample.task,
        "nodes": sample.nodes,
        "steps": sample.steps,
        "network": belief is not None,
        "scene": picture,
        "features": list(_features(sample, belief, packer, picture["kind"])),
        "packed": packer.text(),
    }


def _features(sample: Sample, belief: Belief | None, packer: "Packer", kind: str) -> Iterator[dict[str, Any]]:
    """Yields a description of each feature; its values go into the packer. An output has one step."""
    spec, hints, outputs = find(sample.task).spec, belief.hints if belief else {}, belief.outputs if belief else {}
    for stage, features in (("hint", spec.hints), ("output", spec.outputs)):
        ways: list[str] = []
        for name, feature in features.items():
            values = sample.hints[name] if stage == "hint" else np.asarray(sample.outputs[name])[None]
            said = hints.get(name) if stage == "hint" else _as_one_step(outputs.get(name))
            way = way_to_draw(name, feature, values, kind)
            has_classes = feature.kind == "categorical" or str(feature) == "graph.mask"
            yield {
                "name": name,
                "stage": stage,
                "place": feature.place,
                "kind": feature.kind,
                "way": way,
                "shown": is_shown_at_first(way, ways, values, sample.nodes),
                "classes": list(classes(sample.task, name, feature)) if has_classes else [],
                "slack": slack(values) if said and feature.kind == "scalar" else 0,
                "said": said is not None,
                "type": packer.feature(feature, values, said, sample.nodes),
                "size": int(np.prod(values.shape[1:], dtype=int)),
            }
            ways.append(way)


def _as_one_step(said: Said | None) -> Said | None:
    parts: list[Any] = [None if x is None else x[None] for x in said or ()]
    return Said(*parts) if parts else None


def scene(sample: Sample, names: Sequence[str] = ()) -> dict[str, Any]:
    """Where nodes stand and what is written on them, as plain data; `names` are what they are called, if anything."""
    picture, has_keys = in_plane(sample) or in_rows(sample), "key" in sample.inputs
    picture["given"] = [(name, number(float(x))) for name, x in _inputs(sample, "graph", "scalar").items()]
    picture["numbered"] = picture["faces"] == _numbered(sample) and not has_keys
    if names:
        picture["faces"] = [name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…" for name in names]
    sides = list(lists_of(sample).values())  # of a table: of two strings, one along each
    return {
        **picture,
        "labels": list(names) or (labels(sample) if has_keys else _numbered(sample)),  # for pointers to a node
        "rows": sides[0].tolist(),
        "columns": sides[-1].tolist(),
        "flags": [(name, int(x)) for name, x in _inputs(sample, "node", "mask_one").items()],
    }


def _inputs(sample: Sample, place: str, kind: str) -> dict[str, np.ndarray]:
    """The inputs of a problem that are of this place and kind, and tell a reader something."""
    features = find(sample.task).spec.inputs.items()
    return {name: sample.inputs[name] for name, f in features if (f.place, f.kind) == (place, kind)}


def _numbers_of_nodes(sample: Sample) -> dict[str, np.ndarray]:
    return {name: x.astype(float) for name, x in _inputs(sample, "node", "scalar").items() if name not in HIDDEN}


def _numbered(sample: Sample) -> list[str]:
    return [str(i) for i in range(sample.nodes)]


def in_rows(sample: Sample) -> dict[str, Any]:
    """Lists: the face of each node, a bar as high as its number, and its other numbers below."""
    values = {} if has_letters(sample) else _numbers_of_nodes(sample)
    main = values.get("key", next(iter(values.values()), None))
    faces, told = letters(sample) if has_letters(sample) else _numbered(sample), {}
    if len(values) > 1:  # none of several is the node's own: they are all told by name
        told = {name: [number(x) for x in row] for name, row in values.items()}
    elif main is not None:  # two digits where there is no room for more
        faces = numbers(main) if "key" in values and sample.nodes <= MANY else [number(x) for x in main]
    groups = [{"name": name, "nodes": list(map(int, nodes))} for name, nodes in lists_of(sample).items()]
    return {
        "kind": "rows",
        "faces": faces,
        "bars": None if main is None else _bars(main),
        "told": told,
        "groups": groups,
    }


def _bars(values: np.ndarray) -> list[float]:
    """Heights from 0.06 to 1, so that the least has one too."""
    low, high = min(0.0, values.min()), values.max()
    return np.round(0.06 + 0.94 * (values - low) / ((high - low) or 1.0), 3).tolist()


def in_plane(sample: Sample) -> dict[str, Any] | None:
    """Points, or nodes and edges; None where a problem has neither."""
    points = _numbers_of_nodes(sample)
    matrices = [*_inputs(sample, "edge", "scalar").values(), *_inputs(sample, "edge", "mask").values()]
    A = matrices[0].astype(float) if matrices else np.zeros((sample.nodes, sample.nodes))
    if matrices:  # the weights if an input has them, else who is joined
        at = places((A != 0) | (A.T != 0))
    elif {"x", "y"} <= points.keys():
        at = _in_square(points["x"], points["y"])
        if find(sample.task).problem.only_size == 4 and sample.nodes == 4:
            A[[0, 1, 2, 3], [1, 0, 3, 2]] = 1  # segments
    else:
        return None
    directed, loops = bool((A != A.T).any()), np.flatnonzero(np.diag(A)).tolist()
    pairs = [(i, j) for i, j in np.argwhere(A != 0).tolist() if directed or i < j]
    weighted = bool(((A != 0) & (A != 1)).any()) and len(pairs) <= WEIGHTS
    return {
        "kind": "plane",
        "at": np.round(at, 4).tolist(),
        "edges": [(i, j, number(A[i, j]) if weighted else "") for i, j in pairs if i != j],
        "loops": loops,
        "directed": directed,
        "round": bool(matrices) and is_dense((A != 0) | (A.T != 0)),
        "points": not matrices,
        "faces": _numbered(sample),
    }


def _in_square(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Points as they lie, upwards, in the unit square: both axes have one scale."""
    extent = max(np.ptp(x), np.ptp(y)) or 1.0
    return 0.5 + np.stack([x - (x.min() + x.max()) / 2, (y.min() + y.max()) / 2 - y], axis=1) / extent


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
    """True but for what would crowd the picture, of which only the first is shown until somebody asks for more.

    `others` are the ways of the features of the same stage before this one.
    """
    if way == "number":
        return nodes <= FEW and others.count("number") < 2
    if way == "arrow":
        return "arrow" not in others
    if way == "edge":
        return len(values) == 1 or bool((values != values[:1]).any())  # what never changes is no news
    return True


class Packer:
    """Collects arrays, one after the other."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def feature(self, feature: Feature, truth: np.ndarray, said: Said | None, nodes: int) -> str:
        """Add the truth [T, ...], what was decided [T-1, ...] (of an output [1, ...]), and probabilities; its type."""
        truth, kind = typed(truth, feature.kind, nodes)
        self.add(truth, before(truth))
        if said is None:
            return kind
        if feature.kind == "scalar":
            self.add(rounded(said.decided))
            return kind
        self.add(typed(said.decided, feature.kind, nodes)[0], truth[len(truth) - len(said.decided) :])
        for share in (said.sure, said.true) if said.shares is None else (said.shares,):
            self.add(np.round(255 * np.clip(np.asarray(share), 0, 1)).astype(np.uint8))
        return kind

    def add(self, values: np.ndarray, others: np.ndarray | None = None) -> None:
        """Values [T, ...], or their difference from others of the same shape and type."""
        raw = as_bytes(values) if others is None else as_bytes(values) ^ as_bytes(others)
        self._parts.append(np.ascontiguousarray(raw.transpose(2, 0, 1)).tobytes())

    def text(self) -> str:
        return base64.b64encode(zlib.compress(b"".join(self._parts), 9)).decode()


def as_bytes(values: np.ndarray) -> np.ndarray:
    """[T, ...] -> uint8 [T, entries, bytes of an entry]"""
    flat = np.ascontiguousarray(values).reshape(len(values), int(np.prod(values.shape[1:])))  # there may be none
    return flat.view(np.uint8).reshape(*flat.shape, flat.dtype.itemsize)


def before(values: np.ndarray) -> np.ndarray:
    """The values of the step before [T, ...], and zeros before the first."""
    return np.concatenate([np.zeros_like(values[:1]), values[:-1]])


def typed(values: np.ndarray, kind: str, nodes: int) -> tuple[np.ndarray, str]:
    """Stored values [T, ...] in the least type that holds them, and its name."""
    if kind == "scalar":
        return values.astype("<f4"), "f4"
    name = "u2" if kind not in ("mask", "categorical") and nodes > NOT_JUDGED else "u1"
    return np.where(values < 0, NOT_JUDGED, values).astype(f"<{name}"), name


def rounded(numbers: np.ndarray) -> np.ndarray:
    """A network's numbers with fewer bits: what they were computed to is noise."""
    bits = np.ascontiguousarray(numbers, np.dtype("<f4")).view(np.uint32)
    return ((bits + np.uint32(0x800)) & np.uint32(KEPT_BITS)).view(np.dtype("<f4"))
