"""A linear map that is used at every step: the gradient of its weights is taken of many steps at once.

One product with many rows, in place of a product, two sums over what was there before and a dozen calls at each step.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from rnar.ops.compiled import apply, cut_off

ENOUGH = 2048
"""Rows of which a product is taken: so many may wait, and take memory."""


class Gathered:
    """What a map has read, and the gradients of what it gave, of those steps that are not in `.grad` yet."""

    def __init__(self, weight: Tensor, bias: Tensor):
        """weight [O, I] and bias [O] are leaves"""
        self.weight, self.bias = weight, bias
        self._reads: list[Tensor] = []
        self._gradients: list[Tensor] = []
        self._rows = 0

    def add(self, x: Tensor, gradient: Tensor) -> None:
        """x [R, I] and gradient [R, O], which may be in a lower precision than the weights"""
        self._reads.append(x)
        self._gradients.append(gradient)
        self._rows += x.shape[0]
        if self._rows >= ENOUGH:
            self.settle()

    def settle(self) -> None:
        """Add all to the gradients of the weights."""
        if not self._reads:
            return
        x, gradient = torch.cat(self._reads), torch.cat(self._gradients)
        of_bias = gradient.sum(dim=0, dtype=self.bias.dtype)
        for tensor, found in ((self.weight, (gradient.T @ x).to(self.weight.dtype)), (self.bias, of_bias)):
            tensor.grad = found if tensor.grad is None else tensor.grad.add_(found)
        self._reads, self._gradients, self._rows = [], [], 0


def linear(
    x: Tensor, weight: Tensor, bias: Tensor, gathered: Gathered | None = None, rough: Tensor | None = None
) -> Tensor:
    """W x + b: [..., O] of x [..., I]. If there is a place to gather it, the gradient of W and b comes later.

    Products are in the precision of x, or in that of `rough`, which is W in a lower one; what is added to them, and the
    result, is in that of the weights.
    """
    if gathered is not None and torch.is_grad_enabled():
        return apply(_Linear, x, weight, bias, gathered, rough)
    if rough is None and x.dtype == weight.dtype:
        return F.linear(x, weight, bias)
    x = x if rough is None else x.to(rough.dtype)
    if rough is None or (torch.is_grad_enabled() and weight.requires_grad):  # W itself wants its gradient now
        rough = weight.to(x.dtype)
    return F.linear(x, rough) + bias


class _Linear(torch.autograd.Function):
    """Weight and bias are given to it so that what it gives has a gradient even where x has none."""

    @staticmethod
    def forward(  # type: ignore[override]
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, gathered: Gathered, rough: Tensor | None
    ) -> Tensor:
        flat = x.reshape(-1, x.shape[-1])
        if rough is None:
            out = torch.addmm(bias, flat, weight.T)
        else:
            flat = flat.to(rough.dtype)
            out = torch.mm(flat, rough.T) + bias
        ctx.save_for_backward(flat)
        ctx.weight, ctx.gathered, ctx.shape = weight if rough is None else rough, gathered, x.shape
        return out.view(*x.shape[:-1], weight.shape[0])

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:  # type: ignore[override]
        (x,), wanted = ctx.saved_tensors, gradient.dtype
        gradient = gradient.reshape(-1, gradient.shape[-1]).to(x.dtype)
        ctx.gathered.add(cut_off(x), gradient)
        to_x = torch.mm(gradient, ctx.weight).view(ctx.shape).to(wanted) if ctx.needs_input_grad[0] else None
        return to_x, None, None, None, None
