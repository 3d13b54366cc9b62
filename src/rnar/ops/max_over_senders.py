"""The maximum of messages over their senders."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.common.compiling import entry_point
from rnar.ops.compiled import apply, arrays, compiled, loop
from rnar.ops.numbers import read


def max_over_senders(messages: Tensor) -> Tensor:
    """max_i m_ij: [B, i, j, H] -> [B, j, H]"""
    if compiled(messages):
        return apply(_MaxOverSenders, messages)
    return messages.max(dim=1).values


class _MaxOverSenders(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, messages: Tensor) -> Tensor:  # type: ignore[override]
        batch, _, receivers, size = messages.shape
        best = messages.new_empty(batch, receivers, size)
        arg = torch.empty(best.shape, dtype=torch.int16)
        loop_of_max_over_senders(*arrays(messages.contiguous(), best, arg))
        ctx.save_for_backward(arg)
        ctx.shape = messages.shape
        return best

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:  # type: ignore[override]
        (arg,) = ctx.saved_tensors
        to_messages = gradient.new_empty(ctx.shape)
        loop_of_max_over_senders_backward(*arrays(gradient.contiguous(), arg, to_messages))
        return to_messages


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


@entry_point
def loop_of_max_over_senders_backward(gradient, arg, to_messages):
    batch, senders, receivers, size = to_messages.shape
    for b in range(batch):
        for i in range(senders):
            for j in range(receivers):
                for h in range(size):
                    to_messages[b, i, j, h] = gradient[b, j, h] if arg[b, j, h] == i else np.float32(0)
