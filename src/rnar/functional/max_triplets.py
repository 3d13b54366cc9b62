"""The maximum over a node of messages of three nodes."""

from functools import reduce
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.common.compiling import entry_point
from rnar.functional.affine import Affine, Features, computed
from rnar.functional.compiled import apply, arrays, compiled, portions, zeros


def max_triplets(a: Tensor, b: Tensor, c: Tensor, edges: Features) -> Tensor:
    """max_a (a_a + b_b + c_c + x_ab + y_ac + z_bc): [B, b, c, F] of nodes [B, N, F], edges x || y || z [B, N, N, 3F].

    The [B, a, b, c, F] is never made on CPUs; elsewhere a part of it at a time.
    """
    if isinstance(edges, Affine) and edges.weight is not None and compiled(edges.x):
        if edges.bias is not None:
            c = c + reduce(torch.add, edges.bias.chunk(3))
        return apply(_MaxTriplets, edges.x, edges.weight.T, a, b, c)
    x, y, z = computed(edges).chunk(3, dim=-1)
    x = x + a[:, :, None]
    parts = portions(x.shape[1], x[:, 0].numel() * y.shape[2])
    best = reduce(torch.maximum, ((x[:, some, :, None] + y[:, some, None]).max(dim=1).values for some in parts))
    return best + z + b[:, :, None] + c[:, None]


class _MaxTriplets(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Tensor:
        channels, weight, a, b, c = inputs = [x.contiguous() for x in tensors]
        best = channels.new_empty(*channels.shape[:3], a.shape[2])
        arg = torch.empty(best.shape, dtype=torch.int16)
        loop_of_max_triplets(*arrays(*inputs, best, arg))
        ctx.save_for_backward(channels, weight, arg)
        return best

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        channels, weight, arg = ctx.saved_tensors
        to_channels, each = torch.empty_like(channels), gradient[:, 0]
        to_weight, *to_nodes = zeros(weight, each, each, each)
        loop_of_max_triplets_backward(
            *arrays(gradient.contiguous(), channels, weight, arg, to_channels, to_weight, *to_nodes)
        )
        return to_channels, to_weight, *to_nodes


@entry_point
def loop_of_max_triplets(channels, weight, a, b, c, best, arg):
    batch, nodes, _, count = channels.shape
    features = a.shape[2]
    pairs = np.empty((3, nodes, nodes, features), np.float32)
    x, y = pairs[0], pairs[1].reshape(nodes, nodes * features)
    wide = np.empty((nodes, features), np.float32)  # the same for each c: then one long loop does for all
    chosen = np.empty((nodes, features), np.int32)
    repeated, pick, row = wide.reshape(-1), chosen.reshape(-1), nodes * features
    for k in range(batch):
        for i in range(nodes):
            for j in range(nodes):
                for f in range(features):
                    pairs[0, i, j, f] = a[k, i, f]
                    pairs[1, i, j, f] = np.float32(0)
                    pairs[2, i, j, f] = b[k, i, f] + c[k, j, f]
                for q in range(count):
                    value = channels[k, i, j, q]
                    if value != 0:
                        for part in range(3):
                            for f in range(features):
                                pairs[part, i, j, f] += value * weight[q, part * features + f]
        for i in range(nodes):
            found = best[k, i].reshape(row)
            for other in range(nodes):
                for j in range(nodes):
                    for f in range(features):
                        wide[j, f] = x[other, i, f]
                if other == 0:
                    for f in range(row):
                        found[f] = repeated[f] + y[0, f]
                        pick[f] = 0
                else:
                    for f in range(row):
                        candidate = repeated[f] + y[other, f]
                        better = candidate > found[f]
                        found[f] = candidate if better else found[f]
                        pick[f] = np.int32(other) if better else pick[f]
            for j in range(nodes):
                for f in range(features):
                    best[k, i, j, f] += pairs[2, i, j, f]
                    arg[k, i, j, f] = chosen[j, f]


@entry_point(fastmath=True)
def loop_of_max_triplets_backward(gradient, channels, weight, arg, to_channels, to_weight, to_a, to_b, to_c):
    batch, nodes, _, count = channels.shape
    features = gradient.shape[3]
    to_pairs = np.empty((nodes, nodes, 3 * features), np.float32)
    for k in range(batch):
        to_pairs[:] = 0
        for i in range(nodes):
            for j in range(nodes):
                for f in range(features):
                    g = gradient[k, i, j, f]
                    chosen = np.uint64(arg[k, i, j, f])
                    to_pairs[chosen, i, f] += g
                    to_pairs[chosen, j, features + f] += g
                    to_pairs[i, j, 2 * features + f] += g
                    to_a[k, chosen, f] += g
                    to_b[k, i, f] += g
                    to_c[k, j, f] += g
        for i in range(nodes):
            for j in range(nodes):
                for q in range(count):
                    value = channels[k, i, j, q]
                    total = np.float32(0)
                    for f in range(3 * features):
                        total += to_pairs[i, j, f] * weight[q, f]
                    to_channels[k, i, j, q] = total
                    if value != 0:
                        for f in range(3 * features):
                            to_weight[q, f] += value * to_pairs[i, j, f]
