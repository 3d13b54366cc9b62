"""What a decoder of pointers of pairs by triplets does: w . relu of all that is known of three nodes."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.common.compiling import entry_point
from rnar.functional.compiled import arrays, portions
from rnar.functional.triples import add_to_six, coded, loops_for, six


def relu_dot_triples(x: Tensor, y: Tensor, z: Tensor, pointers: Tensor, codes: Tensor, w: Tensor) -> Tensor:
    """w . relu(x_ij + y_ik + z_jk + sum_ps P_p[s(i, j, k)] V_ps): [B, i, j, k] of x, y, z [B, ., ., D], w [D].

    P [B, K, N, N, N] are pointers of pairs, with six codes each for the six orders s, V [K, 6, D]. The loops make no
    [B, i, j, k, D].
    """
    if loops_for(x, pointers):
        return _ReluDotTriples.apply(x, y, z, pointers, codes, w)  # type: ignore[no-any-return]
    rows = []
    for some in portions(x.shape[1], x[:, 0].numel() * x.shape[2]):  # not all at once
        total = x[:, some, :, None] + y[:, some, None] + z[:, None] + coded(pointers, codes, some)
        rows.append(torch.relu(total) @ w)
    return torch.cat(rows, dim=1)


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
