"""The few operations that plain tensor code does in too much memory or too many passes.

Each is a function of tensors, differentiable, on any device. On the CPU compiled loops do it in one pass over the large
tensors, with no copies; elsewhere plain tensor code does. The tests compare the two.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from rnar.nn import loops


def pair_messages(channels: Tensor, weight: Tensor, sender: Tensor, receiver: Tensor) -> Tensor:
    """relu(sender_i + receiver_j + channels_ij W): [B, i, j, H] of channels [B, i, j, C] and W [C, H]"""
    if _compiled(channels):
        return _PairMessages.apply(channels, weight, sender, receiver)  # type: ignore[no-any-return]
    pairs = channels @ weight
    pairs += sender[:, :, None]
    pairs += receiver[:, None]
    return torch.relu_(pairs)


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


def max_plus(x: Tensor, y: Tensor) -> Tensor:
    """max_a (x[a, b] + y[a, c]) of x, y [B, a, ., F]: [B, b, c, F]. The [B, a, b, c, F] is never made."""
    return _MaxPlus.apply(x, y)  # type: ignore[no-any-return]


def max_dot(p: Tensor, q: Tensor, pairs: Tensor, channels: Tensor, weight: Tensor, w: Tensor) -> Tensor:
    """w . max(p_i, q_j + pairs_ji + channels_ji W): [B, i, j] of p, q [B, N, H], pairs [B, j, i, H], W [C, H]"""
    if _compiled(pairs):
        return _MaxDot.apply(p, q, pairs, channels, weight, w)  # type: ignore[no-any-return]
    return torch.maximum(p[:, :, None], (q[:, :, None] + pairs + channels @ weight).transpose(1, 2)) @ w


def max_dot_triples(pairs: Tensor, r: Tensor, w: Tensor) -> Tensor:
    """w . max(pairs_ij, r_k): [B, i, j, k] of pairs [B, i, j, H] and r [B, N, H]"""
    if _compiled(pairs):
        return _MaxDotTriples.apply(pairs, r, w)  # type: ignore[no-any-return]
    rows = [torch.maximum(pairs[:, i, :, None], r[:, None]) @ w for i in range(pairs.shape[1])]  # not all at once
    return torch.stack(rows, dim=1)


def _compiled(x: Tensor) -> bool:
    """Are there loops for this tensor?"""
    return x.device.type == "cpu" and x.dtype == torch.float32


class _PairMessages(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, *tensors: Tensor) -> Tensor:
        channels, weight, sender, receiver = inputs = [x.contiguous() for x in tensors]
        out = sender.new_empty(*channels.shape[:3], sender.shape[2])
        loops.pair_messages(*(x.numpy() for x in inputs), out.numpy())
        ctx.save_for_backward(channels, weight, out)
        return out

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        channels, weight, out = ctx.saved_tensors
        batch, nodes, _, size = out.shape
        to_nodes = gradient.new_zeros(2, batch, nodes, size)
        to_channels, to_weight = torch.empty_like(channels), torch.zeros_like(weight)
        loops.pair_messages_backward(
            *_arrays(gradient.contiguous(), channels, weight, out, to_channels, to_weight, to_nodes[0], to_nodes[1])
        )
        return to_channels, to_weight, to_nodes[0], to_nodes[1]


class _LinearRelu(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:  # type: ignore[override]
        flat = x.reshape(-1, x.shape[-1])
        out = torch.mm(flat, weight.T)
        loops.add_and_rectify(*_arrays(out, bias))
        ctx.save_for_backward(flat, weight, out)
        return out.view(*x.shape[:-1], out.shape[1])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, Tensor]:  # type: ignore[override]
        flat, weight, out = ctx.saved_tensors
        through, to_bias = torch.empty_like(out), out.new_zeros(out.shape[1])
        loops.rectify_backward(*_arrays(gradient.reshape(out.shape), out, through, to_bias))
        to_x = torch.mm(through, weight).view(*gradient.shape[:-1], flat.shape[1])
        return to_x, torch.mm(through.T, flat), to_bias


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


class _MaxPlus(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        x, y = x.contiguous(), y.contiguous()
        best, arg = (_max_plus_on_cpu if _compiled(x) else _max_plus_anywhere)(x, y)
        ctx.save_for_backward(arg)
        ctx.shapes = x.shape, y.shape
        return best

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        (arg,) = ctx.saved_tensors
        to_x, to_y = (gradient.new_zeros(shape) for shape in ctx.shapes)
        if _compiled(gradient):
            loops.max_plus_backward(*_arrays(gradient.contiguous(), arg, to_x, to_y))
        else:  # x[a, b] gets what chose a at (b, .), y[a, c] what chose a at (., c)
            index = arg.long()
            for c in range(gradient.shape[2]):
                to_x.scatter_add_(1, index[:, None, :, c], gradient[:, None, :, c])
            for b in range(gradient.shape[1]):
                to_y.scatter_add_(1, index[:, None, b], gradient[:, None, b])
        return to_x, to_y


def _max_plus_on_cpu(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    best = x.new_empty(x.shape[0], x.shape[2], y.shape[2], x.shape[3])
    arg = torch.empty(best.shape, dtype=torch.int16)
    loops.max_plus(*_arrays(x, y, best, arg))
    return best, arg


def _max_plus_anywhere(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    best = x[:, 0, :, None] + y[:, 0, None]
    arg = torch.zeros(best.shape, dtype=torch.int16, device=x.device)
    for a in range(1, x.shape[1]):
        candidate = x[:, a, :, None] + y[:, a, None]
        better = candidate > best
        best = torch.where(better, candidate, best)
        arg.masked_fill_(better, a)
    return best, arg


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
