"""What a decoder of pointers does: w . max(p_i, q_j + V e_ji)."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.common.compiling import entry_point
from rnar.functional.affine import Affine, Concatenated, Edges, is_plain, linears
from rnar.functional.compiled import Blocks, add_product, apply, arrays, compiled, loop, portions, zeros
from rnar.functional.numbers import kept, read
from rnar.functional.relu import loop_of_add_and_rectify, loop_of_rectify_backward
from rnar.functional.scope import precision_of


def max_dot(p: Tensor, q: Tensor, edges: Edges, layer: Any, w: Tensor) -> Tensor:
    """w . max(p_i, q_j + V e_ji + b): [B, i, j] of p, q [B, N, H], edges e [B, j, i, F], w [H]; `layer` has V and b."""
    fused = compiled(p) and is_plain(layer)
    if fused and isinstance(edges, Concatenated):
        channels, of_relu = edges.parts_of(layer.weight, layer.bias)
        few = edges.relu.x, edges.relu.layer.weight, edges.relu.layer.bias, of_relu
    elif fused and isinstance(edges, Affine) and edges.x.shape[-1] < len(w):
        channels, x = edges.then(layer.weight, layer.bias), edges.x
        few = x[..., :0], x.new_empty(0, 0), x.new_empty(0), x.new_empty(len(w), 0)
    else:
        return torch.maximum(p[:, :, None], (q[:, :, None] + linears(edges, layer)[0]).transpose(1, 2)) @ w
    assert channels.weight is not None
    if channels.bias is not None:
        q = q + channels.bias
    return apply(_MaxDot, precision_of(w), p, q, *few, channels.x, channels.weight.T, w)


def max_dot_triples(pairs: Tensor, r: Tensor, w: Tensor) -> Tensor:
    """w . max(pairs_ij, r_k): [B, i, j, k] of pairs [B, i, j, H] and r [B, N, H]"""
    if compiled(pairs):
        return apply(_MaxDotTriples, pairs, r, w)
    parts = portions(pairs.shape[1], pairs[:, 0].numel() * r.shape[1])  # not all at once
    return torch.cat([torch.maximum(pairs[:, some, :, None], r[:, None, None]) @ w for some in parts], dim=1)


class _MaxDot(torch.autograd.Function):
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


class _MaxDotTriples(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Tensor:
        pairs, r, w = inputs = [x.contiguous() for x in tensors]
        out = pairs.new_empty(*pairs.shape[:3], r.shape[1])
        loop_of_max_dot_triples(*arrays(*inputs, out))
        ctx.save_for_backward(*inputs)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        inputs = ctx.saved_tensors
        found = tuple(torch.zeros_like(x) for x in inputs)
        loop_of_max_dot_triples_backward(*arrays(gradient.contiguous(), *inputs, *found))
        return found


@entry_point(fastmath=True)
def loop_of_max_dot_triples(pairs, r, w, out):
    batch, rows, columns, size = pairs.shape
    for b in range(batch):
        for i in range(rows):
            for j in range(columns):
                for k in range(r.shape[1]):
                    total = np.float32(0)
                    for h in range(size):
                        total += w[h] * max(pairs[b, i, j, h], r[b, k, h])
                    out[b, i, j, k] = total


@entry_point(fastmath=True)
def loop_of_max_dot_triples_backward(gradient, pairs, r, w, to_pairs, to_r, to_w):
    batch, rows, columns, size = pairs.shape
    through = np.empty(size, np.float32)
    for b in range(batch):
        for i in range(rows):
            for j in range(columns):
                for k in range(r.shape[1]):
                    g = gradient[b, i, j, k]
                    for h in range(size):
                        through[h] = g * w[h] if pairs[b, i, j, h] >= r[b, k, h] else np.float32(0)
                    for h in range(size):
                        to_r[b, k, h] += g * w[h] - through[h]
                    for h in range(size):
                        to_w[h] += g * max(pairs[b, i, j, h], r[b, k, h])
                    for h in range(size):
                        to_pairs[b, i, j, h] += through[h]
