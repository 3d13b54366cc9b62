"""Linear maps: of lazy values, several at once, in a lower precision, and with a relu."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from rnar.functional.affine import Affine, Concatenated, Features, Lazy, ReLU, computed
from rnar.functional.compiled import apply, arrays, compiled, loop
from rnar.functional.narrow_mlp import NARROW, narrow_mlp
from rnar.functional.numbers import kept, read
from rnar.functional.scope import of_weights, precision_of

WORTH_ROUNDING = 1 << 15
"""Weights of a map from which on a product in bfloat16 pays for the conversions."""


def linear(x: Features, weight: Tensor, bias: Tensor | None = None) -> Any:
    """W x + b: [..., O] of x [..., I]. Of a lazy value it is again one."""
    if isinstance(x, Concatenated):
        return x.mapped(weight, bias)
    if isinstance(x, Affine):
        return x.then(weight, bias)
    return Affine(x, weight, bias) if isinstance(x, Lazy) else mapped(x, weight, bias)


def mapped(x: Features, weight: Tensor, bias: Tensor | None) -> Tensor:
    """W x + b, computed."""
    if isinstance(x, ReLU) and len(weight) <= NARROW:
        y = narrow_mlp(x.x, x.weight, x.bias, weight)
        return y if bias is None else y + bias
    x = computed(x)
    precision = precision_of(weight)
    if x.dtype == weight.dtype and (precision == weight.dtype or weight.numel() < WORTH_ROUNDING):
        return F.linear(x, weight, bias)
    y = _LowPrecisionLinear.apply(x, weight, of_weights(_lowered, weight, precision))
    return y if bias is None else y + bias  # type: ignore[return-value]


def linears(x: Any, *maps: Any) -> Sequence[Any]:
    """What each of several linear maps makes of x, in one product; the results share their memory."""
    if isinstance(x, Shared):
        return x.mapped(maps)
    if all(map(is_plain, maps)):
        return computed(side_by_side(x, *maps)).split_with_sizes([each.out_features for each in maps], dim=-1)
    x = computed(x)
    return [each(x) for each in maps]


def side_by_side(x: Features, *maps: Any) -> Any:
    """What several linear maps make of x, as the features of one. Of a lazy value it is again one."""
    if not all(map(is_plain, maps)):
        return torch.cat(list(linears(x, *maps)), dim=-1)
    weight = of_weights(_stacked, *(each.weight for each in maps))
    return linear(x, weight, of_weights(_stacked, *(each.bias for each in maps)))


class Shared:
    """An input of several linear maps that are asked for one by one, and computed in one product at the first.

    Args:
        x: The input, or what makes it when it is needed.
        places: The maps, numbered from 0.
    """

    def __init__(self, x: Features | Callable[[], Features], places: Mapping[Any, int]):
        self._x, self._places = x, places
        self._made: Sequence[Tensor] = ()

    @property
    def x(self) -> Features:
        return self._x() if callable(self._x) else self._x

    def mapped(self, maps: Sequence[nn.Linear]) -> Sequence[Any]:
        if not self._made:
            self._made = linears(self.x, *self._places)
        return [self._made[self._places[each]] for each in maps]


def linear_relu(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """relu(W x + b): [..., O] of x [..., I]; the product, and what comes out, may be in a lower precision."""
    if compiled(x):
        return apply(_LinearReLU, x, weight, bias, precision_of(weight))
    precision = precision_of(weight)
    return torch.relu_(F.linear(*(y.to(precision) for y in (x, weight, bias))))


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


class _LinearReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, precision: torch.dtype) -> Tensor:  # type: ignore[override]
        flat, weight = x.reshape(1, -1, x.shape[-1]).to(precision), weight.to(precision)
        out = flat @ weight.T
        loop_of_add_and_rectify(*arrays(out, bias))
        ctx.save_for_backward(flat, weight, out)
        return out.view(*x.shape[:-1], len(weight))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        flat, weight, out = ctx.saved_tensors
        through, to_bias = torch.empty_like(out), torch.zeros(len(weight))
        loop_of_rectify_backward(*arrays(gradient.reshape(out.shape).contiguous(), out, through, to_bias))
        to_x = torch.mm(through[0], weight).view(*gradient.shape[:-1], flat.shape[2])
        return to_x, torch.mm(through[0].T, flat[0]), to_bias, None


@loop
def loop_of_add_and_rectify(x, bias):
    """x <- relu(x + b)"""
    for b in range(x.shape[0]):
        for i in range(x.shape[1]):
            for h in range(x.shape[2]):
                x[b, i, h] = kept(max(read(x[b, i, h]) + bias[h], np.float32(0)), x[b, i, h])


@loop(fastmath=True)
def loop_of_rectify_backward(gradient, out, through, to_bias):
    for b in range(out.shape[0]):
        for i in range(out.shape[1]):
            for h in range(out.shape[2]):
                passed = read(gradient[b, i, h]) if read(out[b, i, h]) > 0 else np.float32(0)
                through[b, i, h] = kept(passed, through[b, i, h])
                to_bias[h] += passed


def _stacked(*tensors: Tensor) -> Tensor:
    return tensors[0] if len(tensors) == 1 else torch.cat(tensors)


def _lowered(weight: Tensor, precision: torch.dtype) -> Tensor:
    return weight.detach().to(precision)


def is_plain(each: nn.Module) -> bool:
    """True for a linear map that does nothing but its product: no hooks, no other forward."""
    plain = (type(each) is nn.Linear or "plain" in vars(type(each))) and "forward" not in vars(each)
    hooks = each._forward_hooks or each._forward_pre_hooks or each._backward_hooks or each._backward_pre_hooks
    return plain and not hooks
