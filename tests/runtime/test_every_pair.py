"""Every model learns every task: a few steps of training on tiny problems."""

from __future__ import annotations

import math
import sys
from functools import cache

import numpy as np
import pytest
import torch

from rnar.clrs import ALGORITHMS, Batch, Stream
from rnar.models import MODELS
from rnar.runtime import Workers, backward
from rnar.runtime.workers import autocast

SIZE = {"rt": 16}  # a head of it; 8 for all others
LENGTH = 3  # hints of a sample: true ones are fed to the first step, its own to the second, and so on
STEPS = 2


@cache
def batches(task: str) -> list[Batch]:
    """The first training batches of a task, the smallest there are."""
    with Stream(task, batch=2, sizes=ALGORITHMS[task].problem.training_sizes[:1], ahead=0) as stream:
        return [shortened(next(stream)) for _ in range(STEPS)]


def shortened(batch: Batch) -> Batch:
    """Each sample with its first hints only. Its answer then comes too early, which a network does not know."""
    hints = {name: x[:LENGTH] for name, x in batch.hints.items()}
    return batch._replace(hints=hints, lengths=np.minimum(batch.lengths, LENGTH))


@pytest.mark.parametrize("task", ALGORITHMS)
@pytest.mark.parametrize("name", MODELS)
def test_every_model_learns_every_task_and_all_numbers_stay_finite(name, task):
    model = MODELS[name]
    network = model.build(task, SIZE.get(name, 8), seed=1)
    workers, optimiser = Workers(network, threads=1), torch.optim.Adam(network.parameters(), 1e-3)
    before = [parameter.detach().clone() for parameter in network.processor.parameters()]
    for step, batch in enumerate(batches(task)):
        losses = workers.backward(model.batch(batch), seed=step)
        assert losses and all(map(math.isfinite, losses.values())), losses
        assert not not_finite(network, gradients=True)
        optimiser.step()
        assert not not_finite(network)
    after = list(network.processor.parameters())
    assert any(not torch.equal(x, y) for x, y in zip(before, after, strict=True))


@pytest.mark.parametrize("task", ["bfs", "floyd_warshall", "quickselect"])
@pytest.mark.parametrize("name", MODELS)
def test_every_model_learns_and_is_tried_in_bfloat16(name, task, monkeypatch):
    monkeypatch.setattr(sys.modules["rnar.functional.affine"], "WORTH_ROUNDING", 1)  # small maps of nodes too
    model = MODELS[name]
    batch, network = model.batch(batches(task)[0]), model.build(task, SIZE.get(name, 8), seed=1)
    losses = []
    for precision in ("float32", "bfloat16"):
        with autocast(network, precision):
            backward(network.train(), batch, seed=1, memory=1 << 30)
            assert not not_finite(network, gradients=True)
            losses.append(sum(float(each.total) for each in backward(network, batch, seed=1, memory=0).values()))
            with torch.no_grad():
                network.eval()(batch)
    assert losses[1] == pytest.approx(losses[0], rel=0.05)


def not_finite(network: torch.nn.Module, gradients: bool = False) -> list[str]:
    """The parameters that are not finite numbers, or whose gradients are not."""
    found = {name: x.grad if gradients else x for name, x in network.named_parameters()}
    return [name for name, x in found.items() if x is not None and not x.isfinite().all()]
