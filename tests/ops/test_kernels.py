"""The compiled loops do what plain tensor code does, forward and backward."""

import pytest
import torch

from rnar import ops as kernels

B, N, H, C = 2, 5, 7, 3


def tensors(*shapes, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=generator) for shape in shapes]


def sparse(channels):
    """As one-hots are: mostly zero."""
    return torch.where(channels > 0.5, channels, 0.0)


def lstm(x, from_x, from_state, bias):
    """Equation by equation."""
    h = c = x.new_zeros(x.shape[0], x.shape[2], from_state.shape[1])
    for t in range(x.shape[1]):
        i, f, g, o = (x[:, t] @ from_x.T + h @ from_state.T + bias).chunk(4, dim=-1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
    return h


CASES = {
    "lstm": (kernels.lstm, lambda: tensors((B, N, 4, C), (4 * H, C), (4 * H, H), (4 * H,)), lstm),
    "pair_mlp": (
        kernels.pair_mlp,
        lambda: (lambda t: [sparse(t[0]), *t[1:]])(
            tensors((B, N, N, C), (C, H), (B, N, H), (B, N, H), (6, H), (6,)),
        ),
        lambda channels, weight, sender, receiver, layer, bias: torch.relu(
            torch.relu(channels @ weight + sender[:, :, None] + receiver[:, None]) @ layer.T + bias
        ),
    ),
    "max_over_senders": (
        kernels.max_over_senders,
        lambda: tensors((B, N, 4, H)),
        lambda messages: messages.amax(dim=1),
    ),
    "max_of_linear": (
        kernels.max_of_linear,
        lambda: tensors((B, N, 4, C), (H, C)),
        lambda x, weight: (x @ weight.T).amax(dim=1),
    ),
    "max_triplets": (
        kernels.max_triplets,
        lambda: (lambda t: [sparse(t[0]), *t[1:]])(tensors((B, N, N, C), (C, 24), *[(B, N, 8)] * 3)),
        lambda channels, weight, a, b, c: (
            (channels @ weight)[:, :, :, None, :8]
            + (channels @ weight)[:, :, None, :, 8:16]
            + (channels @ weight)[:, None, :, :, 16:]
            + a[:, :, None, None]
            + b[:, None, :, None]
            + c[:, None, None]
        ).amax(dim=1),
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
    "max_dot_rectified": (
        kernels.max_dot_rectified,
        lambda: tensors((B, N, H), (B, N, H), (B, N, N, 2), (6, 2), (6,), (H, 6), (B, N, N, C), (C, H), (H,)),
        lambda p, q, few, out, bias, layer, channels, weight, w: (
            torch.maximum(
                p[:, :, None],
                q[:, None] + (torch.relu(few @ out.T + bias) @ layer.T + channels @ weight).transpose(1, 2),
            )
            @ w
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
@pytest.mark.parametrize("rows", [1, 2 * N * N, 3 * N * N])
def test_results_do_not_depend_on_how_many_pairs_are_worked_on_at_once(name, rows, monkeypatch):
    function, inputs, _ = CASES[name]
    expected = results(function, [torch.cat([x] * 2) if x.shape[:1] == (B,) else x for x in inputs()], torch.float32)
    monkeypatch.setattr(kernels, "ROWS", rows)
    found = results(function, [torch.cat([x] * 2) if x.shape[:1] == (B,) else x for x in inputs()], torch.float32)
    for ours, others in zip(found, expected, strict=True):
        torch.testing.assert_close(ours, others, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_memory_need_not_be_contiguous(name):
    function, inputs, plain = CASES[name]
    strided = [torch.stack([x, x], dim=-1)[..., 0] for x in inputs()]
    torch.testing.assert_close(function(*strided), plain(*inputs()), atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_gradients_agree_with_finite_differences(name):
    function, inputs, _ = CASES[name]
    assert torch.autograd.gradcheck(function, [x.double().requires_grad_() for x in inputs()])
