"""The compiled loops do what plain tensor code does, forward and backward."""

import pytest
import torch

from rnar.nn import kernels

B, N, H, C = 2, 5, 7, 3


def tensors(*shapes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) for shape in shapes]


def sparse(channels):
    """As one-hots are: mostly zero."""
    return torch.where(channels > 0.5, channels, 0.0)


CASES = {
    "pair_messages": (
        kernels.pair_messages,
        lambda: (lambda t: [sparse(t[0]), *t[1:]])(tensors((B, N, N, C), (C, H), (B, N, H), (B, N, H))),
        lambda channels, weight, sender, receiver: torch.relu(
            channels @ weight + sender[:, :, None] + receiver[:, None]
        ),
    ),
    "max_over_senders": (
        kernels.max_over_senders,
        lambda: tensors((B, N, 4, H)),
        lambda messages: messages.amax(dim=1),
    ),
    "max_plus": (
        kernels.max_plus,
        lambda: tensors((B, N, 4, 8), (B, N, 6, 8)),
        lambda x, y: (x[:, :, :, None] + y[:, :, None]).amax(dim=1),
    ),
    "linear_relu": (
        kernels.linear_relu,
        lambda: tensors((B, N, C), (H, C), (H,)),
        lambda x, weight, bias: torch.relu(x @ weight.T + bias),
    ),
    "max_dot": (
        kernels.max_dot,
        lambda: tensors((B, N, H), (B, N, H), (B, N, N, H), (B, N, N, C), (C, H), (H,)),
        lambda p, q, pairs, channels, weight, w: (
            torch.maximum(p[:, :, None], q[:, None] + (pairs + channels @ weight).transpose(1, 2)) @ w
        ),
    ),
    "max_dot_triples": (
        kernels.max_dot_triples,
        lambda: tensors((B, N, N, H), (B, N, H), (H,)),
        lambda pairs, r, w: torch.maximum(pairs[:, :, :, None], r[:, None, None]) @ w,
    ),
}


def results(function, inputs, dtype):
    leaves = [x.to(dtype).requires_grad_() for x in inputs]
    out = function(*leaves)
    (out * torch.linspace(-1, 1, out.numel(), dtype=dtype).view(out.shape)).sum().backward()
    return [out.detach().float(), *(x.grad.float() for x in leaves)]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["compiled", "anywhere"])
def test_values_and_gradients_equal_plain_tensor_code(name, dtype):
    function, inputs, plain = CASES[name]
    for found, expected in zip(
        results(function, inputs(), dtype), results(plain, inputs(), torch.float64), strict=True
    ):
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_memory_need_not_be_contiguous(name):
    function, inputs, plain = CASES[name]
    strided = [torch.stack([x, x], dim=-1)[..., 0] for x in inputs()]
    torch.testing.assert_close(function(*strided), plain(*inputs()), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_gradients_agree_with_finite_differences(name):
    function, inputs, _ = CASES[name]
    assert torch.autograd.gradcheck(function, [x.double().requires_grad_() for x in inputs()])
