"""Nested values of tensors: what a step starts from, what it gives, what is the same at every step."""

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor


def mapped(function: Callable[[Any], Any], tree: Any, kind: type = Tensor) -> Any:
    """The same with each tensor (or what is of another kind) replaced, in tuples, named tuples, lists and dicts."""
    if isinstance(tree, kind):
        return function(tree)
    if isinstance(tree, dict):
        return {name: mapped(function, value, kind) for name, value in tree.items()}
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return type(tree)(*(mapped(function, value, kind) for value in tree))
    if isinstance(tree, (tuple, list)):
        return type(tree)(mapped(function, value, kind) for value in tree)
    return tree


def tensors(tree: Any, kind: type = Tensor) -> Iterator[Any]:
    """All tensors (or what is of another kind), in their order."""
    if isinstance(tree, kind):
        yield tree
    elif isinstance(tree, dict):
        for value in tree.values():
            yield from tensors(value, kind)
    elif isinstance(tree, (tuple, list)):
        for value in tree:
            yield from tensors(value, kind)


def cut_off(tree: Any) -> Any:
    """The same numbers, cut off from what they were computed from: their gradients end there, in `.grad`."""
    return mapped(lambda x: x.detach().requires_grad_(x.requires_grad), tree)


def leaves(tree: Any) -> Any:
    """The same numbers, cut off, and each wants a gradient."""
    return mapped(lambda x: x.detach().requires_grad_(), tree)


def pass_on(tree: Any, cut: Any) -> None:
    """The gradients that `cut_off(tree)` was given, to what the tree was computed from."""
    pairs = [(x, y.grad) for x, y in zip(tensors(tree), tensors(cut), strict=True) if y.grad is not None]
    torch.autograd.backward([x for x, _ in pairs], [gradient for _, gradient in pairs])
