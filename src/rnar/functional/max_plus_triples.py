"""The maximum over a node of what its pairs with two others say, and pointers of pairs among the three."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.common.compiling import entry_point
from rnar.functional.compiled import arrays, portions
from rnar.functional.triples import add_to_six, coded, in_orders, loops_for, six


def max_plus_triples(x: Tensor, y: Tensor, pointers: Tensor, codes: Tensor) -> Tensor:
    """max_a (x_ab + y_ac + sum_ps P_p[s(a, b, c)] W_ps): [B, b, c, F] of x, y [B, a, ., F], s over all six orders.

    The pointers are P [B, K, N, N, N], probabilities that a pair points at a node; each has six codes, W [K, 6, F]. The
    [B, a, b, c, F] is never made.
    """
    function = _MaxPlusTriples if loops_for(x, pointers) else _InPortions
    return function.apply(x, y, pointers, codes)  # type: ignore[no-any-return]


class _MaxPlusTriples(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, pointers: Tensor, codes: Tensor) -> Tensor:  # type: ignore[override]
        x, y, pointer, codes = (each.contiguous() for each in (x, y, pointers[:, 0], codes[0]))
        best = torch.empty_like(x)
        arg = torch.empty(best.shape, dtype=torch.int16)
        loop_of_max_plus_triples(*arrays(x, y, pointer, codes, best, arg))
        ctx.save_for_backward(pointer, codes, arg)
        return best

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        pointer, codes, arg = ctx.saved_tensors
        gradient = gradient.contiguous()
        to_x, to_y, to_pointer, to_codes = found = [
            torch.zeros_like(each) for each in (gradient, gradient, pointer, codes)
        ]
        loop_of_max_plus_triples_backward(*arrays(gradient, pointer, codes, arg, *found))
        return to_x, to_y, to_pointer[:, None], to_codes[None]


class _InPortions(torch.autograd.Function):
    """In plain tensors, as many a at once as fit: for a few nodes all of them."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, pointers: Tensor, codes: Tensor) -> Tensor:  # type: ignore[override]
        best, arg = torch.full_like(x, -torch.inf), torch.zeros(x.shape, dtype=torch.int16, device=x.device)
        for some in portions(x.shape[1], x[:, 0].numel() * x.shape[2]):
            found, where = (x[:, some, :, None] + y[:, some, None] + coded(pointers, codes, some)).max(dim=1)
            better = found > best
            best = torch.where(better, found, best)
            arg = torch.where(better, (where + some.start).to(torch.int16), arg)
        ctx.save_for_backward(pointers, codes, arg)
        return best

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, ...]:  # type: ignore[override]
        pointers, codes, arg = ctx.saved_tensors
        to_x, to_y, to_pointers, to_codes = (torch.zeros_like(x) for x in (gradient, gradient, pointers, codes))
        nodes = torch.arange(gradient.shape[1], device=arg.device)[:, None, None, None]
        for some in portions(len(nodes), gradient[:, 0].numel() * len(nodes)):
            chosen = torch.where(arg[:, None] == nodes[some], gradient[:, None], 0.0)  # [B, a, b, c, F]
            to_x[:, some], to_y[:, some] = chosen.sum(dim=3), chosen.sum(dim=2)
            for s, (view, to_view) in enumerate(zip(in_orders(pointers), in_orders(to_pointers), strict=True)):
                to_view[:, :, some] += torch.einsum("baijf,pf->bpaij", chosen, codes[:, s])
                to_codes[:, s] += torch.einsum("baijf,bpaij->pf", chosen, view[:, :, some])
        return to_x, to_y, to_pointers, to_codes


@entry_point(fastmath=True)
def loop_of_max_plus_triples(x, y, pointer, codes, best, arg):
    batch, nodes, _, features = x.shape
    wide = np.empty((nodes, features), np.float32)
    chosen = np.empty((nodes, features), np.int32)
    candidate, pick, row = wide.reshape(-1), chosen.reshape(-1), nodes * features  # long loops do for all c
    for s in range(batch):
        for b in range(nodes):
            found = best[s, b].reshape(row)
            for a in range(nodes):
                for c in range(nodes):
                    p0, p1, p2, p3, p4, p5 = six(pointer, s, a, b, c)
                    for f in range(features):
                        total = p0 * codes[0, f] + p1 * codes[1, f] + p2 * codes[2, f]
                        total += p3 * codes[3, f] + p4 * codes[4, f] + p5 * codes[5, f]
                        wide[c, f] = total + x[s, a, b, f] + y[s, a, c, f]
                if a == 0:
                    for f in range(row):
                        found[f] = candidate[f]
                        pick[f] = 0
                else:
                    for f in range(row):
                        better = candidate[f] > found[f]
                        found[f] = candidate[f] if better else found[f]
                        pick[f] = np.int32(a) if better else pick[f]
            for c in range(nodes):
                for f in range(features):
                    arg[s, b, c, f] = chosen[c, f]


@entry_point(fastmath=True)
def loop_of_max_plus_triples_backward(gradient, pointer, codes, arg, to_x, to_y, to_pointer, to_codes):
    """All goes to the a that was chosen: there is little to do."""
    batch, nodes, _, features = gradient.shape
    for s in range(batch):
        for b in range(nodes):
            for c in range(nodes):
                for f in range(features):
                    g = gradient[s, b, c, f]
                    a = np.uint64(arg[s, b, c, f])
                    to_x[s, a, b, f] += g
                    to_y[s, a, c, f] += g
                    for order, value in enumerate(six(pointer, s, a, b, c)):
                        to_codes[order, f] += g * value
                    add_to_six(
                        to_pointer, s, a, b, c,
                        g * codes[0, f], g * codes[1, f], g * codes[2, f],
                        g * codes[3, f], g * codes[4, f], g * codes[5, f],
                    )  # fmt: skip
