"""What a decoder of pointers does: w . max(p_i, q_j + pairs_ji + channels_ji W)."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.ops.compiled import Blocks, add_product, apply, arrays, compiled, loop, zeros
from rnar.ops.linear_relu import loop_of_add_and_rectify, loop_of_rectify_backward
from rnar.ops.numbers import kept, read


def max_dot(p: Tensor, q: Tensor, pairs: Tensor, channels: Tensor, weight: Tensor, w: Tensor) -> Tensor:
    """w . max(p_i, q_j + pairs_ji + channels_ji W): [B, i, j] of p, q [B, N, H], pairs [B, j, i, H], W [C, H]"""
    if compiled(pairs):
        return apply(_MaxDot, p, q, pairs, channels, weight, w)
    return torch.maximum(p[:, :, None], (q[:, :, None] + pairs + channels @ weight).transpose(1, 2)) @ w


def max_dot_rectified(
    p: Tensor,
    q: Tensor,
    few: Tensor,
    out: Tensor,
    bias: Tensor,
    layer: Tensor,
    channels: Tensor,
    weight: Tensor,
    w: Tensor,
    precision: torch.dtype | None = None,
) -> Tensor:
    """`max_dot` of pairs = V relu(U few + b), made in this precision, of few [B, j, i, F], U [G, F], V [H, G]"""
    if compiled(few):
        return apply(_MaxDotRectified, precision or few.dtype, p, q, few, out, bias, layer, channels, weight, w)
    few, out, bias, layer = (x.to(precision or x.dtype) for x in (few, out, bias, layer))
    pairs = torch.relu_(torch.nn.functional.linear(few, out, bias)) @ layer.T
    return max_dot(p, q, pairs, channels, weight, w)


class _MaxDot(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Tensor:
        p, q, pairs, channels, weight, w = inputs = [x.contiguous() for x in tensors]
        batch, rows, columns, _ = pairs.shape
        out = p.new_empty(batch, columns, rows)
        loop_of_max_dot(*arrays(pairs, p, q, channels, weight, w, out))
        ctx.save_for_backward(*inputs)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        p, q, pairs, channels, weight, w = ctx.saved_tensors
        to_p, to_q, to_weight, to_w = zeros(p, q, weight, w)
        to_pairs, to_channels = torch.empty_like(pairs), torch.empty_like(channels)
        given, to_others = (
            (gradient.contiguous(), p, q, channels, weight, w),
            (to_p, to_q, to_channels, to_weight, to_w),
        )
        loop_of_max_dot_backward(*arrays(to_pairs, pairs, *given, *to_others))
        return to_p, to_q, to_pairs, to_channels, to_weight, to_w


class _MaxDotRectified(torch.autograd.Function):
    """Keeps V relu(U few + b); relu(U few + b) is quickly made again."""

    @staticmethod
    def forward(ctx: Any, precision: torch.dtype, *tensors: Tensor) -> Tensor:
        inputs = [x.contiguous().to(precision if k in (2, 3, 5) else x.dtype) for k, x in enumerate(tensors)]
        p, q, few, out, bias, layer, channels, weight, w = inputs
        batch, js, others, _ = few.shape
        found, pairs = p.new_empty(batch, others, js), few.new_empty(batch, js, others, len(layer))
        blocks, to_rectified, across = Blocks(batch, js * others, few.dtype), out.T, layer.T
        rectified, of_rectified = blocks.space(few, len(out))
        r, b = arrays(rectified, bias)
        inputs_of = arrays(pairs, p, q, channels)
        W, D, F = arrays(weight, w, found)
        for k, of_f, of_r, of_y in zip(blocks.slices, blocks.rows(few), of_rectified, blocks.rows(pairs), strict=True):
            torch.mm(of_f, to_rectified, out=of_r)
            loop_of_add_and_rectify(r[: k.stop - k.start], b)
            torch.mm(of_r, across, out=of_y)
            loop_of_max_dot(*(x[k] for x in inputs_of), W, D, F[k])
        ctx.save_for_backward(*inputs, pairs)
        return found

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        *inputs, pairs = ctx.saved_tensors
        p, q, few, out, bias, layer, channels, weight, w = inputs
        batch, js, others, _ = few.shape
        found = zeros(p, q, out, bias, layer, channels, weight, w)
        found.insert(2, torch.empty_like(few))
        to_p, to_q, to_few, to_out, to_bias, to_layer, to_channels, to_weight, to_w = found
        blocks, across = Blocks(batch, js * others, few.dtype), out.T
        (to_pairs, of_y), (rectified, of_r) = blocks.space(few, len(layer)), blocks.space(few, len(out))
        (to_rectified, of_s), (through, of_t) = blocks.space(few, len(out)), blocks.space(few, len(out))
        Y, R, S, T = arrays(to_pairs.view(-1, js, others, len(layer)), rectified, to_rectified, through)
        inputs_of = arrays(pairs, gradient.contiguous(), p, q, channels)
        W, D, B, to_P, to_Q, to_C, to_W, to_D, to_B = arrays(
            weight, w, bias, to_p, to_q, to_channels, to_weight, to_w, to_bias
        )
        rows = zip(blocks.slices, blocks.rows(few), blocks.rows(to_few), of_y, of_r, of_s, of_t, strict=True)
        for k, x, to_x, y, r, s, t in rows:
            count = k.stop - k.start
            loop_of_max_dot_backward(
                Y[:count], *(array[k] for array in inputs_of), W, D, to_P[k], to_Q[k], to_C[k], to_W, to_D
            )
            torch.mm(x, across, out=r)
            loop_of_add_and_rectify(R[:count], B)
            add_product(to_layer, y.T, r)
            torch.mm(y, layer, out=s)
            loop_of_rectify_backward(S[:count], R[:count], T[:count], to_B)
            add_product(to_out, t.T, x)
            torch.mm(t, out, out=to_x)
        return None, *found


@loop(fastmath=True)
def loop_of_max_dot(pairs, p, q, channels, weight, w, out):
    batch, js, others, size = pairs.shape
    second = np.empty(size, np.float32)
    for b in range(batch):
        for j in range(js):
            for i in range(others):
                for h in range(size):
                    second[h] = q[b, j, h] + read(pairs[b, j, i, h])
                for c in range(channels.shape[3]):
                    x = channels[b, j, i, c]
                    if x != 0:
                        for h in range(size):
                            second[h] += x * weight[c, h]
                total = np.float32(0)
                for h in range(size):
                    total += w[h] * max(p[b, i, h], second[h])
                out[b, i, j] = total


@loop(fastmath=True)
def loop_of_max_dot_backward(
    to_pairs, pairs, gradient, p, q, channels, weight, w, to_p, to_q, to_channels, to_weight, to_w
):
    batch, js, others, size = pairs.shape
    second = np.empty(size, np.float32)
    through = np.empty(size, np.float32)
    for b in range(batch):
        for j in range(js):
            for i in range(others):
                g = gradient[b, i, j]
                for h in range(size):
                    second[h] = q[b, j, h] + read(pairs[b, j, i, h])
                for c in range(channels.shape[3]):
                    x = channels[b, j, i, c]
                    if x != 0:
                        for h in range(size):
                            second[h] += x * weight[c, h]
                for h in range(size):
                    through[h] = g * w[h] if second[h] > p[b, i, h] else np.float32(0)
                for h in range(size):
                    to_p[b, i, h] += g * w[h] - through[h]
                for h in range(size):
                    to_w[h] += g * max(second[h], p[b, i, h])
                for h in range(size):
                    to_q[b, j, h] += through[h]
                for h in range(size):
                    to_pairs[b, j, i, h] = kept(through[h], to_pairs[b, j, i, h])
                for c in range(channels.shape[3]):
                    x = channels[b, j, i, c]
                    total = np.float32(0)
                    for h in range(size):
                        total += through[h] * weight[c, h]
                    to_channels[b, j, i, c] = total
                    if x != 0:
                        for h in range(size):
                            to_weight[c, h] += x * through[h]
