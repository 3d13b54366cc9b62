"""The loop in plain PyTorch that docs/tutorials/pytorch.md shows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.utils.data import DataLoader

import rnar
from helpers.training import small_test
from rnar.training import Run, testing

PAGE = (Path(__file__).parents[2] / "docs" / "tutorials" / "pytorch.md").read_text("utf-8")
CODE, COMMAND = re.findall(r"```(?:python)?\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture
def shown() -> dict[str, Any]:
    """What the page's program leaves when it has run."""
    names: dict[str, Any] = {}
    exec(compile(CODE, "docs/tutorials/pytorch.md", "exec"), names)
    names["stream"].close()
    return names


def test_its_first_three_updates_are_those_of_rnar_train(shown, tmp_path, monkeypatch):
    monkeypatch.setattr(testing, "official", small_test)
    words = shlex.split(COMMAND)
    flags = dict(zip(words[3::2], words[4::2], strict=True))
    assert words[:3] == ["rnar", "train", "minimum"]
    settings = {name.removeprefix("--"): value if name == "--model" else int(value) for name, value in flags.items()}
    few = dict(validation_samples=2, selection_samples=0, ood_samples=0, threads=1, folder=tmp_path / "run")
    rnar.train("minimum", steps=3, validate_every=1, **settings, **few)
    run = Run(tmp_path / "run")
    assert [sum(line["losses"]["minimum"].values()) for line in run.metrics[1:]] == pytest.approx(shown["losses"])
    compared, network, trained = 0, shown["network"], dict(run.network(which="last").named_parameters())
    for name, parameter in network.named_parameters():
        # where a gradient is nothing but rounding, as of a bias before a softmax, Adam makes a whole step of it
        gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        told = gradient.abs() > 1e-6
        torch.testing.assert_close(parameter[told], trained[name][told], rtol=1e-4, atol=1e-5)
        compared += int(told.sum())
    assert compared > 1000
    new = shown["model"].batch(rnar.sample("minimum", n=7, batch=4, seed=5))
    assert network.loss(new).item() == pytest.approx(run.network(which="last").train().loss(new).item(), rel=1e-4)


def test_it_is_as_short_as_said_and_its_table_holds(shown):
    assert len([line for line in CODE.splitlines() if line.strip()]) <= 16
    batch, network = shown["batch"], shown["network"]
    assert torch.equal(network(batch).loss, network.loss(batch)) and len(batch) == 4 and len(batch[[0, 3]]) == 2
    first = next(iter(DataLoader(rnar.clrs.official("minimum", "val"), batch_size=8)))
    assert len(first) == 8 and 0 <= rnar.evaluate(network, shown["model"].batch(first)).score <= 1
