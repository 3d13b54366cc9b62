"""The compiled kernels compute the plain expressions, forward and backward.

Kernels are for single precision on CPUs; what they are compared with is written out once more, in double precision.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import nullcontext
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.autograd.function import BackwardCFunction
from torch.utils._python_dispatch import TorchDispatchMode

from rnar import functional as kernels
from rnar.functional import Affine, ReLU, beside, computed, linear
from rnar.functional.compiled import arrays, loop, plain
from rnar.functional.numbers import kept, read, sigmoid, tanh
from rnar.functional.scope import Scope, entered


class Shape(NamedTuple):
    batch: int
    nodes: int
    size: int
    channels: int


TINY = Shape(batch=1, nodes=3, size=4, channels=1)
SMALL = Shape(batch=2, nodes=5, size=7, channels=3)
SHAPES = [
    SMALL,
    Shape(batch=1, nodes=2, size=3, channels=1),
    Shape(batch=5, nodes=16, size=12, channels=4),  # 256 pairs a sample: two blocks of two, and one that is not full
    Shape(batch=3, nodes=24, size=9, channels=2),  # 576 pairs a sample: each is more than a block
]


def layer_of(weight: Tensor, bias: Tensor | None = None) -> nn.Linear:
    """A linear map with these tensors in place of parameters."""
    layer = nn.Linear(weight.shape[1], weight.shape[0])
    del layer.weight, layer.bias
    layer.weight, layer.bias = weight, weight.new_zeros(len(weight)) if bias is None else bias  # type: ignore[assignment]
    return layer


class Case(NamedTuple):
    function: Callable[..., Tensor]
    shapes: Callable[[Shape], list[tuple[int, ...]]]
    """of its arguments"""
    plain: Callable[..., Tensor]
    margins: Callable[..., list[Tensor]]
    """what decides where a gradient goes, by its sign"""


def sums(channels, weight, sender, receiver):
    return channels @ weight + sender[:, :, None] + receiver[:, None]


def triplets(channels, weight, a, b, c):
    x, y, z = (channels @ weight).chunk(3, dim=-1)
    nodes = a[:, :, None, None] + b[:, None, :, None] + c[:, None, None]
    return x[:, :, :, None] + y[:, :, None] + z[:, None] + nodes


def lstm(x, from_x, from_state, bias):
    """Equation by equation."""
    h = c = x.new_zeros(x.shape[0], x.shape[2], from_state.shape[1])
    for t in range(x.shape[1]):
        i, f, g, o = (x[:, t] @ from_x.T + h @ from_state.T + bias).chunk(4, dim=-1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
    return h


def second(q, pairs, channels, weight):
    return q[:, None] + (pairs + channels @ weight).transpose(1, 2)


def rectified(few, out, bias, layer):
    return torch.relu(few @ out.T + bias) @ layer.T


def codes_of(pointers, codes):
    """Written out, order by order: [B, a, b, c, F]"""
    total = 0
    for p in range(pointers.shape[1]):
        P = pointers[:, p]
        for each, code in zip(
            (
                torch.einsum("zabc->zabc", P),
                torch.einsum("zacb->zabc", P),
                torch.einsum("zbac->zabc", P),
                torch.einsum("zbca->zabc", P),
                torch.einsum("zcab->zabc", P),
                torch.einsum("zcba->zabc", P),
            ),
            codes[p],
            strict=True,
        ):
            total = total + each[..., None] * code
    return total


def plus_triples(x, y, pointers, codes):
    return x[:, :, :, None] + y[:, :, None] + codes_of(pointers, codes)


def sum_of_triples(x, y, z, pointers, codes):
    return x[:, :, :, None] + y[:, :, None] + z[:, None] + codes_of(pointers, codes)


def lead(candidates: Tensor) -> Tensor:
    """By how much the largest along dimension 1 exceeds the second."""
    if candidates.shape[1] == 1:
        return torch.ones(1)
    first, second = candidates.topk(2, dim=1).values.unbind(dim=1)
    return first - second


CASES = {
    "lstm": Case(
        lambda x, from_x, from_state, bias: kernels.lstm(Affine(x, from_x, bias), from_state),
        lambda s: [(s.batch, s.nodes, 4, s.channels), (4 * s.size, s.channels), (4 * s.size, s.size), (4 * s.size,)],
        lstm,
        lambda *_: [],
    ),
    "pair_mlp": Case(
        lambda channels, weight, sender, receiver, layer, bias: kernels.pair_mlp(
            Affine(channels, weight.T), sender, receiver, layer_of(layer, bias)
        ),
        lambda s: [
            (s.batch, s.nodes, s.nodes, s.channels),
            (s.channels, s.size),
            *[(s.batch, s.nodes, s.size)] * 2,
            (6, s.size),
            (6,),
        ],  # fmt: skip
        lambda channels, weight, sender, receiver, layer, bias: torch.relu(
            torch.relu(sums(channels, weight, sender, receiver)) @ layer.T + bias
        ),
        lambda channels, weight, sender, receiver, layer, bias: [
            sums(channels, weight, sender, receiver),
            torch.relu(sums(channels, weight, sender, receiver)) @ layer.T + bias,
        ],
    ),
    "max_of_linear": Case(
        lambda x, weight: kernels.max_over_senders(Affine(x, weight)),
        lambda s: [(s.batch, s.nodes, s.nodes, s.channels), (s.size, s.channels)],
        lambda x, weight: (x @ weight.T).amax(dim=1),
        lambda x, weight: [lead(x @ weight.T)],
    ),
    "max_triplets": Case(
        lambda channels, weight, *nodes: kernels.max_triplets(*nodes, Affine(channels, weight.T)),
        lambda s: [(s.batch, s.nodes, s.nodes, s.channels), (s.channels, 24), *[(s.batch, s.nodes, 8)] * 3],
        lambda *tensors: triplets(*tensors).amax(dim=1),
        lambda *tensors: [lead(triplets(*tensors))],
    ),
    "narrow_mlp": Case(
        lambda few, out, bias, layer: computed(linear(ReLU(lambda: few, layer_of(out, bias)), layer)),
        lambda s: [(s.batch, s.nodes, s.nodes, s.channels), (s.size, s.channels), (s.size,), (2, s.size)],
        rectified,
        lambda few, out, bias, layer: [few @ out.T + bias],
    ),
    "max_dot": Case(
        lambda p, q, channels, weight, w: kernels.max_dot(p, q, Affine(channels), layer_of(weight.T), w),
        lambda s: [
            *[(s.batch, s.nodes, s.size)] * 2,
            (s.batch, s.nodes, s.nodes, min(s.channels, s.size - 1)),
            (min(s.channels, s.size - 1), s.size),
            (s.size,),
        ],
        lambda p, q, channels, weight, w: torch.maximum(p[:, :, None], second(q, 0, channels, weight)) @ w,
        lambda p, q, channels, weight, w: [p[:, :, None] - second(q, 0, channels, weight)],
    ),
    "max_dot_rectified": Case(
        lambda p, q, few, out, bias, layer, channels, weight, w: kernels.max_dot(
            p,
            q,
            beside(Affine(channels), ReLU(lambda: few, layer_of(out, bias))),
            layer_of(torch.cat([weight.T, layer], dim=1)),
            w,
        ),
        lambda s: [
            *[(s.batch, s.nodes, s.size)] * 2,
            (s.batch, s.nodes, s.nodes, 2),
            (6, 2),
            (6,),
            (s.size, 6),
            (s.batch, s.nodes, s.nodes, s.channels),
            (s.channels, s.size),
            (s.size,),
        ],  # fmt: skip
        lambda p, q, few, out, bias, layer, channels, weight, w: (
            torch.maximum(p[:, :, None], second(q, rectified(few, out, bias, layer), channels, weight)) @ w
        ),
        lambda p, q, few, out, bias, layer, channels, weight, w: [
            few @ out.T + bias,
            p[:, :, None] - second(q, rectified(few, out, bias, layer), channels, weight),
        ],
    ),
    "max_dot_triples": Case(
        kernels.max_dot_triples,
        lambda s: [(s.batch, s.nodes, s.nodes, s.size), (s.batch, s.nodes, s.size), (s.size,)],
        lambda pairs, r, w: torch.maximum(pairs[:, :, :, None], r[:, None, None]) @ w,
        lambda pairs, r, w: [],  # compares what it is given
    ),
    "max_plus_triples": Case(
        kernels.max_plus_triples,
        lambda s: [*[(s.batch, s.nodes, s.nodes, s.size)] * 2, (s.batch, 1, s.nodes, s.nodes, s.nodes), (1, 6, s.size)],
        lambda *tensors: plus_triples(*tensors).amax(dim=1),
        lambda *tensors: [lead(plus_triples(*tensors))],
    ),
    "relu_dot_triples": Case(
        kernels.relu_dot_triples,
        lambda s: [
            *[(s.batch, s.nodes, s.nodes, s.size)] * 3,
            (s.batch, 1, s.nodes, s.nodes, s.nodes),
            (1, 6, s.size),
            (s.size,),
        ],  # fmt: skip
        lambda x, y, z, pointers, codes, w: torch.relu(sum_of_triples(x, y, z, pointers, codes)) @ w,
        lambda x, y, z, pointers, codes, w: [sum_of_triples(x, y, z, pointers, codes)],
    ),
}

SPARSE = {"pair_mlp", "max_triplets"}  # their first argument is mostly zero, as one-hots are


def drawn(name: str, shape: Shape, seed: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    found = [torch.randn(each, generator=generator) for each in CASES[name].shapes(shape)]
    if name in SPARSE:
        found[0] = torch.where(found[0] > 0.5, found[0], 0.0)
    return found


def inputs(name: str, shape: Shape, least: float = 1e-5) -> list[Tensor]:
    """Random numbers with which no decision is so close that single precision could decide otherwise."""
    for seed in range(100):
        found = drawn(name, shape, seed)
        margins = CASES[name].margins(*(x.double() for x in found))
        if all(margin.abs().min() > least for margin in margins):
            return found
    raise AssertionError("all of them have close decisions")


def results(
    function: Callable[..., Tensor], tensors: list[Tensor], dtype: torch.dtype, with_loops: bool = True
) -> list[Tensor]:
    """The value, and the gradients of a sum of its entries with weights that differ."""
    leaves = [x.to(dtype).requires_grad_() for x in tensors]
    out = function(*leaves)
    if dtype == torch.float32 and with_loops:
        assert isinstance(out.grad_fn, BackwardCFunction), "this did not go through the compiled loops"
    (out * torch.linspace(-1, 1.1, out.numel(), dtype=dtype).view(out.shape)).sum().backward()
    return [out.detach(), *(x.grad for x in leaves)]


def assert_close(found: list[Tensor], expected: list[Tensor], tolerance: float) -> None:
    """As parts of the largest entry: what is small may be a difference of what is large."""
    for ours, theirs in zip(found, expected, strict=True):
        assert ours.shape == theirs.shape
        assert (ours.double() - theirs.double()).abs().max() <= tolerance * theirs.abs().max()


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{s.batch}x{s.nodes}")
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_of_the_compiled_loops_equal_plain_tensor_code_in_double_precision(name, shape):
    tensors = inputs(name, shape)
    expected = results(CASES[name].plain, tensors, torch.float64)
    assert all(x.any() for x in expected)
    assert_close(results(CASES[name].function, tensors, torch.float32), expected, 1e-4)


@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_the_same_where_there_are_no_loops(name):
    tensors = inputs(name, SMALL)
    expected = results(CASES[name].plain, tensors, torch.float64)
    assert_close(results(CASES[name].function, tensors, torch.float64), expected, 1e-12)


@pytest.mark.parametrize("at_once", [1, 1000, 1 << 20], ids=lambda numbers: f"{numbers} numbers")
@pytest.mark.parametrize("name", ["max_triplets", "max_dot_triples", "max_plus_triples", "relu_dot_triples"])
def test_without_loops_any_portions_of_triples_give_the_same(name, at_once, monkeypatch):
    monkeypatch.setattr(sys.modules["rnar.functional.compiled"], "NUMBERS", at_once)
    tensors = inputs(name, SMALL)
    expected = results(CASES[name].plain, tensors, torch.float64)
    assert_close(results(CASES[name].function, tensors, torch.float64), expected, 1e-12)


class Calls(TorchDispatchMode):
    """Counts operations of torch."""

    count = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.count += 1
        return function(*args, **(kwargs or {}))


@pytest.mark.parametrize("name", [name for name in CASES if name != "lstm"])  # which is one call where there is cuDNN
def test_without_loops_the_number_of_calls_does_not_grow_with_the_nodes(name):
    counts = set()
    for shape in (SMALL, SMALL._replace(nodes=11)):
        with Calls() as calls:
            results(CASES[name].function, drawn(name, shape, seed=0), torch.float64)
        counts.add(calls.count)
    assert len(counts) == 1


@pytest.mark.parametrize("name", CASES)
def test_memory_need_not_be_contiguous(name):
    tensors = inputs(name, SMALL)
    strided = [torch.stack([x, x], dim=-1)[..., 0] for x in tensors]
    assert not strided[0].is_contiguous()
    expected = results(CASES[name].plain, tensors, torch.float64)
    assert_close(results(CASES[name].function, strided, torch.float32), expected, 1e-4)


@pytest.mark.parametrize("name", CASES)
def test_the_same_numbers_come_again_bit_by_bit(name):
    tensors = inputs(name, SHAPES[2])
    first, again = (results(CASES[name].function, tensors, torch.float32) for _ in range(2))
    assert all(torch.equal(x, y) for x, y in zip(first, again, strict=True))


HALF = torch.bfloat16
IN_HALF = ("pair_mlp", "max_dot_rectified", "max_of_linear", "lstm")
COMES_OUT_IN_HALF = {"pair_mlp"}


def decided(name: str, shape: Shape) -> list[Tensor]:
    """Numbers whose sums bfloat16 has exactly: no maximum and no relu decides otherwise, and there are no ties."""
    found = [x.sign() * (x.abs() > 0.5) for x in drawn(name, shape, seed=0)]
    if name == "lstm":  # gates that are not shut have gradients
        return [0.3 * x for x in drawn(name, shape, seed=0)]
    if name == "max_dot_rectified":
        found[0] += 0.5
    if name == "max_of_linear":
        found[0] *= 32
        found[0][..., 0], found[1][:, 0] = torch.arange(shape.nodes).view(-1, 1), 1.0
    return found


@pytest.mark.parametrize("shape", SHAPES, ids=lambda s: f"{s.batch}x{s.nodes}")
@pytest.mark.parametrize("with_loops", [True, False], ids=["loops", "plain"])
@pytest.mark.parametrize("name", IN_HALF)
def test_in_bfloat16_values_and_gradients_are_near_those_in_double_precision(name, with_loops, shape):
    tensors = decided(name, shape)
    expected = results(CASES[name].plain, tensors, torch.float64)

    def function(x: Tensor, *others: Tensor) -> Tensor:
        x = x.to(HALF) if name in ("max_of_linear", "lstm") else x  # which take the precision of messages
        return CASES[name].function(x, *others)

    with entered(Scope(HALF)), nullcontext() if with_loops else plain():
        found = results(function, tensors, torch.float32, with_loops)
    assert found[0].dtype == (HALF if name in COMES_OUT_IN_HALF else torch.float32)
    assert all(x.dtype == torch.float32 for x in found[1:])
    errors = [(ours.double() - theirs).norm() / theirs.norm() for ours, theirs in zip(found, expected, strict=True)]
    assert 0 < max(errors) < 0.02  # so that something was rounded, to 1/512 at most each time


def test_a_linear_map_may_have_products_in_bfloat16_and_its_gradients_stay_near(monkeypatch):
    monkeypatch.setattr(sys.modules["rnar.functional.affine"], "WORTH_ROUNDING", 1)
    generator = torch.Generator().manual_seed(0)
    numbers = [torch.randn(s, generator=generator, dtype=torch.double) for s in ((2, 5, 8), (6, 8), (6,), (2, 5, 6))]

    def results(dtype: torch.dtype, precision: torch.dtype | None) -> list[Tensor]:
        x, w, b, toward = (each.to(dtype, copy=True).requires_grad_() for each in numbers)
        with entered(Scope(precision)):
            y = linear(x, w, b)
        (y * toward.detach()).sum().backward()
        return [y.detach(), x.grad, w.grad, b.grad]

    for ours, exact in zip(results(torch.float32, HALF), results(torch.double, None), strict=True):
        assert ours.dtype == torch.float32
        assert (ours.double() - exact).norm() / exact.norm() < 0.01
    assert not torch.allclose(results(torch.float32, HALF)[0], results(torch.float32, None)[0], rtol=1e-5)


def test_products_of_weights_are_made_once_in_a_scope_and_get_the_gradient_of_all_its_uses():
    generator = torch.Generator().manual_seed(0)
    x, inner, outer = (torch.randn(s, generator=generator, dtype=torch.double) for s in ((3, 2), (5, 2), (4, 5)))
    gradients, calls = [], []
    for scope in (Scope(), None):
        w, v = inner.clone().requires_grad_(), outer.clone().requires_grad_()
        with entered(scope) if scope else nullcontext(), Calls() as counted:
            total = sum(computed(Affine(x, w).then(v, None)).square().sum() for _ in range(3))
        assert isinstance(total, Tensor)
        total.backward()
        gradients.append((w.grad, v.grad))
        calls.append(counted.count)
    assert calls[0] < calls[1]
    for ours, expected in zip(*gradients, strict=True):
        torch.testing.assert_close(ours, expected)


@loop
def halves(out, x):
    for i in range(len(x)):
        out[i] = kept(x[i], out[i])


@loop
def wholes(x, out):
    for i in range(len(x)):
        out[i] = read(x[i])


@loop
def squashed(x, gate, candidate):
    for i in range(len(x)):
        gate[i], candidate[i] = sigmoid(read(x[i])), tanh(read(x[i]))


def test_numbers_are_rounded_in_loops_as_torch_rounds_them():
    bits = torch.randint(-(2**31), 2**31 - 1, (100_000,), generator=torch.Generator().manual_seed(0)).int()
    ties = torch.arange(-4000, 4000).int() * 65536 + 32768  # between two numbers of bfloat16: to the even one
    x = torch.cat([bits, ties]).view(torch.float32)
    x = torch.cat([x[~x.isnan()], torch.tensor([0.0, -0.0, torch.inf, -torch.inf, torch.nan])])
    half, back = x.new_empty(len(x), dtype=HALF), torch.empty_like(x)
    halves(*arrays(half, x))
    wholes(*arrays(half, back))
    assert torch.equal(half[:-1], x[:-1].to(HALF)) and half[-1].isnan()
    assert torch.equal(back[:-1], half[:-1].float())
    halves(*arrays(back, x))
    assert torch.equal(back[:-1], x[:-1])


def test_sigmoid_and_tanh_are_those_of_double_precision():
    x = torch.cat(
        [torch.linspace(-20, 20, 100_001), torch.tensor([-1e30, -200.0, 200.0, 1e30, -torch.inf, torch.inf, torch.nan])]
    )
    gate, candidate = torch.empty_like(x), torch.empty_like(x)
    squashed(*arrays(x, gate, candidate))
    np.testing.assert_allclose(gate, torch.sigmoid(x.double()), atol=3e-7, rtol=0)
    np.testing.assert_allclose(candidate, torch.tanh(x.double()), atol=6e-7, rtol=0)


@pytest.mark.parametrize("precision", [torch.float32, HALF])
@pytest.mark.parametrize("worst", [torch.nan, torch.inf])
def test_an_lstm_gives_no_number_where_it_reads_none(precision, worst):
    x, *weights = drawn("lstm", SHAPES[2], seed=0)
    x[0, 3, 1], weights[0][:] = worst, 0.0  # 0 times infinity is none either
    out = CASES["lstm"].function(x.to(precision), *(weight.requires_grad_() for weight in weights))
    assert out[0, 1].isnan().all() and out[1:].isfinite().all()


@pytest.mark.parametrize("pointers", [0, 2])
@pytest.mark.parametrize("name", ["max_plus_triples", "relu_dot_triples"])
def test_there_may_be_any_number_of_pointers_of_pairs(name, pointers):
    case = CASES[name]
    shapes = [(s[0], pointers, *s[2:]) if len(s) == 5 else (pointers, *s[1:]) if s[:2] == (1, 6) else s
              for s in case.shapes(TINY)]  # fmt: skip
    generator = torch.Generator().manual_seed(0)
    tensors = [torch.randn(shape, generator=generator).double().requires_grad_() for shape in shapes]
    assert torch.allclose(case.function(*tensors), case.plain(*tensors))
    assert torch.autograd.gradcheck(case.function, tensors)


@pytest.mark.parametrize("name", ["max_plus_triples", "relu_dot_triples"])
def test_gradients_of_compiled_loops_over_triples_agree_with_finite_differences(name):
    """Between decisions they are linear in any one number: a wide central difference is exact but for rounding."""
    tensors, width = inputs(name, TINY, least=0.05), 2**-8
    out, *gradients = results(CASES[name].function, tensors, torch.float32)
    weights = torch.linspace(-1, 1.1, out.numel())

    def value(k: int, at: int, by: float) -> float:
        moved = [x.clone() for x in tensors]
        moved[k].view(-1)[at] += by
        return (CASES[name].function(*moved).double().view(-1) * weights).sum().item()

    for k, gradient in enumerate(gradients):
        for at, expected in enumerate(gradient.reshape(-1).tolist()):
            found = (value(k, at, width) - value(k, at, -width)) / (2 * width)
            assert found == pytest.approx(expected, abs=2e-3)
