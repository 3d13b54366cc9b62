"""Lazy features: linear maps that are not computed before an operation needs them.

A linear map of a linear map is one linear map. An edge has a few channels and, once encoded, 128 features: an operation
that reads `W2 (W1 x + b1) + b2` multiplies the weights once a rollout, and never makes the 128 features of N^2 edges.

    e = Affine(channels, weight, bias)     # the encoded edges
    linear(e, weight2, bias2)              # again an Affine of the channels
    computed(e)                            # the tensor that it stands for
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from rnar.common.cached import cached_property
from rnar.functional.relu import NARROW, linear_relu, narrow_mlp
from rnar.functional.scope import of_weights, precision_of

WORTH_ROUNDING = 1 << 15
"""Weights of a map from which on a product in bfloat16 pays for the conversions."""


class Block(NamedTuple):
    """A map W of some of the inputs of an `Affine`, and b; without W these inputs themselves."""

    inputs: int
    outputs: int
    weight: Tensor | None = None
    bias: Tensor | None = None


class Affine:
    """W x + b: [..., O] of x [..., I], not computed; several such features side by side have a block of W each.

    A slice is one of samples, the first axis.
    """

    def __init__(
        self, x: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, blocks: Sequence[Block] = ()
    ):
        inputs = x.shape[-1]
        self.x, self.weight, self.bias = x, weight, bias
        self.blocks = blocks or (Block(inputs, inputs if weight is None else len(weight), weight, bias),)

    @property
    def shape(self) -> torch.Size:
        return torch.Size((*self.x.shape[:-1], sum(block.outputs for block in self.blocks)))

    @cached_property
    def computed(self) -> Tensor:
        inputs = self.x.split_with_sizes([block.inputs for block in self.blocks], dim=-1)
        parts = [x if w is None else product(x, w, b) for x, (_, _, w, b) in zip(inputs, self.blocks, strict=True)]
        return torch.cat(parts, dim=-1) if len(parts) > 1 else parts[0]

    def __getitem__(self, some: slice) -> Affine:
        return Affine(self.x[some], self.weight, self.bias, self.blocks)

    def then(self, weight: Tensor, bias: Tensor | None) -> Affine:
        """V (W x + b) + c"""
        if len(self.blocks) == 1 and self.weight is None:
            return Affine(self.x, weight, bias)
        return Affine(self.x, *of_weights(_folded, weight, bias, *self.blocks))


class ReLU:
    """relu(W x + b) of few numbers x [..., I], which are computed when they are needed; `layer` has W and b."""

    def __init__(self, x: Callable[[], Tensor], layer: nn.Linear):
        self._x, self.layer = x, layer

    @cached_property
    def x(self) -> Tensor:
        return self._x()

    @property
    def computed(self) -> Tensor:
        return linear_relu(self.x, self.layer.weight, self.layer.bias)

    @property
    def shape(self) -> torch.Size:
        return torch.Size((*self.x.shape[:-1], len(self.layer.weight)))

    def __getitem__(self, some: slice) -> ReLU:
        return ReLU(lambda: self.x[some], self.layer)


class Concatenated:
    """Lazy features and a ReLU side by side: the encoded edges, and what a processor makes of them."""

    def __init__(self, affine: Affine, relu: ReLU):
        self.affine, self.relu = affine, relu

    @property
    def computed(self) -> Tensor:
        return torch.cat([self.affine.computed, self.relu.computed], dim=-1)

    def __getitem__(self, some: slice) -> Concatenated:
        return Concatenated(self.affine[some], self.relu[some])

    def parts_of(self, weight: Tensor, bias: Tensor | None) -> tuple[Affine, Tensor]:
        """A map V of them as a map of the channels, and the weight by which it reads the ReLU."""
        of_affine, of_relu = of_weights(_divided, weight, self.affine.shape[-1])
        return self.affine.then(of_affine, bias), of_relu


Features = Tensor | Affine | ReLU
Edges = Features | Concatenated


def computed(x: Edges) -> Tensor:
    """The tensor that features stand for."""
    return x if isinstance(x, Tensor) else x.computed


def lazy(x: Features) -> Affine:
    """The same as a map that others can be put after."""
    return x if isinstance(x, Affine) else Affine(computed(x))


def beside(first: Features, other: Features) -> Any:
    """Features side by side, not computed."""
    if isinstance(other, ReLU):
        return Concatenated(lazy(first), other)
    parts = lazy(first), lazy(other)
    return Affine(torch.cat([part.x for part in parts], dim=-1), blocks=(*parts[0].blocks, *parts[1].blocks))


def linear(x: Edges, weight: Tensor, bias: Tensor | None = None) -> Any:
    """W x + b: [..., O] of x [..., I]. Of an `Affine` it is again one."""
    if isinstance(x, Affine):
        return x.then(weight, bias)
    if isinstance(x, Concatenated):
        affine, of_relu = x.parts_of(weight, bias)
        return affine.computed + linear(x.relu, of_relu)
    if isinstance(x, ReLU) and len(weight) <= NARROW:
        y = narrow_mlp(x.x, x.layer.weight, x.layer.bias, weight)
        return y if bias is None else y + bias
    return product(computed(x), weight, bias)


def product(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """W x + b of a tensor, which may be taken in a lower precision."""
    precision = precision_of(weight)
    if x.dtype == weight.dtype and (precision == weight.dtype or weight.numel() < WORTH_ROUNDING):
        return F.linear(x, weight, bias)
    y = _LowPrecisionLinear.apply(x, weight, of_weights(_lowered, weight, precision))
    return y if bias is None else y + bias  # type: ignore[return-value]


def side_by_side(x: Edges, *maps: Any) -> Any:
    """What several linear maps make of x, as the features of one. Of an `Affine` it is again one."""
    stacked = of_weights(_stacked, *maps)
    return torch.cat([layer(computed(x)) for layer in maps], dim=-1) if stacked is None else linear(x, *stacked)


def linears(x: Edges, *maps: Any) -> Sequence[Tensor]:
    """What each of several linear maps makes of x, in one product; the results share their memory."""
    if not maps:
        return []
    return computed(side_by_side(x, *maps)).split_with_sizes([layer.out_features for layer in maps], dim=-1)


def is_plain(layer: nn.Module) -> bool:
    """True for a linear map that does nothing but its product: no hooks, no other forward."""
    plain = (type(layer) is nn.Linear or "plain" in vars(type(layer))) and "forward" not in vars(layer)
    hooks = layer._forward_hooks or layer._forward_pre_hooks or layer._backward_hooks or layer._backward_pre_hooks
    return plain and not hooks


class _LowPrecisionLinear(torch.autograd.Function):
    """A product in the precision of `low`, with gradients in that of the inputs."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, low: Tensor) -> Tensor:  # type: ignore[override]
        flat = x.reshape(-1, x.shape[-1]).to(low.dtype)
        ctx.save_for_backward(flat, low)
        ctx.shape, ctx.dtypes = x.shape, (x.dtype, weight.dtype)
        return torch.mm(flat, low.T).to(weight.dtype).view(*x.shape[:-1], len(low))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        flat, low = ctx.saved_tensors
        gradient = gradient.reshape(-1, gradient.shape[-1]).to(low.dtype)
        to_x = torch.mm(gradient, low).view(ctx.shape).to(ctx.dtypes[0]) if ctx.needs_input_grad[0] else None
        return to_x, torch.mm(gradient.T, flat).to(ctx.dtypes[1]), None


def _lowered(weight: Tensor, precision: torch.dtype) -> Tensor:
    return weight.detach().to(precision)


def _divided(weight: Tensor, width: int) -> tuple[Tensor, Tensor]:
    return weight[:, :width], weight[:, width:].contiguous()


def _stacked(*maps: Any) -> tuple[Tensor, Tensor] | None:
    """W and b of several maps of the same input; None if one of them is not plain."""
    if not all(map(is_plain, maps)):
        return None
    if len(maps) == 1:
        return maps[0].weight, maps[0].bias
    return torch.cat([layer.weight for layer in maps]), torch.cat([layer.bias for layer in maps])


def _folded(weight: Tensor, bias: Tensor | None, *blocks: Block) -> tuple[Tensor, Tensor | None]:
    """The weight and the bias of a map of features side by side, as one of their inputs."""
    folded = []
    pieces = weight.split_with_sizes([block.outputs for block in blocks], dim=1)
    for piece, (_, _, inner, bias_of_inner) in zip(pieces, blocks, strict=True):
        folded.append(piece if inner is None else piece @ inner)
        if bias_of_inner is not None:
            bias = piece @ bias_of_inner if bias is None else bias + piece @ bias_of_inner
    return torch.cat(folded, dim=1), bias
