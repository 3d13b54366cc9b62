"""Pointers of pairs, from (i, j) to k, as a feature of three nodes: in all orders of the three, for each may matter.

Pointers are P [B, K, N, N, N], probabilities that a pair points at a node; each has six codes, W [K, 6, F].
"""

from functools import reduce
from itertools import permutations
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.common.compiling import entry_point, kernel
from rnar.functional.compiled import arrays, compiled, portions

ORDERS = tuple(permutations(range(3)))
"""by which of (a, b, c) each axis of a pointer is indexed: P[a, b, c], P[a, c, b], P[b, a, c], ..."""


def coded(pointers: Tensor, codes: Tensor, some: slice) -> Tensor:
    """sum_ps P_p[s(a, b, c)] W_ps of some a: [B, a, b, c, F]"""
    views = [pointers.permute(0, 1, *(2 + order.index(k) for k in range(3)))[:, :, some] for order in ORDERS]
    return torch.einsum("sbpaij,psf->baijf", torch.stack(views), codes)


def max_plus_triples(x: Tensor, y: Tensor, pointers: Tensor, codes: Tensor) -> Tensor:
    """max_a (x_ab + y_ac + sum_ps P_p[s(a, b, c)] W_ps): [B, b, c, F] of x, y [B, a, ., F], s over all six orders.

    The [B, a, b, c, F] is never made on CPUs; elsewhere a part of it at a time.
    """
    if compiled(x) and pointers.shape[1] == 1:  # as all tasks of the benchmark have it
        return _MaxPlusTriples.apply(x, y, pointers, codes)  # type: ignore[no-any-return]
    parts = portions(x.shape[1], x[:, 0].numel() * x.shape[2])
    totals = (x[:, some, :, None] + y[:, some, None] + coded(pointers, codes, some) for some in parts)
    return reduce(torch.maximum, (total.max(dim=1).values for total in totals))


def relu_dot_triples(x: Tensor, y: Tensor, z: Tensor, pointers: Tensor, codes: Tensor, w: Tensor) -> Tensor:
    """w . relu(x_ij + y_ik + z_jk + sum_ps P_p[s(i, j, k)] V_ps): [B, i, j, k] of x, y, z [B, ., ., D], w [D]"""
    if compiled(x) and pointers.shape[1] == 1:
        return _ReluDotTriples.apply(x, y, z, pointers, codes, w)  # type: ignore[no-any-return]
    parts = portions(x.shape[1], x[:, 0].numel() * x.shape[2])  # not all at once
    totals = (x[:, some, :, None] + y[:, some, None] + z[:, None] + coded(pointers, codes, some) for some in parts)
    return torch.cat([torch.relu(total) @ w for total in totals], dim=1)


class _MaxPlusTriples(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, pointers: Tensor, codes: Tensor) -> Tensor:  # type: ignore[override]
        x, y, pointer, codes = (each.contiguous() for each in (x, y, pointers[:, 0], codes[0]))
        best = torch.empty_like(x)
        arg = torch.empty(best.shape, dtype=torch.int16)
        loop_of_max_plus_triples(*arrays(x, y, pointer, codes, best, arg))
        ctx.save_for_backward(pointer, codes, arg)
        return best

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        pointer, codes, arg = ctx.saved_tensors
        gradient = gradient.contiguous()
        to_x, to_y, to_pointer, to_codes = found = [
            torch.zeros_like(each) for each in (gradient, gradient, pointer, codes)
        ]
        loop_of_max_plus_triples_backward(*arrays(gradient, pointer, codes, arg, *found))
        return to_x, to_y, to_pointer[:, None], to_codes[None]


@entry_point(fastmath=True)
def loop_of_max_plus_triples(x, y, pointer, codes, best, arg):
    batch, nodes, _, features = x.shape
    wide = np.empty((nodes, features), np.float32)
    chosen = np.empty((nodes, features), np.int32)
    candidate, pick, row = wide.reshape(-1), chosen.reshape(-1), nodes * features  # long loops do for all c
    for s in range(batch):
        for b in range(nodes):
            found = best[s, b].reshape(row)
            for a in range(nodes):
                for c in range(nodes):
                    p0, p1, p2, p3, p4, p5 = six(pointer, s, a, b, c)
                    for f in range(features):
                        total = p0 * codes[0, f] + p1 * codes[1, f] + p2 * codes[2, f]
                        total += p3 * codes[3, f] + p4 * codes[4, f] + p5 * codes[5, f]
                        wide[c, f] = total + x[s, a, b, f] + y[s, a, c, f]
                if a == 0:
                    for f in range(row):
                        found[f] = candidate[f]
                        pick[f] = 0
                else:
                    for f in range(row):
                        better = candidate[f] > found[f]
                        found[f] = candidate[f] if better else found[f]
                        pick[f] = np.int32(a) if better else pick[f]
            for c in range(nodes):
                for f in range(features):
                    arg[s, b, c, f] = chosen[c, f]


@entry_point(fastmath=True)
def loop_of_max_plus_triples_backward(gradient, pointer, codes, arg, to_x, to_y, to_pointer, to_codes):
    """All goes to the a that was chosen: there is little to do."""
    batch, nodes, _, features = gradient.shape
    for s in range(batch):
        for b in range(nodes):
            for c in range(nodes):
                for f in range(features):
                    g = gradient[s, b, c, f]
                    a = np.uint64(arg[s, b, c, f])
                    to_x[s, a, b, f] += g
                    to_y[s, a, c, f] += g
                    for order, value in enumerate(six(pointer, s, a, b, c)):
                        to_codes[order, f] += g * value
                    add_to_six(
                        to_pointer, s, a, b, c,
                        g * codes[0, f], g * codes[1, f], g * codes[2, f],
                        g * codes[3, f], g * codes[4, f], g * codes[5, f],
                    )  # fmt: skip


class _ReluDotTriples(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Tensor:
        x, y, z, pointers, codes, w = tensors
        inputs = [each.contiguous() for each in (x, y, z, pointers[:, 0], codes[0], w)]
        out = torch.empty_like(inputs[3])
        loop_of_relu_dot_triples(*arrays(*inputs, out))
        ctx.save_for_backward(*inputs)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        inputs = ctx.saved_tensors
        found = [torch.zeros_like(each) for each in inputs]
        loop_of_relu_dot_triples_backward(*arrays(gradient.contiguous(), *inputs, *found))
        to_x, to_y, to_z, to_pointer, to_codes, to_w = found
        return to_x, to_y, to_z, to_pointer[:, None], to_codes[None], to_w


@entry_point(fastmath=True)
def loop_of_relu_dot_triples(x, y, z, pointer, codes, w, out):
    batch, nodes, _, size = x.shape
    for s in range(batch):
        for i in range(nodes):
            for j in range(nodes):
                for k in range(nodes):
                    p0, p1, p2, p3, p4, p5 = six(pointer, s, i, j, k)
                    logit = np.float32(0)
                    for d in range(size):  # it stores nothing, and so vectorises
                        total = x[s, i, j, d] + y[s, i, k, d] + z[s, j, k, d]
                        total += p0 * codes[0, d] + p1 * codes[1, d] + p2 * codes[2, d]
                        total += p3 * codes[3, d] + p4 * codes[4, d] + p5 * codes[5, d]
                        logit += w[d] * max(total, np.float32(0))
                    out[s, i, j, k] = logit


@entry_point(fastmath=True)
def loop_of_relu_dot_triples_backward(
    gradient, x, y, z, pointer, codes, w, to_x, to_y, to_z, to_pointer, to_codes, to_w
):
    batch, nodes, _, size = x.shape
    total, through, zero = np.empty(size, np.float32), np.empty(size, np.float32), np.float32(0)
    for s in range(batch):
        for i in range(nodes):
            for j in range(nodes):
                for k in range(nodes):
                    g = gradient[s, i, j, k]
                    p0, p1, p2, p3, p4, p5 = six(pointer, s, i, j, k)
                    for d in range(size):
                        sums = x[s, i, j, d] + y[s, i, k, d] + z[s, j, k, d]
                        sums += p0 * codes[0, d] + p1 * codes[1, d] + p2 * codes[2, d]
                        total[d] = sums + p3 * codes[3, d] + p4 * codes[4, d] + p5 * codes[5, d]
                    for d in range(size):
                        to_w[d] += g * max(total[d], zero)
                    for d in range(size):
                        through[d] = g * w[d] if total[d] > 0 else zero
                    for d in range(size):
                        to_x[s, i, j, d] += through[d]
                    for d in range(size):
                        to_y[s, i, k, d] += through[d]
                    for d in range(size):
                        to_z[s, j, k, d] += through[d]
                    for d in range(size):
                        to_codes[0, d] += p0 * through[d]
                        to_codes[1, d] += p1 * through[d]
                        to_codes[2, d] += p2 * through[d]
                        to_codes[3, d] += p3 * through[d]
                        to_codes[4, d] += p4 * through[d]
                        to_codes[5, d] += p5 * through[d]
                    p0 = p1 = p2 = p3 = p4 = p5 = zero
                    for d in range(size):
                        p0 += through[d] * codes[0, d]
                        p1 += through[d] * codes[1, d]
                        p2 += through[d] * codes[2, d]
                        p3 += through[d] * codes[3, d]
                        p4 += through[d] * codes[4, d]
                        p5 += through[d] * codes[5, d]
                    add_to_six(to_pointer, s, i, j, k, p0, p1, p2, p3, p4, p5)


@kernel
def six(pointer, s, a, b, c):
    """A pointer [B, N, N, N] of sample s at three nodes, in the six orders."""
    return (
        pointer[s, a, b, c],
        pointer[s, a, c, b],
        pointer[s, b, a, c],
        pointer[s, b, c, a],
        pointer[s, c, a, b],
        pointer[s, c, b, a],
    )


@kernel
def add_to_six(pointer, s, a, b, c, x0, x1, x2, x3, x4, x5):
    """Add a number to each of those entries."""
    pointer[s, a, b, c] += x0
    pointer[s, a, c, b] += x1
    pointer[s, b, a, c] += x2
    pointer[s, b, c, a] += x3
    pointer[s, c, a, b] += x4
    pointer[s, c, b, a] += x5
