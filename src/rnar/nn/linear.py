"""Linear maps, made as the reference makes them, and put together so that no work is done twice."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor, nn

from rnar.engine.once import once
from rnar.ops.kernels import linear_relu


class Linear(nn.Linear):
    """y = W x + b, with Haiku's initial values: a normal of deviation 1/sqrt(inputs), cut off at two; b = 0."""

    def __init__(self, inputs: int, outputs: int, deviation: float | None = None, bias: float = 0.0):
        self.deviation = deviation or 1 / math.sqrt(inputs)
        self.first_bias = bias
        super().__init__(inputs, outputs)

    def reset_parameters(self) -> None:
        truncated_normal_(self.weight, self.deviation)
        nn.init.constant_(self.bias, self.first_bias)


def truncated_normal_(tensor: Tensor, deviation: float) -> None:
    nn.init.trunc_normal_(tensor, std=deviation, a=-2 * deviation, b=2 * deviation)


def side_by_side(x: Tensor, linears: Sequence[nn.Linear]) -> tuple[Tensor, ...]:
    """Several maps of one input as a single matrix product; the results share their memory."""
    weight, bias = once(("side by side", *map(id, linears)), lambda: _laid(linears))
    return nn.functional.linear(x, weight, bias).split([linear.out_features for linear in linears], dim=-1)


def _laid(linears: Sequence[nn.Linear], inputs: int | None = None) -> tuple[Tensor, Tensor]:
    """The weights and biases of several maps, one below the other; only of the first `inputs`, if given."""
    biases: list[Tensor] = [linear.bias for linear in linears]
    return torch.cat([linear.weight[:, :inputs] for linear in linears]), torch.cat(biases)


class Encoded(NamedTuple):
    """A feature of each pair of nodes that is linear in a few channels, and not yet computed: channels W + b.

    A linear map of a linear map is one linear map: to send the feature through a layer costs (channels x outputs) a
    pair, and not (size x outputs) after (channels x size).
    """

    channels: Tensor
    """[B, N, N, C]"""
    weight: Tensor
    """[C, H]"""
    bias: Tensor
    """[H]"""

    def composed(self, weight: Tensor, bias: Tensor) -> tuple[Tensor, Tensor]:
        """The map y = W e + b of this feature e as one of its channels: [C, O] and [O]."""
        return (weight @ self.weight.T).T, weight @ self.bias + bias

    def composed_with(self, linears: Sequence[nn.Linear], inputs: int | None = None) -> tuple[Tensor, ...]:
        """`composed`, of several maps side by side, or their first `inputs`; at all steps the same."""
        key = ("composed", inputs, *map(id, linears))
        return once(key, lambda: self.composed(*_laid(linears, inputs)))

    def through(self, weight: Tensor, bias: Tensor) -> Tensor:
        """y = W e + b: [B, N, N, O]"""
        of_channels, rest = self.composed(weight, bias)
        return nn.functional.linear(self.channels, of_channels.T, rest)

    def computed(self) -> Tensor:
        """The feature itself."""
        return nn.functional.linear(self.channels, self.weight.T, self.bias)

    def beside(self, other: Encoded, key: Hashable) -> Encoded:
        """The sum of both features; their maps, which `key` stands for, are the same at all steps."""
        weight, bias = once(key, lambda: (torch.cat([self.weight, other.weight]), self.bias + other.bias))
        return Encoded(torch.cat([self.channels, other.channels], dim=-1), weight, bias)


class Rectified:
    """A feature relu(W c + b) of each pair, made of a few channels c, and not yet computed."""

    def __init__(self, channels: Tensor, weight: Tensor, bias: Tensor):
        self.channels = channels
        """[B, N, N, C]"""
        self.weight = weight
        """[H, C]"""
        self.bias = bias
        """[H]"""

    def __getitem__(self, some: slice) -> Rectified:
        """Of some samples."""
        return Rectified(self.channels[some], self.weight, self.bias)

    @cached_property
    def computed(self) -> Tensor:
        """[B, N, N, H]"""
        return linear_relu(self.channels, self.weight, self.bias)
