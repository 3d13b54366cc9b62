"""Encoders: features -> vectors. Each feature has a linear map of its own; the maps of one place are added up."""

import math

import torch
from torch import Tensor, nn

from rnar.clrs.spec import Feature, Place
from rnar.functional import Affine
from rnar.functional.scope import of_weights
from rnar.nn.linear import Linear, stacked

PLACES: tuple[Place, ...] = ("node", "edge", "graph")


class Encoders(nn.Module):
    """The encoders of some features of one task: x = sum over features f of W_f f + b_f, at each place.

    Args:
        features: By name.
        size: H, the number of features of a node, an edge and the graph.
        xavier_on_scalars: Start with small weights for numbers: what a network makes of its own is in no range yet.
        transposed: Encode the transpose of each node pointer too, by a map of its own.
    """

    def __init__(
        self, features: dict[str, Feature], size: int, xavier_on_scalars: bool = False, transposed: bool = False
    ):
        super().__init__()
        self.features, self.transposed = features, transposed
        self.places: dict[Place, list[str]] = {
            place: names for place in PLACES if (names := [k for k, f in features.items() if place_of(f) == place])
        }
        self.maps = nn.ModuleDict()
        for name, feature in features.items():
            deviation = 1 / math.sqrt(size) if xavier_on_scalars and feature.kind == "scalar" else None
            self.maps[name] = nn.ModuleList(Linear(width, size, deviation) for width in widths(feature, transposed))

    def forward(self, wide: dict[str, Tensor]) -> dict[Place, Affine]:
        """The encoded features of each place that has any, not yet computed; `wide`: see `rnar.nn.kinds`."""
        return {place: Affine(self.channels(names, wide), *self.weights(place)) for place, names in self.places.items()}

    def channels(self, names: list[str], wide: dict[str, Tensor]) -> Tensor:
        """What is encoded at one place, side by side: [B, N, C], [B, N, N, C] or [B, C]."""
        parts = [part for name in names for part in channels(self.features[name], wide[name], self.transposed)]
        return torch.cat(parts, dim=-1).to(self.weights(place_of(self.features[names[0]]))[0].dtype)

    def weights(self, place: Place) -> tuple[Tensor, Tensor]:
        """W [H, C] and b [H] of a place: a sum of linear maps is one map."""
        return of_weights(_stacked, self, place)

    def adjacency(self, wide: dict[str, Tensor]) -> list[Tensor]:
        """The pairs that each pointer or mask of edges joins, in either direction: bool [B, N, N]."""
        found = []
        for name, feature in self.features.items():
            if (feature.place, feature.kind) == ("node", "pointer"):
                found.append(wide[name] + wide[name].mT > 0.5)
            elif (feature.place, feature.kind) == ("edge", "mask"):
                found.append(wide[name] + wide[name].mT > 0.0)
        return found


def _stacked(encoders: Encoders, place: Place) -> tuple[Tensor, Tensor]:
    maps = [linear for name in encoders.places[place] for linear in encoders.maps[name].children()]
    return stacked(maps)  # type: ignore[arg-type]


def place_of(feature: Feature) -> Place:
    """Where a feature is encoded: a pointer from node to node is a feature of the edge."""
    return "edge" if feature.kind == "pointer" else feature.place


def widths(feature: Feature, transposed: bool = False) -> list[int]:
    """The channels of each linear map of a feature."""
    if feature.kind == "pointer" and (feature.place == "edge" or transposed):
        return [1, 1]
    return [feature.classes or 1]


def channels(feature: Feature, wide: Tensor, transposed: bool = False) -> list[Tensor]:
    """A wide feature as channels: [B, N, C], [B, N, N, C] or [B, C]."""
    if feature.kind == "categorical":
        return [wide]
    if feature.place == "edge" and feature.kind == "pointer":  # [B, i, j, k]: to k from all (., j) and from all (i, .)
        return [wide.mean(dim=1)[..., None], wide.mean(dim=2)[..., None]]
    if feature.kind == "pointer" and transposed:
        return [wide[..., None], wide.mT[..., None]]
    return [wide[..., None]]
