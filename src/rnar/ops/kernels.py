"""The few operations that plain tensor code does in too much memory or too many passes.

Each is a function of tensors, differentiable, on any device. On the CPU compiled loops do it in one pass over the large
tensors, with no copies; elsewhere plain tensor code does. The tests compare the two.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from rnar.ops import loops


def pair_mlp(channels: Tensor, weight: Tensor, sender: Tensor, receiver: Tensor, layer: Tensor, bias: Tensor) -> Tensor:
    """relu(V relu(sender_i + receiver_j + channels_ij W) + b): [B, i, j, O] of W [C, H], V [O, H]"""
    if _compiled(channels):
        return _PairMLP.apply(channels, weight, sender, receiver, layer, bias)  # type: ignore[no-any-return]
    pairs = channels @ weight
    pairs += sender[:, :, None]
    pairs += receiver[:, None]
    return torch.relu_(torch.nn.functional.linear(torch.relu_(pairs), layer, bias))


def linear_relu(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """relu(W x + b): [..., H] of x [..., I], W [H, I]"""
    if _compiled(x):
        return _LinearRelu.apply(x, weight, bias)  # type: ignore[no-any-return]
    return torch.relu_(torch.nn.functional.linear(x, weight, bias))


def max_over_senders(messages: Tensor) -> Tensor:
    """max_i m_ij: [B, i, j, H] -> [B, j, H]"""
    if _compiled(messages):
        return _MaxOverSenders.apply(messages)  # type: ignore[no-any-return]
    return messages.max(dim=1).values


def max_of_linear(x: Tensor, weight: Tensor) -> Tensor:
    """max_i W x_ij: [B, j, H] of x [B, i, j, I], W [H, I]"""
    if _compiled(x):
        return _MaxOfLinear.apply(x, weight)  # type: ignore[no-any-return]
    return (x @ weight.T).max(dim=1).values


def max_triplets(channels: Tensor, weight: Tensor, a: Tensor, b: Tensor, c: Tensor) -> Tensor:
    """max_a (a_a + b_b + c_c + x_ab + y_ac + z_bc): [B, b, c, F] of a, b, c [B, N, F] and (x, y, z) = channels W.

    The [B, a, b, c, F] is never made.
    """
    if _compiled(channels):
        return _MaxTriplets.apply(channels, weight, a, b, c)  # type: ignore[no-any-return]
    x, y, z = (channels @ weight).chunk(3, dim=-1)
    return _MaxPlus.apply(x + a[:, :, None], y) + z + b[:, :, None] + c[:, None]


def max_dot(p: Tensor, q: Tensor, pairs: Tensor, channels: Tensor, weight: Tensor, w: Tensor) -> Tensor:
    """w . max(p_i, q_j + pairs_ji + channels_ji W): [B, i, j] of p, q [B, N, H], pairs [B, j, i, H], W [C, H]"""
    if _compiled(pairs):
        return _MaxDot.apply(p, q, pairs, channels, weight, w)  # type: ignore[no-any-return]
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
) -> Tensor:
    """`max_dot` of pairs = V relu(U few + b), of few [B, j, i, F], U [G, F], V [H, G]"""
    if _compiled(few):
        return _MaxDotRectified.apply(p, q, few, out, bias, layer, channels, weight, w)  # type: ignore[no-any-return]
    pairs = torch.relu_(torch.nn.functional.linear(few, out, bias)) @ layer.T
    return max_dot(p, q, pairs, channels, weight, w)


def max_dot_triples(pairs: Tensor, r: Tensor, w: Tensor) -> Tensor:
    """w . max(pairs_ij, r_k): [B, i, j, k] of pairs [B, i, j, H] and r [B, N, H]"""
    if _compiled(pairs):
        return _MaxDotTriples.apply(pairs, r, w)  # type: ignore[no-any-return]
    rows = [torch.maximum(pairs[:, i, :, None], r[:, None]) @ w for i in range(pairs.shape[1])]  # not all at once
    return torch.stack(rows, dim=1)


def lstm(x: Tensor, from_x: Tensor, from_state: Tensor, bias: Tensor) -> Tensor:
    """The last output of an LSTM that reads x_1j, x_2j, ... from a zero state: [B, j, H] of x [B, i, j, I].

    The weights are [4H, I], [4H, H] and [4H]; gates in the order of `torch.lstm`: input, forget, candidate, output.
    """
    if _compiled(x):
        keep = torch.is_grad_enabled() and any(y.requires_grad for y in (x, from_x, from_state, bias))
        return _LSTM.apply(x, from_x, from_state, bias, keep)  # type: ignore[no-any-return]
    batch, senders, receivers, inputs = x.shape
    zero = x.new_zeros(1, batch * receivers, from_state.shape[1])
    steps = x.transpose(0, 1).reshape(senders, batch * receivers, inputs)
    weights = [from_x, from_state, bias, torch.zeros_like(bias)]
    outputs, last, _ = torch.lstm(steps, (zero, zero), weights, True, 1, 0.0, True, False, False)
    return last.view(batch, receivers, -1)


def _compiled(x: Tensor) -> bool:
    """Are there loops for this tensor?"""
    return x.device.type == "cpu" and x.dtype == torch.float32


ROWS = 512
"""Pairs that are worked on at once: what several passes read and write shall stay in a core's own cache."""


class _Blocks:
    """The samples of a batch with so many pairs each, a few at a time."""

    def __init__(self, batch: int, pairs: int):
        self.pairs = pairs
        self.size = min(batch, max(1, ROWS // pairs))
        self.slices = [slice(start, min(start + self.size, batch)) for start in range(0, batch, self.size)]

    def rows(self, x: Tensor) -> list[Tensor]:
        """The pairs of each block: [pairs of the block, ...] of x [B, ..., H]"""
        return list(x.view(-1, x.shape[-1]).split(self.size * self.pairs))

    def space(self, like: Tensor, width: int) -> tuple[Tensor, list[Tensor]]:
        """Space for one block, as [size, pairs, width], and as much of it as each block needs, as `rows` has it."""
        space = like.new_empty(self.size, self.pairs, width)
        flat = space.view(-1, width)
        last = self.slices[-1]
        return space, [*[flat] * (len(self.slices) - 1), flat[: (last.stop - last.start) * self.pairs]]


class _PairMLP(torch.autograd.Function):
    """Keeps what comes out; what lies between is made again more quickly than it is read from memory."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Tensor:
        channels, weight, sender, receiver, layer, bias = inputs = [x.contiguous() for x in tensors]
        batch, nodes, others, _ = channels.shape
        size, width = weight.shape[1], len(layer)
        found = sender.new_empty(batch, nodes, others, width)
        blocks, across = _Blocks(batch, nodes * others), layer.T
        between, of_between = blocks.space(found, size)
        c, w, s, r, _, b, y = _arrays(*inputs, found.view(batch, nodes * others, width))
        (x,) = _arrays(between.view(-1, nodes, others, size))
        for k, of_x, of_y in zip(blocks.slices, of_between, blocks.rows(found), strict=True):
            loops.pair_messages(c[k], w, s[k], r[k], x[: k.stop - k.start])
            torch.mm(of_x, across, out=of_y)
            loops.add_and_rectify(y[k], b)
        ctx.save_for_backward(channels, weight, sender, receiver, layer, found)
        return found

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        channels, weight, sender, receiver, layer, found = ctx.saved_tensors
        batch, nodes, others, width = found.shape
        size, flat = weight.shape[1], (batch, nodes * others, width)
        to_sender, to_receiver, to_layer = (torch.zeros_like(x) for x in (sender, receiver, layer))
        to_channels, to_weight, to_bias = torch.empty_like(channels), torch.zeros_like(weight), layer.new_zeros(width)
        blocks = _Blocks(batch, nodes * others)
        (through, of_through), (between, of_between) = blocks.space(found, width), blocks.space(found, size)
        to_between, of_to_between = blocks.space(found, size)
        g, c, w, s, r, y, t = _arrays(
            gradient.contiguous().view(flat), channels, weight, sender, receiver, found.view(flat), through
        )
        x, u = _arrays(between.view(-1, nodes, others, size), to_between.view(-1, nodes, others, size))
        to_c, to_w, to_s, to_r, to_b = _arrays(to_channels, to_weight, to_sender, to_receiver, to_bias)
        for k, of_t, of_x, of_u in zip(blocks.slices, of_through, of_between, of_to_between, strict=True):
            n = k.stop - k.start
            loops.pair_messages(c[k], w, s[k], r[k], x[:n])
            loops.rectify_backward(g[k], y[k], t[:n], to_b)
            torch.mm(of_t, layer, out=of_u)
            to_layer.addmm_(of_t.T, of_x)
            loops.pair_messages_backward(u[:n], c[k], w, x[:n], to_c[k], to_w, to_s[k], to_r[k])
        return to_channels, to_weight, to_sender, to_receiver, to_layer, to_bias


class _LinearRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:  # type: ignore[override]
        flat = x.reshape(1, -1, x.shape[-1])
        out = flat @ weight.T
        loops.add_and_rectify(*_arrays(out, bias))
        ctx.save_for_backward(flat, weight, out)
        return out.view(*x.shape[:-1], len(weight))

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # type: ignore[override]
        flat, weight, out = ctx.saved_tensors
        through, to_bias = torch.empty_like(out), out.new_zeros(len(weight))
        loops.rectify_backward(*_arrays(gradient.reshape(out.shape), out, through, to_bias))
        to_x = torch.mm(through[0], weight).view(*gradient.shape[:-1], flat.shape[2])
        return to_x, torch.mm(through[0].T, flat[0]), to_bias


class _MaxOverSenders(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, messages: Tensor) -> Tensor:  # type: ignore[override]
        batch, _, receivers, size = messages.shape
        best = messages.new_empty(batch, receivers, size)
        arg = torch.empty(best.shape, dtype=torch.int16)
        loops.max_over_senders(*_arrays(messages.contiguous(), best, arg))
        ctx.save_for_backward(arg)
        ctx.shape = messages.shape
        return best

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:  # type: ignore[override]
        (arg,) = ctx.saved_tensors
        to_messages = gradient.new_empty(ctx.shape)
        loops.max_over_senders_backward(*_arrays(gradient.contiguous(), arg, to_messages))
        return to_messages


class _MaxOfLinear(torch.autograd.Function):
    """Its gradient goes to one sender of many: no matrix product is needed for it."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:  # type: ignore[override]
        x, weight = x.contiguous(), weight.contiguous()
        batch, senders, receivers, _ = x.shape
        best = x.new_empty(batch, receivers, len(weight))
        arg = torch.empty(best.shape, dtype=torch.int16)
        blocks, across = _Blocks(batch, senders * receivers), weight.T
        messages, of_messages = blocks.space(x, len(weight))
        m, to_best, to_arg = _arrays(messages.view(-1, senders, receivers, len(weight)), best, arg)
        for k, of_x, of_m in zip(blocks.slices, blocks.rows(x), of_messages, strict=True):
            torch.mm(of_x, across, out=of_m)
            loops.max_over_senders(m[: k.stop - k.start], to_best[k], to_arg[k])
        ctx.save_for_backward(x, weight, arg)
        return best

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        x, weight, arg = ctx.saved_tensors
        to_x, to_weight = torch.zeros_like(x), torch.zeros_like(weight)
        loops.max_of_linear_backward(*_arrays(gradient.contiguous(), x, weight, arg, to_x, to_weight))
        return to_x, to_weight


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
        r, g, c, q = _arrays(reads, gates, cells, squashed)
        for t in range(steps):
            now, before, after = t if keep else 0, t % 2, (t + 1) % 2
            known = inputs + size if t else inputs
            of_x.copy_(x[:, t])
            torch.addmm(bias, reads[:, :known], across[:known], out=gates[now]).sigmoid_()
            loops.lstm_cell(g[now], c[before], c[after])
            torch.tanh(cells[after], out=squashed)
            loops.lstm_output(g[now], q, r)
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
        r, to_r, g, c, to_c, to_g, to_b = _arrays(reads, to_reads, gates, cells, to_cell, to_gates, to_bias)
        for t in range(steps):
            loops.lstm_cell(g[t], c[t], c[t + 1])
        squashed = torch.tanh(cells[steps])
        for t in reversed(range(steps)):
            loops.lstm_cell_backward(g[t], c[t], squashed.numpy(), to_r, to_c, to_g, to_b)
            known = inputs + size if t else inputs
            of_x.copy_(x[:, t])
            if t:
                torch.tanh(cells[t], out=earlier)
                loops.lstm_output(g[t - 1], earlier.numpy(), r)
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


class _MaxTriplets(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Tensor:
        channels, weight, a, b, c = inputs = [x.contiguous() for x in tensors]
        best = channels.new_empty(*channels.shape[:3], a.shape[2])
        arg = torch.empty(best.shape, dtype=torch.int16)
        loops.max_triplets(*_arrays(*inputs, best, arg))
        ctx.save_for_backward(channels, weight, arg)
        return best

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        channels, weight, arg = ctx.saved_tensors
        to_channels, to_weight = torch.empty_like(channels), torch.zeros_like(weight)
        to_nodes = [gradient.new_zeros(*channels.shape[:2], gradient.shape[3]) for _ in "abc"]
        loops.max_triplets_backward(
            *_arrays(gradient.contiguous(), channels, weight, arg, to_channels, to_weight, *to_nodes)
        )
        return to_channels, to_weight, *to_nodes


class _MaxPlus(torch.autograd.Function):
    """max_a (x[a, b] + y[a, c]) of x, y [B, a, ., F], one a after the other"""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        best = x[:, 0, :, None] + y[:, 0, None]
        arg = torch.zeros(best.shape, dtype=torch.int16, device=x.device)
        for a in range(1, x.shape[1]):
            candidate = x[:, a, :, None] + y[:, a, None]
            better = candidate > best
            best = torch.where(better, candidate, best)
            arg.masked_fill_(better, a)
        ctx.save_for_backward(arg)
        ctx.shapes = x.shape, y.shape
        return best

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        (arg,) = ctx.saved_tensors
        to_x, to_y = (gradient.new_zeros(shape) for shape in ctx.shapes)
        index = arg.long()
        for c in range(gradient.shape[2]):  # x[a, b] gets what chose a at (b, .), y[a, c] what chose a at (., c)
            to_x.scatter_add_(1, index[:, None, :, c], gradient[:, None, :, c])
        for b in range(gradient.shape[1]):
            to_y.scatter_add_(1, index[:, None, b], gradient[:, None, b])
        return to_x, to_y


class _MaxDot(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Tensor:
        inputs = [x.contiguous() for x in tensors]
        batch, rows, columns, _ = inputs[2].shape
        out = inputs[2].new_empty(batch, columns, rows)
        loops.max_dot(*_arrays(*inputs, out))
        ctx.save_for_backward(*inputs)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        inputs = p, q, pairs, channels, weight, w = ctx.saved_tensors
        to_p, to_q, to_weight, to_w = (torch.zeros_like(x) for x in (p, q, weight, w))
        found = to_p, to_q, torch.empty_like(pairs), torch.empty_like(channels), to_weight, to_w
        loops.max_dot_backward(*_arrays(gradient.contiguous(), *inputs, *found))
        return found


class _MaxDotRectified(torch.autograd.Function):
    """Keeps V relu(U few + b); relu(U few + b) is quickly made again."""

    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Tensor:
        p, q, few, out, bias, layer, channels, weight, w = inputs = [x.contiguous() for x in tensors]
        batch, js, others, _ = few.shape
        found, pairs = p.new_empty(batch, others, js), p.new_empty(batch, js, others, len(layer))
        blocks, to_rectified, across = _Blocks(batch, js * others), out.T, layer.T
        rectified, of_rectified = blocks.space(few, len(out))
        r, b = _arrays(rectified, bias)
        arrays = _arrays(p, q, pairs, channels)
        W, D, F = _arrays(weight, w, found)
        for k, of_f, of_r, of_y in zip(blocks.slices, blocks.rows(few), of_rectified, blocks.rows(pairs), strict=True):
            torch.mm(of_f, to_rectified, out=of_r)
            loops.add_and_rectify(r[: k.stop - k.start], b)
            torch.mm(of_r, across, out=of_y)
            loops.max_dot(*(x[k] for x in arrays), W, D, F[k])
        ctx.save_for_backward(*inputs, pairs)
        return found

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        *inputs, pairs = ctx.saved_tensors
        p, q, few, out, bias, layer, channels, weight, w = inputs
        batch, js, others, _ = few.shape
        found = [torch.zeros_like(x) for x in inputs]
        to_p, to_q, to_few, to_out, to_bias, to_layer, to_channels, to_weight, to_w = found
        blocks, across = _Blocks(batch, js * others), out.T
        (to_pairs, of_y), (rectified, of_r) = blocks.space(few, len(layer)), blocks.space(few, len(out))
        (to_rectified, of_s), (through, of_t) = blocks.space(few, len(out)), blocks.space(few, len(out))
        Y, R, S, T = _arrays(to_pairs.view(-1, js, others, len(layer)), rectified, to_rectified, through)
        arrays = _arrays(gradient.contiguous(), p, q, pairs, channels)
        W, D, B, to_P, to_Q, to_C, to_W, to_D, to_B = _arrays(
            weight, w, bias, to_p, to_q, to_channels, to_weight, to_w, to_bias
        )
        rows = zip(blocks.slices, blocks.rows(few), blocks.rows(to_few), of_y, of_r, of_s, of_t, strict=True)
        for k, x, to_x, y, r, s, t in rows:
            count = k.stop - k.start
            loops.max_dot_backward(
                *(array[k] for array in arrays), W, D, to_P[k], to_Q[k], Y[:count], to_C[k], to_W, to_D
            )
            torch.mm(x, across, out=r)
            loops.add_and_rectify(R[:count], B)
            to_layer.addmm_(y.T, r)
            torch.mm(y, layer, out=s)
            loops.rectify_backward(S[:count], R[:count], T[:count], to_B)
            to_out.addmm_(t.T, x)
            torch.mm(t, out, out=to_x)
        return tuple(found)


class _MaxDotTriples(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Tensor:
        pairs, r, w = inputs = [x.contiguous() for x in tensors]
        out = pairs.new_empty(*pairs.shape[:3], r.shape[1])
        loops.max_dot_triples(*_arrays(*inputs, out))
        ctx.save_for_backward(*inputs)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        inputs = ctx.saved_tensors
        found = tuple(torch.zeros_like(x) for x in inputs)
        loops.max_dot_triples_backward(*_arrays(gradient.contiguous(), *inputs, *found))
        return found


def _arrays(*tensors: Tensor) -> list[Any]:
    return [x.detach().numpy() for x in tensors]
