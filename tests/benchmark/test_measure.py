"""Steps that are timed."""

from __future__ import annotations

from types import SimpleNamespace

import torch

from rnar.benchmark.measure import Ours, Setting, by_turns
from rnar.models import MODELS


def test_a_training_step_learns():
    ours = Ours(Setting("minimum", MODELS["mpnn"], 4, batch=2, size=8, threads=1, rounds=1))
    before = [parameter.detach().clone() for parameter in ours.reasoner.processor.parameters()]
    seconds = ours.train(0)
    after = list(ours.reasoner.processor.parameters())
    assert 0 < ours.seconds_to_update[0] < seconds
    assert any(not torch.equal(x, y) for x, y in zip(before, after, strict=True))


def test_steps_are_taken_by_turns():
    order: list[str] = []
    machine = SimpleNamespace(measure=lambda: order.append("machine"))

    def ours(k: int) -> float:
        order.append(f"ours {k}")
        return float(k)

    def theirs() -> dict[str, int]:
        order.append("theirs")
        return {"seconds": len(order)}

    seconds, answers = by_turns(2, machine, lambda words: None, "training", ours, theirs)  # type: ignore[arg-type]
    assert order == ["ours 0", "theirs", "machine", "ours 1", "theirs", "machine", "ours 2", "theirs"]
    assert seconds == [1.0, 2.0] and [answer["seconds"] for answer in answers] == [5, 8]
