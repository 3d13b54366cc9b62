"""A linear map and a relu."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.ops.compiled import apply, arrays, compiled, loop
from rnar.ops.numbers import kept, read


def linear_relu(x: Tensor, weight: Tensor, bias: Tensor, precision: torch.dtype | None = None) -> Tensor:
    """relu(W x + b): [..., H] of x [..., I], W [H, I]. The product, and what comes out, is in this precision."""
    precision = precision or x.dtype
    if compiled(x):
        return apply(_LinearRelu, x, weight, bias, precision)
    return torch.relu_(torch.nn.functional.linear(*(y.to(precision) for y in (x, weight, bias))))


class _LinearRelu(torch.autograd.Function):
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
