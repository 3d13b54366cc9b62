"""A new state, normalised, of which a gate lets through a part."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.common.compiling import entry_point
from rnar.ops.compiled import apply, arrays, compiled, zeros
from rnar.ops.numbers import helper, sigmoid


def gated_norm(old: Tensor, x: Tensor, gate: Tensor, weight: Tensor, bias: Tensor, epsilon: float) -> Tensor:
    """(1 - g) old + g LayerNorm(x), g = sigmoid(gate): [B, N, H] of old, x and gate [B, N, H], weight and bias [H]"""
    if compiled(x):
        return apply(_GatedNorm, epsilon, old, x, gate, weight, bias)
    normed = torch.nn.functional.layer_norm(x, weight.shape, weight, bias, epsilon)
    return torch.lerp(old, normed, torch.sigmoid(gate))


class _GatedNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, epsilon: float, *tensors: Tensor) -> Tensor:
        inputs = [x.contiguous() for x in tensors]
        out = torch.empty_like(inputs[0])
        loop_of_gated_norm(*arrays(*inputs, out), epsilon)
        ctx.save_for_backward(*inputs)
        ctx.epsilon = epsilon
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        old, x, gate, weight, bias = inputs = ctx.saved_tensors
        found = [*(torch.empty_like(each) for each in (old, x, gate)), *zeros(weight, bias)]
        loop_of_gated_norm_backward(*arrays(gradient.contiguous(), *inputs, *found), ctx.epsilon)
        return None, *found


@helper
def moments(row, epsilon):
    """The mean, and by what a row is multiplied so that its variance is 1."""
    part = np.float32(1) / np.float32(len(row))
    mean = np.float32(0)
    for h in range(len(row)):
        mean += row[h]
    mean *= part
    variance = np.float32(0)
    for h in range(len(row)):
        variance += (row[h] - mean) ** 2
    return mean, np.float32(1) / np.sqrt(variance * part + np.float32(epsilon))


@entry_point(fastmath=True)
def loop_of_gated_norm(old, x, gate, weight, bias, out, epsilon):
    batch, nodes, size = x.shape
    for b in range(batch):
        for i in range(nodes):
            mean, scale = moments(x[b, i], epsilon)
            for h in range(size):
                new = (x[b, i, h] - mean) * scale * weight[h] + bias[h]
                out[b, i, h] = old[b, i, h] + sigmoid(gate[b, i, h]) * (new - old[b, i, h])


@entry_point(fastmath=True)
def loop_of_gated_norm_backward(
    gradient, old, x, gate, weight, bias, to_old, to_x, to_gate, to_weight, to_bias, epsilon
):
    batch, nodes, size = x.shape
    part = np.float32(1) / np.float32(size)
    normed = np.empty(size, np.float32)
    to_normed = np.empty(size, np.float32)
    for b in range(batch):
        for i in range(nodes):
            mean, scale = moments(x[b, i], epsilon)
            for h in range(size):
                normed[h] = (x[b, i, h] - mean) * scale
            for h in range(size):
                g, through = sigmoid(gate[b, i, h]), gradient[b, i, h]
                change = normed[h] * weight[h] + bias[h] - old[b, i, h]
                to_normed[h] = through * g
                to_gate[b, i, h] = through * change * g * (np.float32(1) - g)
            for h in range(size):
                to_old[b, i, h] = gradient[b, i, h] - to_normed[h]
            for h in range(size):
                to_weight[h] += to_normed[h] * normed[h]
            for h in range(size):
                to_bias[h] += to_normed[h]
            total, along = np.float32(0), np.float32(0)
            for h in range(size):
                to_normed[h] *= weight[h]
                total += to_normed[h]
                along += to_normed[h] * normed[h]
            for h in range(size):
                to_x[b, i, h] = scale * (to_normed[h] - (total + normed[h] * along) * part)
