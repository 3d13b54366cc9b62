"""Lazy values: linear maps of features that are not computed before an operation needs them.

A linear map of a linear map is one linear map. An edge has a few channels and, once encoded, 128 features: an operation
that reads `W2 (W1 x + b1) + b2` multiplies the weights once a rollout, and never makes the 128 features of N^2 edges.

    e = Affine(channels, weight, bias)     # the encoded edges
    linear(e, weight2, bias2)              # again an Affine of the channels
    computed(e)                            # the tensor that it stands for
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, reduce

import torch
from torch import Tensor

from rnar.functional.scope import of_weights


class Lazy:
    """A tensor [..., F] that has not been computed. A slice is one of samples, the first axis."""

    @property
    def width(self) -> int:
        """F"""
        raise NotImplementedError

    @property
    def shape(self) -> torch.Size:
        return self.computed.shape

    @cached_property
    def computed(self) -> Tensor:
        raise NotImplementedError

    def __getitem__(self, some: slice) -> Lazy:
        raise NotImplementedError


Features = Tensor | Lazy


class Affine(Lazy):
    """W x + b: [..., O] of x [..., I], W [O, I], b [O]. Without W it is x itself."""

    def __init__(self, x: Features, weight: Tensor | None = None, bias: Tensor | None = None):
        self.x, self.weight, self.bias = x, weight, bias

    @property
    def width(self) -> int:
        return width(self.x) if self.weight is None else len(self.weight)

    @cached_property
    def computed(self) -> Tensor:
        from rnar.functional.linears import mapped

        return computed(self.x) if self.weight is None else mapped(self.x, self.weight, self.bias)

    def __getitem__(self, some: slice) -> Affine:
        return Affine(self.x[some], self.weight, self.bias)

    @property
    def across(self) -> Tensor:
        """W transposed, [I, O], as kernels read it."""
        return of_weights(_transposed, self.weight)

    @property
    def shape(self) -> torch.Size:
        return torch.Size((*self.x.shape[:-1], self.width))

    def then(self, weight: Tensor, bias: Tensor | None) -> Affine:
        """V (W x + b) + c"""
        if self.weight is None:
            return Affine(self.x, weight, bias)
        product = of_weights(torch.matmul, weight, self.weight)
        if self.bias is not None:
            bias = of_weights(_product_and_bias, weight, self.bias, bias)
        return Affine(self.x, product, bias)

    def __add__(self, other: Affine) -> Affine:
        """The sum of two maps is one map of both inputs, side by side."""
        assert self.weight is not None and other.weight is not None
        x = torch.cat([computed(self.x), computed(other.x)], dim=-1)
        weight = of_weights(_beside, self.weight, other.weight)
        if self.bias is None or other.bias is None:
            return Affine(x, weight, self.bias if other.bias is None else other.bias)
        return Affine(x, weight, of_weights(torch.add, self.bias, other.bias))


class ReLU(Lazy):
    """relu(W x + b) of few numbers x [..., I]: a tensor, or what computes it of some samples when it is needed."""

    def __init__(self, x: Tensor | Callable[[slice], Tensor], weight: Tensor, bias: Tensor):
        self._x, self.weight, self.bias = x, weight, bias

    @cached_property
    def x(self) -> Tensor:
        return self._x if isinstance(self._x, Tensor) else self._x(slice(None))

    @property
    def width(self) -> int:
        return len(self.weight)

    @cached_property
    def computed(self) -> Tensor:
        from rnar.functional.linears import linear_relu

        return linear_relu(self.x, self.weight, self.bias)

    def __getitem__(self, some: slice) -> ReLU:
        made = self._x
        if isinstance(made, Tensor) or "x" in vars(self):
            part = ReLU(self.x[some], self.weight, self.bias)
            if "computed" in vars(self):
                part.computed = self.computed[some]
            return part
        return ReLU(lambda _: made(some), self.weight, self.bias)


class Concatenated(Lazy):
    """Features side by side. A map of them is one product of all their inputs, plus a map of each other part."""

    def __init__(self, parts: Sequence[Features]):
        flat = [each for part in parts for each in (part.parts if isinstance(part, Concatenated) else [part])]
        self.parts: list[Features] = flat

    @property
    def width(self) -> int:
        return sum(map(width, self.parts))

    @property
    def shape(self) -> torch.Size:
        return torch.Size((*self.parts[0].shape[:-1], self.width))

    @cached_property
    def computed(self) -> Tensor:
        return torch.cat([computed(part) for part in self.parts], dim=-1)

    @cached_property
    def inputs(self) -> Tensor:
        """The inputs of those parts that are maps of tensors, side by side."""
        inputs = [x for part in self.parts if isinstance(x := lazy(part).x, Tensor)]
        return torch.cat(inputs, dim=-1) if len(inputs) > 1 else inputs[0]

    def __getitem__(self, some: slice) -> Concatenated:
        if some == slice(None):
            return self
        return Concatenated([part[some] for part in self.parts])

    def mapped(self, weight: Tensor, bias: Tensor | None) -> Affine | Sum:
        """W x + b"""
        maps = [lazy(part) for part in self.parts]
        others = [each.x for each in maps if not isinstance(each.x, Tensor)]
        inner = [x for each in maps for x in (each.weight, each.bias)]
        where = tuple((each.width, not isinstance(each.x, Tensor)) for each in maps)
        folded, bias, rest = of_weights(_folded, where, weight, bias, *inner)
        of_inputs = Affine(self.inputs, folded, bias)
        return Sum([of_inputs, *map(Affine, others, rest)]) if others else of_inputs


class Sum(Lazy):
    """The sum of linear maps."""

    def __init__(self, parts: Sequence[Affine]):
        self.parts = list(parts)

    @property
    def width(self) -> int:
        return self.parts[0].width

    @cached_property
    def computed(self) -> Tensor:
        return reduce(torch.add, [part.computed for part in self.parts])

    def __getitem__(self, some: slice) -> Sum:
        return Sum([part[some] for part in self.parts])


def lazy(x: Features) -> Affine:
    """The same as a map that others can be put after."""
    return x if isinstance(x, Affine) else Affine(x)


def computed(x: Features) -> Tensor:
    """The tensor that features stand for."""
    return x.computed if isinstance(x, Lazy) else x


def width(x: Features) -> int:
    """How many features there are: the last axis."""
    return x.width if isinstance(x, Lazy) else x.shape[-1]


def _product_and_bias(weight: Tensor, inner: Tensor, bias: Tensor | None) -> Tensor:
    return weight @ inner if bias is None else weight @ inner + bias


def _transposed(weight: Tensor) -> Tensor:
    return weight.T.contiguous()


def _beside(first: Tensor, second: Tensor) -> Tensor:
    return torch.cat([first, second], dim=1)


def _folded(
    where: tuple[tuple[int, bool], ...], weight: Tensor, bias: Tensor | None, *inner: Tensor | None
) -> tuple[Tensor, Tensor | None, list[Tensor]]:
    """The weight and the bias of a map of features side by side, of their inputs; and the weights of other parts."""
    folded, rest = [], []
    pieces = weight.split_with_sizes([size for size, _ in where], dim=1)
    for (_, other), piece, of_part, bias_of_part in zip(where, pieces, inner[::2], inner[1::2], strict=True):
        if bias_of_part is not None:
            bias = piece @ bias_of_part if bias is None else bias + piece @ bias_of_part
        (rest if other else folded).append(piece if of_part is None else piece @ of_part)
    return torch.cat(folded, dim=1), bias, [piece.contiguous() for piece in rest]
