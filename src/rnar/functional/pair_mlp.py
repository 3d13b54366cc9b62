"""Messages of pairs: a linear map of channels and both ends, and a layer, each with a relu."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.functional.affine import Affine, Features, computed, is_plain
from rnar.functional.compiled import Blocks, add_product, apply, arrays, compiled, loop, zeros
from rnar.functional.numbers import kept, read
from rnar.functional.relu import linear_relu, loop_of_add_and_rectify, loop_of_rectify_backward
from rnar.functional.scope import precision_of


def pair_mlp(edges: Features, sender: Tensor, receiver: Tensor, layer: Any) -> Tensor:
    """relu(V relu(sender_i + receiver_j + edges_ij) + b): [B, i, j, O] of edges [B, i, j, H], with `layer` V and b.

    The product with V, and what comes out, may be in a lower precision.
    """
    weight, bias = layer.weight, layer.bias
    if not is_plain(layer):
        return torch.relu(layer(torch.relu(computed(edges) + sender[:, :, None] + receiver[:, None])))
    if isinstance(edges, Affine) and edges.weight is not None and compiled(edges.x):
        if edges.bias is not None:
            receiver = receiver + edges.bias
        return apply(_PairMLP, precision_of(weight), edges.x, edges.weight.T, sender, receiver, weight, bias)
    return linear_relu(torch.relu(computed(edges) + sender[:, :, None] + receiver[:, None]), weight, bias)


class _PairMLP(torch.autograd.Function):
    """Keeps what comes out; what lies between is made again more quickly than it is read from memory."""

    @staticmethod
    def forward(ctx: Any, precision: torch.dtype, *tensors: Tensor) -> Tensor:
        channels, weight, sender, receiver, layer, bias = inputs = [x.contiguous() for x in tensors]
        batch, nodes, others, _ = channels.shape
        size, width = weight.shape[1], len(layer)
        layer = layer.to(precision)
        found = layer.new_empty(batch, nodes, others, width)
        blocks, across = Blocks(batch, nodes * others, precision), layer.T
        between, of_between = blocks.space(found, size)
        c, w, s, r, _, b, y = arrays(*inputs, found.view(batch, nodes * others, width))
        (x,) = arrays(between.view(-1, nodes, others, size))
        for k, of_x, of_y in zip(blocks.slices, of_between, blocks.rows(found), strict=True):
            loop_of_pair_messages(x[: k.stop - k.start], c[k], w, s[k], r[k])
            torch.mm(of_x, across, out=of_y)
            loop_of_add_and_rectify(y[k], b)
        ctx.save_for_backward(channels, weight, sender, receiver, layer, found)
        return found

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        channels, weight, sender, receiver, layer, found = ctx.saved_tensors
        batch, nodes, others, width = found.shape
        size, flat = weight.shape[1], (batch, nodes * others, width)
        to_sender, to_receiver, to_layer, to_weight, to_bias = zeros(sender, receiver, layer, weight, layer[:, 0])
        to_channels = torch.empty_like(channels)
        blocks = Blocks(batch, nodes * others, found.dtype)
        (through, of_through), (between, of_between) = blocks.space(found, width), blocks.space(found, size)
        to_between, of_to_between = blocks.space(found, size)
        g, c, w, s, r, y, t = arrays(
            gradient.contiguous().view(flat), channels, weight, sender, receiver, found.view(flat), through
        )
        x, u = arrays(between.view(-1, nodes, others, size), to_between.view(-1, nodes, others, size))
        to_c, to_w, to_s, to_r, to_b = arrays(to_channels, to_weight, to_sender, to_receiver, to_bias)
        for k, of_t, of_x, of_u in zip(blocks.slices, of_through, of_between, of_to_between, strict=True):
            n = k.stop - k.start
            loop_of_pair_messages(x[:n], c[k], w, s[k], r[k])
            loop_of_rectify_backward(g[k], y[k], t[:n], to_b)
            torch.mm(of_t, layer, out=of_u)
            add_product(to_layer, of_t.T, of_x)
            loop_of_pair_messages_backward(u[:n], c[k], w, x[:n], to_c[k], to_w, to_s[k], to_r[k])
        return None, to_channels, to_weight, to_sender, to_receiver, to_layer, to_bias


@loop(fastmath=True)
def loop_of_pair_messages(out, channels, weight, sender, receiver):
    batch, nodes, others, count = channels.shape
    size = weight.shape[1]
    total = np.empty(size, np.float32)
    for b in range(batch):
        for i in range(nodes):
            for j in range(others):
                for h in range(size):
                    total[h] = sender[b, i, h] + receiver[b, j, h]
                for c in range(count):
                    x = channels[b, i, j, c]
                    if x != 0:  # most pointers and masks are
                        for h in range(size):
                            total[h] += x * weight[c, h]
                for h in range(size):
                    out[b, i, j, h] = kept(max(total[h], np.float32(0)), out[b, i, j, h])


@loop(fastmath=True)
def loop_of_pair_messages_backward(gradient, channels, weight, out, to_channels, to_weight, to_sender, to_receiver):
    """Short loops over few arrays each: a compiler that must fear that many overlap does not vectorise."""
    batch, nodes, others, count = channels.shape
    size = weight.shape[1]
    g = np.empty(size, np.float32)
    for b in range(batch):
        for i in range(nodes):
            for j in range(others):
                for h in range(size):
                    g[h] = read(gradient[b, i, j, h]) if read(out[b, i, j, h]) > 0 else np.float32(0)
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
