"""An LSTM that reads the messages of each receiver in the order of their senders."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.common.compiling import entry_point
from rnar.ops.compiled import arrays, compiled


def lstm(x: Tensor, from_x: Tensor, from_state: Tensor, bias: Tensor) -> Tensor:
    """The last output of an LSTM that reads x_1j, x_2j, ... from a zero state: [B, j, H] of x [B, i, j, I].

    The weights are [4H, I], [4H, H] and [4H]; gates in the order of `torch.lstm`: input, forget, candidate, output.
    """
    if compiled(x):
        keep = torch.is_grad_enabled() and any(y.requires_grad for y in (x, from_x, from_state, bias))
        return _LSTM.apply(x, from_x, from_state, bias, keep)  # type: ignore[no-any-return]
    batch, senders, receivers, inputs = x.shape
    zero = x.new_zeros(1, batch * receivers, from_state.shape[1])
    steps = x.transpose(0, 1).reshape(senders, batch * receivers, inputs)
    weights = [from_x, from_state, bias, torch.zeros_like(bias)]
    outputs, last, _ = torch.lstm(steps, (zero, zero), weights, True, 1, 0.0, True, False, False)
    return last.view(batch, receivers, -1)


class _LSTM(torch.autograd.Function):
    """All receivers of all samples take a step together: one product of (x || h) with all weights.

    Of each step the gates are kept, from which its cell is quickly made again; torch's own layer for CPUs keeps four
    times as much, and takes twice as long in its backward pass. The first step has no h, and half of the work. tanh(a)
    is 2 sigmoid(2a) - 1 for the candidate, so that one call makes all gates.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, from_x: Tensor, from_state: Tensor, bias: Tensor, keep: bool) -> Tensor:  # type: ignore[override]
        batch, steps, receivers, inputs = x.shape
        rows, size = batch * receivers, from_state.shape[1]
        weight, bias = _LSTM.joined(from_x, from_state), _LSTM.doubled(bias.clone())
        gates = x.new_empty(steps if keep else 1, rows, 4 * size)
        cells = x.new_zeros(2, rows, size)
        reads = x.new_empty(rows, inputs + size)  # x || h
        of_x, across = reads.view(batch, receivers, -1)[:, :, :inputs], weight.T
        squashed = torch.empty_like(cells[0])
        r, g, c, q = arrays(reads, gates, cells, squashed)
        for t in range(steps):
            now, before, after = t if keep else 0, t % 2, (t + 1) % 2
            known = inputs + size if t else inputs
            of_x.copy_(x[:, t])
            torch.addmm(bias, reads[:, :known], across[:known], out=gates[now]).sigmoid_()
            loop_of_lstm_cell(g[now], c[before], c[after])
            torch.tanh(cells[after], out=squashed)
            loop_of_lstm_output(g[now], q, r)
        if keep:
            ctx.save_for_backward(x, from_x, from_state, gates)
        return reads[:, inputs:].reshape(batch, receivers, size)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        x, from_x, from_state, gates = ctx.saved_tensors
        batch, steps, receivers, inputs = x.shape
        rows, size = batch * receivers, from_state.shape[1]
        weight = _LSTM.joined(from_x, from_state)
        to_weight, to_bias, to_x = torch.zeros_like(weight), weight.new_zeros(len(weight)), torch.empty_like(x)
        reads, to_reads = x.new_empty(2, rows, inputs + size)
        of_x, to_of_x = (y.view(batch, receivers, -1)[:, :, :inputs] for y in (reads, to_reads))
        to_reads[:, inputs:] = gradient.reshape(rows, size)
        cells, to_cell = x.new_zeros(steps + 1, rows, size), x.new_zeros(rows, size)
        to_gates, earlier = torch.empty_like(gates[0]), torch.empty_like(to_cell)
        r, to_r, g, c, to_c, to_g, to_b = arrays(reads, to_reads, gates, cells, to_cell, to_gates, to_bias)
        for t in range(steps):
            loop_of_lstm_cell(g[t], c[t], c[t + 1])
        squashed = torch.tanh(cells[steps])
        for t in reversed(range(steps)):
            loop_of_lstm_cell_backward(g[t], c[t], squashed.numpy(), to_r, to_c, to_g, to_b)
            known = inputs + size if t else inputs
            of_x.copy_(x[:, t])
            if t:
                torch.tanh(cells[t], out=earlier)
                loop_of_lstm_output(g[t - 1], earlier.numpy(), r)
                squashed, earlier = earlier, squashed
            to_weight[:, :known].addmm_(to_gates.T, reads[:, :known])
            torch.mm(to_gates, weight[:, :known], out=to_reads[:, :known])
            to_x[:, t] = to_of_x
        _LSTM.doubled(to_weight)
        return to_x, to_weight[:, :inputs], to_weight[:, inputs:], _LSTM.doubled(to_bias), None

    @staticmethod
    def joined(from_x: Tensor, from_state: Tensor) -> Tensor:
        """[4H, I + H]"""
        return _LSTM.doubled(torch.cat([from_x, from_state], dim=1))

    @staticmethod
    def doubled(x: Tensor) -> Tensor:
        """Double what belongs to the candidate, in place."""
        size = len(x) // 4
        x[2 * size : 3 * size] *= 2
        return x


@entry_point
def loop_of_lstm_cell(gates, before, after):
    """The next cell, of gates after a sigmoid: f c + i (2 g - 1)"""
    rows, size = before.shape
    for r in range(rows):
        for h in range(size):
            candidate = np.float32(2) * gates[r, 2 * size + h] - np.float32(1)
            after[r, h] = gates[r, size + h] * before[r, h] + gates[r, h] * candidate


@entry_point
def loop_of_lstm_output(gates, squashed, reads):
    """o tanh(c), to the end of what the next step reads"""
    rows, size = squashed.shape
    inputs = reads.shape[1] - size
    for r in range(rows):
        for h in range(size):
            reads[r, inputs + h] = gates[r, 3 * size + h] * squashed[r, h]


@entry_point(fastmath=True)
def loop_of_lstm_cell_backward(gates, before, squashed, to_reads, to_cell, to_gates, to_bias):
    """`to_cell` is that of the cell after the step, then that of the cell before; `to_reads` ends with that of h."""
    rows, size = before.shape
    inputs = to_reads.shape[1] - size
    one, two = np.float32(1), np.float32(2)
    for r in range(rows):
        for h in range(size):
            o, tanh, to_h = gates[r, 3 * size + h], squashed[r, h], to_reads[r, inputs + h]
            to_gates[r, 3 * size + h] = to_h * tanh * o * (one - o)
            to_cell[r, h] += to_h * o * (one - tanh * tanh)
        for h in range(size):
            f = gates[r, size + h]
            to_gates[r, size + h] = to_cell[r, h] * before[r, h] * f * (one - f)
        for h in range(size):
            i, g = gates[r, h], gates[r, 2 * size + h]
            to_gates[r, h] = to_cell[r, h] * (two * g - one) * i * (one - i)
            to_gates[r, 2 * size + h] = to_cell[r, h] * i * two * g * (one - g)
        for h in range(size):
            to_cell[r, h] *= gates[r, size + h]
        for h in range(4 * size):
            to_bias[h] += to_gates[r, h]
