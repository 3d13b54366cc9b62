"""Messages of pairs: a linear map of channels and both ends, and a layer, each with a relu."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.common.compiling import entry_point
from rnar.ops.compiled import Blocks, arrays, compiled
from rnar.ops.linear_relu import loop_of_add_and_rectify, loop_of_rectify_backward


def pair_mlp(channels: Tensor, weight: Tensor, sender: Tensor, receiver: Tensor, layer: Tensor, bias: Tensor) -> Tensor:
    """relu(V relu(sender_i + receiver_j + channels_ij W) + b): [B, i, j, O] of W [C, H], V [O, H]"""
    if compiled(channels):
        return _PairMLP.apply(channels, weight, sender, receiver, layer, bias)  # type: ignore[no-any-return]
    pairs = channels @ weight
    pairs += sender[:, :, None]
    pairs += receiver[:, None]
    return torch.relu_(torch.nn.functional.linear(torch.relu_(pairs), layer, bias))


class _PairMLP(torch.autograd.Function):
    """Keeps what comes out; what lies between is made again more quickly than it is read from memory."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Tensor:
        channels, weight, sender, receiver, layer, bias = inputs = [x.contiguous() for x in tensors]
        batch, nodes, others, _ = channels.shape
        size, width = weight.shape[1], len(layer)
        found = sender.new_empty(batch, nodes, others, width)
        blocks, across = Blocks(batch, nodes * others), layer.T
        between, of_between = blocks.space(found, size)
        c, w, s, r, _, b, y = arrays(*inputs, found.view(batch, nodes * others, width))
        (x,) = arrays(between.view(-1, nodes, others, size))
        for k, of_x, of_y in zip(blocks.slices, of_between, blocks.rows(found), strict=True):
            loop_of_pair_messages(c[k], w, s[k], r[k], x[: k.stop - k.start])
            torch.mm(of_x, across, out=of_y)
            loop_of_add_and_rectify(y[k], b)
        ctx.save_for_backward(channels, weight, sender, receiver, layer, found)
        return found

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        channels, weight, sender, receiver, layer, found = ctx.saved_tensors
        batch, nodes, others, width = found.shape
        size, flat = weight.shape[1], (batch, nodes * others, width)
        to_sender, to_receiver, to_layer = (torch.zeros_like(x) for x in (sender, receiver, layer))
        to_channels, to_weight, to_bias = torch.empty_like(channels), torch.zeros_like(weight), layer.new_zeros(width)
        blocks = Blocks(batch, nodes * others)
        (through, of_through), (between, of_between) = blocks.space(found, width), blocks.space(found, size)
        to_between, of_to_between = blocks.space(found, size)
        g, c, w, s, r, y, t = arrays(
            gradient.contiguous().view(flat), channels, weight, sender, receiver, found.view(flat), through
        )
        x, u = arrays(between.view(-1, nodes, others, size), to_between.view(-1, nodes, others, size))
        to_c, to_w, to_s, to_r, to_b = arrays(to_channels, to_weight, to_sender, to_receiver, to_bias)
        for k, of_t, of_x, of_u in zip(blocks.slices, of_through, of_between, of_to_between, strict=True):
            n = k.stop - k.start
            loop_of_pair_messages(c[k], w, s[k], r[k], x[:n])
            loop_of_rectify_backward(g[k], y[k], t[:n], to_b)
            torch.mm(of_t, layer, out=of_u)
            to_layer.addmm_(of_t.T, of_x)
            loop_of_pair_messages_backward(u[:n], c[k], w, x[:n], to_c[k], to_w, to_s[k], to_r[k])
        return to_channels, to_weight, to_sender, to_receiver, to_layer, to_bias


@entry_point(fastmath=True)
def loop_of_pair_messages(channels, weight, sender, receiver, out):
    batch, nodes, others, count = channels.shape
    size = weight.shape[1]
    for b in range(batch):
        for i in range(nodes):
            for j in range(others):
                for h in range(size):
                    out[b, i, j, h] = sender[b, i, h] + receiver[b, j, h]
                for c in range(count):
                    x = channels[b, i, j, c]
                    if x != 0:  # most pointers and masks are
                        for h in range(size):
                            out[b, i, j, h] += x * weight[c, h]
                for h in range(size):
                    out[b, i, j, h] = max(out[b, i, j, h], np.float32(0))


@entry_point(fastmath=True)
def loop_of_pair_messages_backward(gradient, channels, weight, out, to_channels, to_weight, to_sender, to_receiver):
    """Short loops over few arrays each: a compiler that must fear that many overlap does not vectorise."""
    batch, nodes, others, count = channels.shape
    size = weight.shape[1]
    g = np.empty(size, np.float32)
    for b in range(batch):
        for i in range(nodes):
            for j in range(others):
                for h in range(size):
                    g[h] = gradient[b, i, j, h] if out[b, i, j, h] > 0 else np.float32(0)
                for h in range(size):
                    to_sender[b, i, h] += g[h]
                for h in range(size):
                    to_receiver[b, j, h] += g[h]
                for c in range(count):
                    x = channels[b, i, j, c]
                    total = np.float32(0)
                    for h in range(size):
                        total += g[h] * weight[c, h]
                    to_channels[b, i, j, c] = total
                    if x != 0:
                        for h in range(size):
                            to_weight[c, h] += x * g[h]
