"""What a decoder of pointers of edges does: w . max(pairs_ij, r_k)."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.common.compiling import entry_point
from rnar.functional.compiled import apply, arrays, compiled, portions


def max_dot_triples(pairs: Tensor, r: Tensor, w: Tensor) -> Tensor:
    """w . max(pairs_ij, r_k): [B, i, j, k] of pairs [B, i, j, H] and r [B, N, H]"""
    if compiled(pairs):
        return apply(_MaxDotTriples, pairs, r, w)
    parts = portions(pairs.shape[1], pairs[:, 0].numel() * r.shape[1])  # not all at once
    return torch.cat([torch.maximum(pairs[:, some, :, None], r[:, None, None]) @ w for some in parts], dim=1)


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
