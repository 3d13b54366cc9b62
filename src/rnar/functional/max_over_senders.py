"""The maximum of messages over their senders."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.functional.affine import Affine, Features, computed
from rnar.functional.compiled import Blocks, apply, arrays, compiled, loop
from rnar.functional.numbers import read


def max_over_senders(messages: Features) -> Tensor:
    """max_i m_ij: [B, i, j, H] -> [B, j, H]; messages that are a linear map W x + b of a tensor are never kept."""
    if isinstance(messages, Affine) and messages.weight is not None and compiled(messages.x):
        best = apply(_MaxOfLinear, messages.x, messages.weight)
        return best if messages.bias is None else best + messages.bias  # b is the same for all senders
    return computed(messages).amax(dim=1)


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


@loop
def loop_of_max_over_senders(messages, best, arg):
    batch, senders, receivers, size = messages.shape
    chosen = np.empty(size, np.int32)  # as wide as what is compared, for a loop that vectorises
    for b in range(batch):
        for j in range(receivers):
            for h in range(size):
                best[b, j, h] = read(messages[b, 0, j, h])
                chosen[h] = 0
            for i in range(1, senders):
                for h in range(size):
                    message = read(messages[b, i, j, h])
                    better = message > best[b, j, h]
                    best[b, j, h] = message if better else best[b, j, h]
                    chosen[h] = np.int32(i) if better else chosen[h]
            for h in range(size):
                arg[b, j, h] = chosen[h]


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
