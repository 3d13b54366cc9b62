"""A layer of few numbers that is read by a map to few: what is wide lies in between, and is never kept."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.common.compiling import entry_point
from rnar.functional.compiled import apply, arrays, compiled, zeros
from rnar.functional.numbers import helper

NARROW = 8
"""Outputs up to which loops are quicker than matrix products with all that is in between, forward and backward."""


def narrow_mlp(few: Tensor, layer: Tensor, bias: Tensor, last: Tensor) -> Tensor:
    """V relu(U x + b): [..., O] of x [..., F], U [H, F], V [O, H]"""
    if compiled(few):
        return apply(_NarrowMLP, few, layer, bias, last)
    return torch.relu_(torch.nn.functional.linear(few, layer, bias)) @ last.T


class _NarrowMLP(torch.autograd.Function):
    """Keeps what it read; what lies between is made again more quickly than it is read from memory."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Tensor:
        few, layer, bias, last = tensors
        inputs = [x.contiguous() for x in (few.reshape(-1, few.shape[-1]), layer.T, bias, last)]
        out = few.new_empty(*few.shape[:-1], len(last))
        loop_of_narrow_mlp(*arrays(out.view(-1, len(last)), *inputs))
        ctx.save_for_backward(*inputs)
        ctx.shape = few.shape
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        few, across, bias, last = ctx.saved_tensors
        to_few, (to_across, to_bias, to_last) = torch.empty_like(few), zeros(across, bias, last)
        gradient = gradient.reshape(-1, len(last)).contiguous()
        loop_of_narrow_mlp_backward(*arrays(gradient, few, across, bias, last, to_few, to_across, to_bias, to_last))
        return to_few.view(ctx.shape), to_across.T, to_bias, to_last


@helper
def layer_of(sums, few, r, across, bias):
    """sums <- U x + b, of row r; two inputs at a time, so that sums are read and written half as often"""
    inputs, size = across.shape
    for h in range(size):
        sums[h] = bias[h]
    for f in range(1, inputs, 2):
        x, y = few[r, f - 1], few[r, f]
        for h in range(size):
            sums[h] += x * across[f - 1, h] + y * across[f, h]
    if inputs % 2:
        x = few[r, inputs - 1]
        for h in range(size):
            sums[h] += x * across[inputs - 1, h]


@entry_point(fastmath=True)
def loop_of_narrow_mlp(out, few, across, bias, last):
    """of x [R, F], U across [F, H], b [H], V [O, H]"""
    (rows, outputs), size = out.shape, len(bias)
    sums, zero = np.empty(size, np.float32), np.float32(0)
    for r in range(rows):
        layer_of(sums, few, r, across, bias)
        for o in range(outputs):
            total = zero
            for h in range(size):
                total += last[o, h] * max(sums[h], zero)
            out[r, o] = total


@entry_point(fastmath=True)
def loop_of_narrow_mlp_backward(gradient, few, across, bias, last, to_few, to_across, to_bias, to_last):
    """Short loops over few arrays each: a compiler that must fear that many overlap does not vectorise."""
    (rows, outputs), (inputs, size) = gradient.shape, across.shape
    sums, through, zero = np.empty(size, np.float32), np.empty(size, np.float32), np.float32(0)
    for r in range(rows):
        layer_of(sums, few, r, across, bias)
        for h in range(size):
            through[h] = zero
        for o in range(outputs):
            g = gradient[r, o]
            for h in range(size):
                through[h] += g * last[o, h]
            for h in range(size):
                to_last[o, h] += g * max(sums[h], zero)
        for h in range(size):
            through[h] = through[h] if sums[h] > zero else zero
        for h in range(size):
            to_bias[h] += through[h]
        for f in range(inputs):
            x = few[r, f]
            total = zero
            for h in range(size):
                total += through[h] * across[f, h]
            to_few[r, f] = total
            for h in range(size):
                to_across[f, h] += x * through[h]
