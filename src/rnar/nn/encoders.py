"""Encoders: features -> graph. Each feature has a linear map of its own; the maps of one place are added up."""

import math
from functools import reduce
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from rnar.clrs.spec import Feature, Place
from rnar.nn.groups import Group, grouped
from rnar.nn.linear import Linear, OfChannels
from rnar.nn.triples import Triples

PLACES: tuple[Place, ...] = ("node", "edge", "graph")


class Graph(NamedTuple):
    """What a processor sees of B samples with N nodes at one step: features of H numbers."""

    nodes: Tensor
    """[B, N, H]: the encoded features of each node; [B, N, C], not yet encoded, if there is an `encoding`"""
    channels: Tensor
    """[B, N, N, C]: what is known of each pair (i, j); its encoded features are `pairs(channels)`, [B, N, N, H]"""
    pairs: OfChannels
    """the map from channels to features"""
    whole: Tensor
    """[B, H]: the encoded features of the graph"""
    adjacency: Tensor | None
    """bool [B, N, N], symmetric, with self-loops; None where no processor looks at it"""
    pairs_wanted: bool = True
    """Does any decoder look at pairs? If not, what a processor would make for them alone need not be made."""
    prepared: Any = None
    """what `Processor.prepare` returned: the same at every step of a batch"""
    precision: torch.dtype | None = None
    """of products of pairs, and of large tensors that only feed such products; None: that of all others"""
    drawn: Any = None
    """what `Processor.draw` returned: the same at every step of a batch"""
    encoding: OfChannels | None = None
    """the map from channels of nodes to features, for a processor that reads channels; None: `nodes` are features"""
    triples: Triples | None = None
    """pointers of pairs, where they are part of the messages of three nodes"""


class Encoders(nn.Module):
    """The encoders of some features of one task. With `transposed`, another map reads each node pointer's transpose."""

    def __init__(
        self, features: dict[str, Feature], size: int, xavier_on_scalars: bool = False, transposed: bool = False
    ):
        super().__init__()
        self.transposed = transposed
        self.groups = grouped(features)
        self.places: dict[Place, list[Group]] = {
            place: [group for group, feature in self.groups.items() if read_at(feature) == place] for place in PLACES
        }
        self.size = size
        self.maps = nn.ModuleDict()
        for name, feature in features.items():
            # small values for hints that are numbers: what a network makes of its own is not in a range yet
            deviation = 1 / math.sqrt(size) if xavier_on_scalars and feature.kind == "scalar" else None
            self.maps[name] = nn.ModuleList(Linear(width, size, deviation) for width in widths(feature, transposed))

    def prepare(self) -> dict[Place, OfChannels]:
        """The map of each place from all its channels: the sum of its features' maps."""
        return {place: self._summed(groups) for place, groups in self.places.items() if groups}

    def forward(self, wide: dict[Group, Tensor]) -> dict[Place, Tensor]:
        """The channels of each place, side by side: [B, N, C], [B, N, N, C] or [B, C]."""
        return {
            place: joined([channels(self.groups[group], wide[group], self.transposed) for group in groups])
            for place, groups in self.places.items()
            if groups
        }

    def _summed(self, groups: list[Group]) -> OfChannels:
        maps: list[Any] = [linear for group in groups for name in group for linear in self.maps[name].children()]
        return OfChannels(torch.cat([m.weight.T for m in maps]), reduce(torch.add, [m.bias for m in maps]))

    def adjacency(self, wide: dict[Group, Tensor]) -> Tensor | None:
        """Which pairs are joined by a pointer or an edge mask, in either direction: bool [B, N, N]."""
        found = None
        for group, feature in self.groups.items():
            if (feature.place, feature.kind) == ("node", "pointer"):
                pairs = wide[group] + wide[group].transpose(2, 3) > 0.5
            elif (feature.place, feature.kind) == ("edge", "mask"):
                pairs = wide[group] + wide[group].transpose(2, 3) > 0.0
            else:
                continue
            found = pairs.any(dim=1) if found is None else found | pairs.any(dim=1)
        return found


def read_at(feature: Feature) -> Place:
    """Where a network reads a feature: a pointer from node to node is a feature of the pair."""
    return "edge" if feature.kind == "pointer" else feature.place


def widths(feature: Feature, transposed: bool = False) -> list[int]:
    """The channels of each of a feature's linear maps."""
    if feature.kind == "pointer" and (feature.place == "edge" or transposed):
        return [1, 1]
    return [feature.classes or 1]


def channels(feature: Feature, wide: Tensor, transposed: bool = False) -> Tensor:
    """A group of k wide features [B, k, ...] as channels: [B, N, C], [B, N, N, C] or [B, C]."""
    if feature.kind == "categorical":
        return wide.movedim(1, -2).flatten(-2)
    if feature.place == "edge" and feature.kind == "pointer":  # [B, 1, i, j, k]: to k from all (., j) and all (i, .)
        return torch.cat([wide.mean(dim=2), wide.mean(dim=3)], dim=1).movedim(1, -1)
    if feature.kind == "pointer" and transposed:
        return torch.cat([wide, wide.mT], dim=1).movedim(1, -1)
    return wide.movedim(1, -1)


def joined(parts: list[Tensor]) -> Tensor:
    """Channels [..., C] side by side."""
    return parts[0].contiguous() if len(parts) == 1 else torch.cat(parts, dim=-1)
