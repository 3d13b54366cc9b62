"""Steps that are timed."""

from __future__ import annotations

from statistics import median
from types import SimpleNamespace
from typing import Any

import torch

from rnar.benchmark.measure import Ours, against, by_turns, series
from rnar.models import MODELS


def test_a_training_step_learns():
    ours = Ours("minimum", MODELS["mpnn"], 4, batch=2, size=8, threads=1, rounds=1)
    before = [parameter.detach().clone() for parameter in ours.reasoner.processor.parameters()]
    assert ours.train(0) > 0
    after = list(ours.reasoner.processor.parameters())
    assert any(not torch.equal(x, y) for x, y in zip(before, after, strict=True))


def test_steps_are_taken_by_turns(monkeypatch):
    monkeypatch.setattr("rnar.benchmark.measure.REST", 0.0)
    order: list[str] = []

    def ours(k: int) -> float:
        order.append(f"ours {k}")
        return float(k)

    def theirs(what: str) -> dict[str, int]:
        order.append(f"their {what}")
        return {"seconds": len(order)}

    there: Any = SimpleNamespace(ask=theirs)
    seconds, answers = by_turns("training", ours, 2, there, lambda words: None)
    assert order == ["ours 0", "their training", "ours 1", "their training", "ours 2", "their training"]
    assert seconds == [1.0, 2.0] and [answer["seconds"] for answer in answers] == [4, 6]


def test_numbers_follow_from_what_was_measured():
    ours = series([1.0, 4.0, 2.0], [10, 20, 30], [100, 1000, 400], machine=800.0)
    theirs = against([{"seconds": seconds, "sample_steps": 1} for seconds in (8.0, 8.0, 6.0)], ours)
    assert ours["median"] == 2.0
    assert ours["sample_steps_per_second"] == median([10 / 1, 20 / 4, 30 / 2])
    assert ours["flops_per_second"] == median([100 / 1, 1000 / 4, 400 / 2]) == 800 * ours["share_of_machine"]
    assert theirs["ratio"] == {"of_medians": 8 / 2, "lowest": 8 / 4, "highest": 8 / 1}
