"""A batch in the layout of dm-clrs: one-hots, float32, the constant `pred_h` a hint again.

For checks against the reference, and for code that was written for it.
"""

import numpy as np

from rnar.clrs.batch import Batch
from rnar.clrs.registry import find
from rnar.clrs.spec import Feature
from rnar.clrs.transforms import order_as_hint, spec_with_order_as_hint


def to_dm_clrs(batch: Batch) -> dict[str, np.ndarray]:
    """`{"input/key": [B, n], "hint/i": [T, B, n], "output/pred": [B, n], ..., "lengths": [B]}`, all float32."""
    spec, batch = spec_with_order_as_hint(find(batch.task).spec), order_as_hint(batch)
    dense = {}
    for name, feature in spec.inputs.items():
        dense[f"input/{name}"] = widen(feature, batch.inputs[name], batch.nodes)
    for name, feature in spec.hints.items():
        hint = widen(feature, batch.hints[name], batch.nodes)
        hint[~batch.own_steps] = 0  # a stored index 0 in the padding would be node 0
        dense[f"hint/{name}"] = hint
    for name, feature in spec.outputs.items():
        dense[f"output/{name}"] = widen(feature, batch.outputs[name], batch.nodes)
    dense["lengths"] = batch.lengths.astype(np.float32)
    return dense


def widen(feature: Feature, stored: np.ndarray, nodes: int) -> np.ndarray:
    """Indices of mask_one and codes of categorical become one-hots; all else keeps its shape."""
    if feature.kind == "mask_one":
        return np.eye(nodes, dtype=np.float32)[stored]
    if feature.kind == "categorical":
        assert feature.classes is not None
        rows = np.eye(feature.classes + 1, feature.classes, dtype=np.float32)
        rows[-1, -1] = -1  # code -1: the last class, negative
        return rows[stored]
    return stored.astype(np.float32)
