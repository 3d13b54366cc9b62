"""Encoders: features -> vectors. Each feature has a linear map of its own; the maps of one place are added up."""

import math

from torch import Tensor, nn

from rnar.clrs.spec import Feature, Place
from rnar.nn.linear import Linear

PLACES: tuple[Place, ...] = ("node", "edge", "graph")
Wide = dict[str, Tensor]
"""features by name as a network reads them: see `rnar.nn.kinds`"""


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
        self.places: dict[str, Place] = {name: place_of(feature) for name, feature in features.items()}
        self.maps = nn.ModuleDict()
        for name, feature in features.items():
            deviation = 1 / math.sqrt(size) if xavier_on_scalars and feature.kind == "scalar" else None
            self.maps[name] = nn.ModuleList(Linear(width, size, deviation) for width in widths(feature, transposed))

    def maps_of(self, place: Place) -> list[nn.Module]:
        """The maps of the features of one place, in the order of their channels."""
        return [m for name, there in self.places.items() if there == place for m in self.maps[name].children()]

    def channels(self, wide: Wide) -> dict[Place, list[Tensor]]:
        """What is encoded at each place: [B, N, C], [B, N, N, C] or [B, C]."""
        channels: dict[Place, list[Tensor]] = {place: [] for place in PLACES}
        for name, feature in self.features.items():
            x = wide[name]
            if feature.kind == "categorical":
                parts = [x]
            elif (feature.place, feature.kind) == ("edge", "pointer"):  # to k from all (., j), and from all (i, .)
                parts = [x.mean(dim=1)[..., None], x.mean(dim=2)[..., None]]
            elif feature.kind == "pointer" and self.transposed:
                parts = [x[..., None], x.mT[..., None]]
            else:
                parts = [x[..., None]]
            channels[self.places[name]] += parts
        return channels

    def adjacency(self, wide: Wide) -> list[Tensor]:
        """The pairs that each pointer or mask of edges joins, in either direction: bool [B, N, N]."""
        least = {("node", "pointer"): 0.5, ("edge", "mask"): 0.0}
        joining = {name: least.get((feature.place, feature.kind)) for name, feature in self.features.items()}
        return [wide[name] + wide[name].mT > value for name, value in joining.items() if value is not None]


def place_of(feature: Feature) -> Place:
    """Where a feature is encoded: a pointer from node to node is a feature of the edge."""
    return "edge" if feature.kind == "pointer" else feature.place


def widths(feature: Feature, transposed: bool = False) -> list[int]:
    """The channels of each linear map of a feature."""
    if feature.kind == "pointer" and (feature.place == "edge" or transposed):
        return [1, 1]
    return [feature.classes or 1]
