"""When kernels are used."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import torch

from rnar.functional.compiled import compiled, plain

X = torch.zeros(2)


def test_kernels_are_for_cpus_and_the_precisions_that_they_have():
    assert compiled(X) and compiled(X.bfloat16())
    assert not compiled(X.double()) and not compiled(X.half()) and not compiled(X.to("meta"))


def test_a_thread_without_kernels_leaves_those_of_others_on_in_whatever_order_they_end():
    with ThreadPoolExecutor(1) as first, ThreadPoolExecutor(1) as second:
        stacks = ExitStack(), ExitStack()
        for thread, stack in zip((first, second), stacks, strict=True):
            thread.submit(stack.enter_context, plain()).result()
            assert not thread.submit(compiled, X).result() and compiled(X)
        first.submit(stacks[0].close).result()
        assert first.submit(compiled, X).result() and not second.submit(compiled, X).result()
        second.submit(stacks[1].close).result()
        assert second.submit(compiled, X).result() and compiled(X)
