"""Layers with a ReLU: relu(W x + b), and what a narrow map makes of it without keeping it."""

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from rnar.common.compiling import entry_point
from rnar.functional.compiled import apply, arrays, compiled, loop, zeros
from rnar.functional.numbers import helper, kept, read
from rnar.functional.scope import precision_of

NARROW = 8
"""Outputs up to which loops are quicker than matrix products with all that is in between, forward and backward."""


def linear_relu(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """relu(W x + b): [..., O] of x [..., I]; the product, and what comes out, may be in a lower precision."""
    precision = precision_of(weight)
    return torch.relu_(F.linear(*(y.to(precision) for y in (x, weight, bias))))


def narrow_mlp(few: Tensor, layer: Tensor, bias: Tensor, last: Tensor) -> Tensor:
    """V relu(U x + b): [..., O] of x [..., F], U [H, F], V [O, H], for small F and O"""
    if compiled(few):
        return apply(_NarrowMLP, few, layer, bias, last)
    return torch.relu_(F.linear(few, layer, bias)) @ last.T


@loop
def loop_of_add_and_rectify(x, bias):
    """x <- relu(x + b)"""
    for b in range(x.shape[0]):
        for i in range(x.shape[1]):
            for h in range(x.shape[2]):
                x[b, i, h] = kept(max(read(x[b, i, h]) + bias[h], np.float32(0)), x[b, i, h])


@loop(fastmath=True)
def loop_of_rectify_backward(gradient, out, through, to_bias):
    for b in range(out.shape[0]):
        for i in range(out.shape[1]):
            for h in range(out.shape[2]):
                passed = read(gradient[b, i, h]) if read(out[b, i, h]) > 0 else np.float32(0)
                through[b, i, h] = kept(passed, through[b, i, h])
                to_bias[h] += passed


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
