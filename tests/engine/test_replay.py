"""Steps that are recorded and played, with a recorder that does on a CPU what a CUDA graph does on a GPU."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

import rnar.clrs
from rnar.engine import Workers, backward
from rnar.engine.replay import Recordings
from rnar.models import find

READS_THE_DEVICE = ("_local_scalar_dense", "nonzero", "masked_select", "equal", "lift_fresh")


class Tape(TorchDispatchMode):
    """Writes down each operation with the memory that it reads and writes; `play` does them again, without Python.

    An operation for which the computer would wait for a GPU, or send it a number, is refused, as in a CUDA graph.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[Any, Any, Any, Any]] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs, name = kwargs or {}, function.overloadpacket.__name__
        assert name not in READS_THE_DEVICE, f"{name} cannot be part of a CUDA graph"
        indices = args[1] if name.startswith("index") and len(args) > 1 and isinstance(args[1], (list, tuple)) else ()
        assert all(x is None or x.dtype != torch.bool for x in indices), "as many numbers as a mask has cannot be told"
        made = function(*args, **kwargs)
        self.lines.append((function, args, kwargs, made))
        return made

    def play(self) -> None:
        with torch.no_grad():
            for function, args, kwargs, made in self.lines:
                if function.is_view:
                    continue
                again, given = function(*args, **kwargs), {x.data_ptr() for x in tensors_of((args, kwargs))}
                for before, now in zip(tensors_of(made), tensors_of(again), strict=True):
                    if before.data_ptr() not in given:  # else it was done in place
                        before.copy_(now)


def tensors_of(tree: Any) -> list[Tensor]:
    return [x for x in tree_leaves(tree) if isinstance(x, Tensor)]


def recorder(work: Callable[[], None]) -> Callable[[], None]:
    work()  # as is done before a CUDA graph
    with Tape() as tape:
        work()
    return tape.play


def learned(
    model: str, task: str, recordings: Callable[[Any], Recordings | None], batches: int = 2, precision: Any = None
) -> list[Any]:
    """Losses and gradients of some batches: the weights change in between, and the samples end at different steps."""
    recipe = find(model)
    reasoner = recipe.build(task, size=16, seed=0).train()
    reasoner.precision = precision or reasoner.double().precision
    played, found = recordings(reasoner), []
    for seed in range(batches):
        reasoner.zero_grad()
        batch = recipe.batch(rnar.clrs.sample(task, n=6, batch=4, seed=seed))
        judged = backward(reasoner, batch, seed, recordings=played)
        found.append(({name: each.total for name, each in judged.items()}, gradients(reasoner)))
        with torch.no_grad():
            for parameter in reasoner.parameters():
                if parameter.grad is not None:
                    parameter -= 0.01 * parameter.grad
    return found


def gradients(reasoner: Any) -> dict[str, Tensor]:
    return {name: p.grad.clone() for name, p in reasoner.named_parameters() if p.grad is not None}


@pytest.mark.parametrize(
    ("model", "task"),
    [
        ("rnar", "quickselect"), ("rnar", "heapsort"), ("rnar", "minimum"), ("triplet-gmpnn", "bfs"),
        ("triplet-gmpnn", "floyd_warshall"), ("linked", "floyd_warshall"), ("linked", "naive_string_matcher"),
        ("pgn", "articulation_points"), ("counting", "segments_intersect"), ("forgetnet", "lcs_length"),
        ("combined", "insertion_sort"),
    ],
)  # fmt: skip
def test_what_is_played_has_the_same_losses_and_gradients(model, task):
    plain, played = (learned(model, task, each) for each in (lambda _: None, lambda r: Recordings(r, recorder)))
    for (losses, gradient), (other_losses, other_gradient) in zip(plain, played, strict=True):
        torch.testing.assert_close(other_losses, losses, atol=1e-9, rtol=1e-9)
        assert other_gradient.keys() == gradient.keys()
        torch.testing.assert_close(other_gradient, gradient, atol=1e-9, rtol=1e-9)


@pytest.mark.parametrize("model", ["rnar", "triplet-gmpnn"])
def test_in_bfloat16_too(model, monkeypatch):
    for name, module in sys.modules.items():
        if name.startswith("rnar.ops.") and hasattr(module, "compiled"):
            monkeypatch.setattr(module, "compiled", lambda x: False)  # as on a GPU
    monkeypatch.setattr("rnar.nn.linear.WORTH_ROUNDING", 1)
    monkeypatch.setattr(torch.backends.mkldnn, "enabled", False)  # its LSTM gives less where no gradient is wanted
    (losses, gradient), (other_losses, other_gradient) = (
        learned(model, "quickselect", each, 1, "bfloat16")[0]
        for each in (lambda _: None, lambda r: Recordings(r, recorder))
    )
    torch.testing.assert_close(other_losses, losses, atol=1e-4, rtol=1e-4)
    expected, found = (torch.cat([x.flatten() for x in each.values()]) for each in (gradient, other_gradient))
    assert (found - expected).norm() < 0.02 * expected.norm()


def test_recordings_are_made_once_for_a_shape_and_workers_use_them():
    made, recipe = [], find("rnar")
    reasoner = recipe.build("minimum", size=8, seed=0).double().train()
    workers = Workers(reasoner, 1, recordings=Recordings(reasoner, lambda work: made.append(work) or recorder(work)))
    counts = []
    for n in (5, 5, 7, 5):
        workers.backward(recipe.batch(rnar.clrs.sample("minimum", n=n, batch=3, seed=n)))
        counts.append(len(made))
    # all samples of Minimum end at once: steps with outputs and without, forward and backward
    assert counts == [4, 4, 8, 8]
    with pytest.raises(ValueError, match="one thread, not by 2"):
        Workers(reasoner, 2, recordings=Recordings(reasoner, recorder))


def test_heads_of_other_tasks_have_no_gradients():
    recipe, batch = find("rnar"), rnar.clrs.sample("minimum", n=5, batch=3, seed=0)
    reasoner = recipe.build(["minimum", "bfs"], size=8, seed=0).double().train()
    backward(reasoner, recipe.batch(batch), recordings=Recordings(reasoner, recorder))
    names = gradients(reasoner)
    assert any("minimum" in name for name in names) and not any("bfs" in name for name in names)


@pytest.mark.parametrize(
    ("model", "why"),
    [("rt", "fed true hints at random"), ("g-forgetnet", "changes along the training"), ("rnar-janossy-2", "draws")],
)
def test_models_whose_steps_are_not_alike_are_refused(model, why):
    with pytest.raises(ValueError, match=why):
        learned(model, "minimum", lambda reasoner: Recordings(reasoner, recorder))
