"""A linear map and a relu."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.common.compiling import entry_point
from rnar.ops.compiled import arrays, compiled


def linear_relu(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """relu(W x + b): [..., H] of x [..., I], W [H, I]"""
    if compiled(x):
        return _LinearRelu.apply(x, weight, bias)  # type: ignore[no-any-return]
    return torch.relu_(torch.nn.functional.linear(x, weight, bias))


class _LinearRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:  # type: ignore[override]
        flat = x.reshape(1, -1, x.shape[-1])
        out = flat @ weight.T
        loop_of_add_and_rectify(*arrays(out, bias))
        ctx.save_for_backward(flat, weight, out)
        return out.view(*x.shape[:-1], len(weight))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # type: ignore[override]
        flat, weight, out = ctx.saved_tensors
        through, to_bias = torch.empty_like(out), out.new_zeros(len(weight))
        loop_of_rectify_backward(*arrays(gradient.reshape(out.shape).contiguous(), out, through, to_bias))
        to_x = torch.mm(through[0], weight).view(*gradient.shape[:-1], flat.shape[2])
        return to_x, torch.mm(through[0].T, flat[0]), to_bias


@entry_point
def loop_of_add_and_rectify(x, bias):
    """x <- relu(x + b)"""
    for b in range(x.shape[0]):
        for i in range(x.shape[1]):
            for h in range(x.shape[2]):
                x[b, i, h] = max(x[b, i, h] + bias[h], np.float32(0))


@entry_point(fastmath=True)
def loop_of_rectify_backward(gradient, out, through, to_bias):
    for b in range(out.shape[0]):
        for i in range(out.shape[1]):
            for h in range(out.shape[2]):
                through[b, i, h] = gradient[b, i, h] if out[b, i, h] > 0 else np.float32(0)
                to_bias[h] += through[b, i, h]
