"""Pointers of pairs, from (i, j) to k, as a feature of three nodes: in all orders of the three, for each may matter."""

from itertools import permutations

import torch
from torch import Tensor

from rnar.common.compiling import kernel
from rnar.functional.compiled import compiled

ORDERS = tuple(permutations(range(3)))
"""by which of (a, b, c) each axis of a pointer is indexed: P[a, b, c], P[a, c, b], P[b, a, c], ..."""


def in_orders(pointers: Tensor) -> list[Tensor]:
    """Views of P [B, K, N, N, N], each [B, K, a, b, c], in the six orders."""
    return [pointers.permute(0, 1, *(2 + order.index(k) for k in range(3))) for order in ORDERS]


def coded(pointers: Tensor, codes: Tensor, some: slice) -> Tensor:
    """sum_ps P_p[s(a, b, c)] W_ps of some a: [B, a, b, c, F] of P [B, K, N, N, N], W [K, 6, F]"""
    views = torch.stack([view[:, :, some] for view in in_orders(pointers)])
    return torch.einsum("sbpaij,psf->baijf", views, codes)


def loops_for(x: Tensor, pointers: Tensor) -> bool:
    """Are there compiled loops for so many pointers? Of one, as all tasks of the benchmark have it."""
    return compiled(x) and pointers.shape[1] == 1


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
