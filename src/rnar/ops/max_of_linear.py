"""The maximum over senders of a linear map of their messages."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.ops.compiled import Blocks, apply, arrays, compiled, loop
from rnar.ops.max_over_senders import loop_of_max_over_senders
from rnar.ops.numbers import read


def max_of_linear(x: Tensor, weight: Tensor) -> Tensor:
    """max_i W x_ij: [B, j, H] of x [B, i, j, I], W [H, I]; the product is in the precision of x"""
    if compiled(x):
        return apply(_MaxOfLinear, x, weight)
    return (x @ weight.T.to(x.dtype)).max(dim=1).values.to(weight.dtype)


class _MaxOfLinear(torch.autograd.Function):
    """Its gradient goes to one sender of many: no matrix product is needed for it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:  # type: ignore[override]
        x, weight = x.contiguous(), weight.contiguous()
        batch, senders, receivers, _ = x.shape
        best = weight.new_empty(batch, receivers, len(weight))
        arg = torch.empty(best.shape, dtype=torch.int16)
        blocks, across = Blocks(batch, senders * receivers, x.dtype), weight.T.to(x.dtype)
        messages, of_messages = blocks.space(x, len(weight))
        m, to_best, to_arg = arrays(messages.view(-1, senders, receivers, len(weight)), best, arg)
        for k, of_x, of_m in zip(blocks.slices, blocks.rows(x), of_messages, strict=True):
            torch.mm(of_x, across, out=of_m)
            loop_of_max_over_senders(m[: k.stop - k.start], to_best[k], to_arg[k])
        ctx.save_for_backward(x, weight, arg)
        return best

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        x, weight, arg = ctx.saved_tensors
        to_x, to_weight = torch.zeros(x.shape), torch.zeros_like(weight)
        loop_of_max_of_linear_backward(*arrays(x, gradient.contiguous(), weight, arg, to_x, to_weight))
        return to_x.to(x.dtype), to_weight


@loop(fastmath=True)
def loop_of_max_of_linear_backward(x, gradient, weight, arg, to_x, to_weight):
    batch, receivers, size = gradient.shape
    inputs = x.shape[3]
    for b in range(batch):
        for h in range(size):
            for j in range(receivers):
                i = np.uint64(arg[b, j, h])
                g = gradient[b, j, h]
                for k in range(inputs):
                    to_x[b, i, j, k] += g * weight[h, k]
                for k in range(inputs):
                    to_weight[h, k] += g * read(x[b, i, j, k])
