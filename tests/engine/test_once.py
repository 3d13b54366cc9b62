"""What is computed once is given again, and its gradient is passed on."""

import threading

import torch

from rnar.engine.once import computing_once, once


def counted(weight):
    calls = []

    def compute():
        calls.append(1)
        return (weight * 2,)

    return compute, calls


def test_outside_of_a_scope_it_always_computes():
    compute, calls = counted(torch.ones(2))
    assert once("key", compute) is not once("key", compute) and len(calls) == 2


def test_within_a_scope_it_computes_once_for_each_key_and_thread():
    compute, calls = counted(torch.ones(2))
    with computing_once():
        first = once("key", compute)
        assert once("key", compute) is first and once("other", compute) is not first
        thread = threading.Thread(target=lambda: once("key", compute))
        thread.start()
        thread.join()
    assert len(calls) == 3


def test_gradients_of_several_passes_are_summed_and_passed_on_through_values_made_of_values():
    weight = torch.tensor([1.0, 3.0], requires_grad=True)
    with computing_once(apart=True):
        for factor in (1.0, 10.0):
            (doubled,) = once("doubled", lambda: (weight * 2,))
            (squared,) = once("squared", lambda d=doubled: (d**2,))
            (factor * (squared + doubled)).sum().backward()
        assert weight.grad is None
    x = weight.detach().clone().requires_grad_()
    (11.0 * (4 * x**2 + 2 * x)).sum().backward()
    assert torch.allclose(weight.grad, x.grad)
