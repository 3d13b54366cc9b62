"""Nested values of tensors."""

from typing import Any, NamedTuple

import torch
from torch import Tensor

from rnar.engine.trees import cut_off, mapped, pass_on, tensors


class Named(NamedTuple):
    x: Tensor
    rest: Any


def test_every_tensor_is_found_in_its_place_and_all_else_stays():
    tree = Named(torch.ones(1), {"a": [torch.ones(2), None], "b": (torch.ones(3), "word", 4)})
    doubled = mapped(lambda x: 2 * x, tree)
    assert [len(x) for x in tensors(doubled)] == [1, 2, 3] and all((x == 2).all() for x in tensors(doubled))
    assert isinstance(doubled, Named) and doubled.rest["a"][1] is None and doubled.rest["b"][1:] == ("word", 4)


def test_gradients_that_end_at_what_was_cut_off_are_passed_on():
    """y = (2 w)^2 + 3 w, in two backward passes that stop at 2 w and 3 w: dy/dw = 8 w + 3."""
    w, unused = torch.tensor(5.0, requires_grad=True), torch.tensor(1.0, requires_grad=True)
    whole = {"twice": 2 * w, "thrice": (3 * w, unused * 1), "plain": torch.tensor(1)}
    parts = cut_off(whole)
    (parts["twice"] ** 2).backward()
    parts["thrice"][0].backward()
    assert w.grad is None and not parts["plain"].requires_grad
    pass_on(whole, parts)
    assert w.grad == 43 and unused.grad is None
