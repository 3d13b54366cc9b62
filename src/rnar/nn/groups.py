"""Features that are alike are computed together: k of them have one axis more, [B, k, ...], and one call does for all.

A pointer is alone: what is made of pairs for it is large.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from rnar.clrs.spec import Feature

Group = tuple[str, ...]
"""the names of features of the same place and kind, in the order of that axis"""


def grouped(features: dict[str, Feature]) -> dict[Group, Feature]:
    """The groups of some features, in the order of the first of each."""
    found: dict[object, list[str]] = {}
    for name, feature in features.items():
        alone = feature.kind in ("pointer", "permutation")
        found.setdefault((feature, name if alone else None), []).append(name)
    return {tuple(names): features[names[0]] for names in found.values()}


def together(group: Group, each: Mapping[str, Tensor], axis: int) -> Tensor:
    """The features of a group, [B, ...] where the axis is 1, as one: [B, k, ...]."""
    return each[group[0]].unsqueeze(axis) if len(group) == 1 else torch.stack([each[name] for name in group], axis)


def apart(groups: Mapping[Group, Any], axis: int = 1) -> dict[str, Any]:
    """Each feature by itself, of groups [B, k, ...]; a permutation, which is not one tensor, is by itself already."""
    found: dict[str, Any] = {}
    for group, x in groups.items():
        found |= zip(group, x.unbind(axis) if isinstance(x, Tensor) else [x], strict=True)
    return found
