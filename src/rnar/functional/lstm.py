"""An LSTM that reads the messages of each receiver in the order of their senders."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.functional.affine import Affine
from rnar.functional.compiled import apply, arrays, compiled, loop, zeros
from rnar.functional.numbers import kept, read, sigmoid, tanh


def lstm(messages: Affine, from_state: Tensor) -> Tensor:
    """The last output of an LSTM that reads m_1j, m_2j, ... from a zero state: [B, j, H].

    `messages` are the gates' map of them, W_x m + b [B, i, j, 4H], not computed; W_h is [4H, H]. Gates in the order of
    `torch.lstm`: input, forget, candidate, output. Products are in the precision of the messages.
    """
    x, weight, bias = messages.x, messages.weight, messages.bias
    assert weight is not None and bias is not None
    wanted = torch.is_grad_enabled() and any(y.requires_grad for y in (x, weight, from_state, bias))
    if compiled(x) and (wanted or x.dtype == torch.bfloat16):  # else torch's own layer is faster
        return apply(_LSTM, x, weight, from_state, bias, wanted)
    return lstm_states(messages, from_state)[1]


def lstm_states(messages: Affine, from_state: Tensor) -> tuple[Tensor, Tensor]:
    """The outputs after each message, [S, B * R, H], and after the last, [B, R, H], by torch's own LSTM."""
    x, weight, bias = messages.x, messages.weight, messages.bias
    assert weight is not None and bias is not None
    batch, senders, receivers, inputs = x.shape
    zero = x.new_zeros(1, batch * receivers, from_state.shape[1])
    steps = x.transpose(0, 1).reshape(senders, batch * receivers, inputs)
    weights = [y.to(x.dtype) for y in (weight, from_state, bias, torch.zeros_like(bias))]
    outputs, last, _ = torch.lstm(steps, (zero, zero), weights, True, 1, 0.0, torch.is_grad_enabled(), False, False)
    return outputs.to(bias.dtype), last.view(batch, receivers, -1).to(bias.dtype)


class _LSTM(torch.autograd.Function):
    """All receivers of all samples take a step together: one product of (x || h) with all weights.

    Of each step the gates are kept, from which its cell and its output are quickly made again; torch's own layer for
    CPUs keeps four times as much, and takes twice as long in its backward pass. The first step has no h, and half of
    the work. The backward pass keeps the gradients of all gates, so that one product has them all for the weights.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, from_x: Tensor, from_state: Tensor, bias: Tensor, keep: bool) -> Tensor:  # type: ignore[override]
        batch, steps, receivers, inputs = x.shape
        rows, size = batch * receivers, from_state.shape[1]
        across = torch.cat([from_x, from_state], dim=1).to(x.dtype).T  # [I + H, 4H]
        gates = x.new_empty(steps if keep else 1, rows, 4 * size)
        reads = x.new_empty(rows, inputs + size)  # x || h
        reads.view(batch, receivers, -1)[:, :, :inputs] = x[:, 0]
        cells, out = bias.new_zeros(2, rows, size)
        x = x.contiguous()
        g, b, c, y, r, m = arrays(gates, bias.contiguous(), cells, out, reads, x)
        each = gates.unbind() if keep else [gates[0]] * steps
        torch.mm(reads[:, :inputs], across[:inputs], out=each[0])
        for t in range(steps):
            if t:
                torch.mm(reads, across, out=each[t])
            loop_of_lstm_step(g[t if keep else 0], b, c, y, r, m, t + 1)
        if keep:
            ctx.save_for_backward(x, from_x, from_state, gates)
        return out.view(batch, receivers, size)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        x, from_x, from_state, gates = ctx.saved_tensors
        batch, steps, receivers, inputs = x.shape
        rows, size = batch * receivers, from_state.shape[1]
        reads = x.new_empty(steps, rows, inputs + size)
        reads.view(steps, batch, receivers, -1)[..., :inputs] = x.transpose(0, 1)
        reads[0, :, inputs:] = 0  # the other h are made again
        cells, (to_cell, to_bias) = torch.empty(steps + 1, rows, size), zeros(gates[0, :, :size], gates[0, 0])
        cells[0] = 0
        to_gates, to_h = torch.empty_like(gates), x.new_empty(rows, size).copy_(gradient.reshape(rows, size))
        g, c, r, to_g, to_y, to_c, to_b = arrays(gates, cells, reads, to_gates, to_h, to_cell, to_bias)
        loop_of_lstm_states(g, c, r)
        from_state = from_state.to(x.dtype)
        each = to_gates.unbind()
        for t in reversed(range(steps)):
            loop_of_lstm_step_backward(to_g[t], g[t], c[t], c[t + 1], to_y, to_c, to_b)
            if t:
                torch.mm(each[t], from_state, out=to_h)
        flat = to_gates.view(-1, 4 * size)
        to_weight = torch.mm(flat.T, reads.view(-1, inputs + size))
        to_x = torch.mm(flat, from_x.to(x.dtype)).view(steps, batch, receivers, inputs).transpose(0, 1)
        return to_x, to_weight[:, :inputs], to_weight[:, inputs:], to_bias, None


@loop(fastmath=True)
def loop_of_lstm_step(gates, bias, cell, out, reads, x, after):
    """`gates` are products, then gates; `cell` is that before the step, then that after it; `reads` is x || h, and then
    that of the step `after` it, if there is one."""
    rows, size = cell.shape
    inputs = max(0, reads.shape[1] - size)  # as it is: but that an index is not negative must be seen to vectorise
    gate = np.empty(4 * size, np.float32)
    for r in range(rows):
        for k in range(4 * size):
            gate[k] = read(gates[r, k]) + bias[k]
        for h in range(size):  # tanh x = 2 sigmoid(2x) - 1
            gate[2 * size + h] *= np.float32(2)
        for k in range(4 * size):
            gate[k] = sigmoid(gate[k])
        for h in range(size):
            gate[2 * size + h] = np.float32(2) * gate[2 * size + h] - np.float32(1)
        for k in range(4 * size):
            gates[r, k] = kept(gate[k], gates[r, k])
        for h in range(size):
            remembered = read(gates[r, size + h]) * cell[r, h]
            cell[r, h] = remembered + read(gates[r, h]) * read(gates[r, 2 * size + h])
        for h in range(size):
            out[r, h] = read(gates[r, 3 * size + h]) * tanh(cell[r, h])
        for h in range(size):
            reads[r, inputs + h] = kept(out[r, h], reads[r, inputs + h])
        if after < x.shape[1]:
            for k in range(inputs):
                reads[r, k] = x[r // x.shape[2], after, r % x.shape[2], k]


@loop(fastmath=True)
def loop_of_lstm_states(gates, cells, reads):
    """The cell after each step, and the output of each in what the next one reads, of gates [steps, rows, 4H]."""
    steps, rows, size = len(gates), cells.shape[1], cells.shape[2]
    inputs = max(0, reads.shape[2] - size)
    for t in range(steps):
        for r in range(rows):
            for h in range(size):
                remembered = read(gates[t, r, size + h]) * cells[t, r, h]
                cells[t + 1, r, h] = remembered + read(gates[t, r, h]) * read(gates[t, r, 2 * size + h])
            if t + 1 < steps:
                for h in range(size):
                    out = read(gates[t, r, 3 * size + h]) * tanh(cells[t + 1, r, h])
                    reads[t + 1, r, inputs + h] = kept(out, reads[t + 1, r, inputs + h])


@loop(fastmath=True)
def loop_of_lstm_step_backward(to_gates, gates, before, after, to_out, to_cell, to_bias):
    """`to_cell` is that of the cell after the step, then that of the cell before."""
    rows, size = before.shape
    to = np.empty(4 * size, np.float32)
    for r in range(rows):
        for h in range(size):
            o, squashed, g = read(gates[r, 3 * size + h]), tanh(after[r, h]), read(to_out[r, h])
            to[3 * size + h] = g * squashed * o * (np.float32(1) - o)
            to_cell[r, h] += g * o * (np.float32(1) - squashed * squashed)
        for h in range(size):
            f = read(gates[r, size + h])
            to[size + h] = to_cell[r, h] * before[r, h] * f * (np.float32(1) - f)
        for h in range(size):
            i, g = read(gates[r, h]), read(gates[r, 2 * size + h])
            to[h] = to_cell[r, h] * g * i * (np.float32(1) - i)
            to[2 * size + h] = to_cell[r, h] * i * (np.float32(1) - g * g)
        for h in range(size):
            to_cell[r, h] *= read(gates[r, size + h])
        for k in range(4 * size):
            to_gates[r, k] = kept(to[k], to_gates[r, k])
        for k in range(4 * size):
            to_bias[k] += to[k]
