"""Linear maps, made as the reference makes them, and put together so that no work is done twice."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import torch
from torch import Tensor, nn

from rnar.ops import NARROW, Gathered, linear, linear_relu, narrow_mlp

WORTH_ROUNDING = 1 << 15
"""Weights of a map from which on bfloat16 pays: a quarter of those of the largest maps of nodes."""


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


class LinearMap(NamedTuple):
    """y = W x + b, made of weights once a batch and used at every step."""

    weight: Tensor
    """[O, I]"""
    bias: Tensor
    """[O]"""
    gathered: Gathered | None = None
    """where its gradient is gathered over steps, if it is"""
    rough: Tensor | None = None
    """W in the precision of its products, if that is lower"""

    def rounded(self, precision: torch.dtype) -> LinearMap:
        """The same with products in this precision, if it is so large that this costs less than the conversions."""
        large = self.weight.numel() >= WORTH_ROUNDING
        return self._replace(rough=self.weight.detach().to(precision)) if large else self

    def gathering(self) -> LinearMap:
        """The same, whose gradient has to be settled in the end."""
        return self if self.gathered else self._replace(gathered=Gathered(self.weight, self.bias))

    def __call__(self, x: Tensor) -> Tensor:
        return linear(x, *self)


class SideBySide(NamedTuple):
    """Several maps of one input as a single matrix product."""

    map: LinearMap
    widths: tuple[int, ...]
    """the outputs of each group of maps"""

    @staticmethod
    def of(groups: Sequence[Sequence[nn.Linear]], rests: Mapping[nn.Linear, Tensor] | None = None) -> SideBySide:
        """Of maps in groups that stay together. A `rest` is added to the bias of its map."""
        linears = [linear for group in groups for linear in group]
        # One by one: gradients that are slices of one sum, on both sides of a plus, would share their memory.
        biases = [linear.bias + rests[linear] if rests and linear in rests else linear.bias for linear in linears]
        widths = tuple(sum(linear.out_features for linear in group) for group in groups)
        return SideBySide(LinearMap(torch.cat([linear.weight for linear in linears]), torch.cat(biases)), widths)

    def after(self, encoding: OfChannels | None) -> SideBySide:
        """The same maps, whose first inputs come as the channels that this would encode; None: as they are."""
        if encoding is None:
            return self
        (weight, bias, *_), size = self.map, encoding.weight.shape[1]
        first, rest = weight[:, :size], weight[:, size:]
        folded = torch.cat([first @ encoding.weight.T, rest], dim=1)
        return self._replace(map=LinearMap(folded, first @ encoding.bias + bias))

    def beside(self, weight: Tensor) -> SideBySide:
        """With more inputs, of which this is the weight [all outputs, more]."""
        return self._replace(map=self.map._replace(weight=torch.cat([self.map.weight, weight], dim=1)))

    def __call__(self, x: Tensor) -> tuple[Tensor, ...]:
        """What each group makes of x; the results share their memory."""
        y = self.map(x)
        return (y,) if len(self.widths) == 1 else y.split_with_sizes(self.widths, dim=-1)


def stacked(linears: Sequence[nn.Linear], inputs: int | None = None) -> tuple[Tensor, Tensor]:
    """The weights and biases of several maps, one below the other; only of the first `inputs`, if given."""
    biases: list[Tensor] = [linear.bias for linear in linears]
    return torch.cat([linear.weight[:, :inputs] for linear in linears]), torch.cat(biases)


class OfChannels(NamedTuple):
    """A linear map from a few channels: y = c W + b. What follows it can be put into it, once for all."""

    weight: Tensor
    """[C, H]"""
    bias: Tensor
    """[H]"""

    def then(self, linears: Sequence[nn.Linear], inputs: int | None = None) -> OfChannels:
        """These maps after this one, side by side; of the first `inputs` of theirs, if given.

        A linear map of a linear map is one linear map: to send a feature of pairs through a layer costs (channels x
        outputs) a pair, and not (size x outputs) after (channels x size).
        """
        weight, bias = stacked(linears, inputs)
        return OfChannels((weight @ self.weight.T).T, weight @ self.bias + bias)

    def beside(self, other: OfChannels) -> OfChannels:
        """The sum of both, of their channels side by side."""
        return OfChannels(torch.cat([self.weight, other.weight]), self.bias + other.bias)

    @property
    def map(self) -> LinearMap:
        """The same as a map, for what is used at every step."""
        return LinearMap(self.weight.T, self.bias)

    def __call__(self, channels: Tensor) -> Tensor:
        """[..., C] -> [..., H]"""
        return nn.functional.linear(channels, self.weight.T, self.bias)


class Rectified:
    """A feature relu(W c + b) of each pair, made of a few channels c, and not yet computed."""

    def __init__(self, channels: Tensor, weight: Tensor, bias: Tensor, precision: torch.dtype | None = None):
        self.channels = channels
        """[B, N, N, C]"""
        self.weight = weight
        """[H, C]"""
        self.bias = bias
        """[H]"""
        self.precision = precision
        """of its products; None: that of the channels"""

    def __getitem__(self, some: slice) -> Rectified:
        """Of some samples."""
        return Rectified(self.channels[some], self.weight, self.bias, self.precision)

    @cached_property
    def computed(self) -> Tensor:
        """[B, N, N, H]"""
        return linear_relu(self.channels, self.weight, self.bias, self.precision)

    def mapped(self, layer: Tensor) -> Tensor:
        """V of it, [B, N, N, O] of V [O, H]; of few numbers it need not be computed for that."""
        if len(layer) <= NARROW:
            return narrow_mlp(self.channels, self.weight, self.bias, layer)
        return self.computed @ layer.T.to(self.computed.dtype)
