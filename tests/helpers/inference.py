"""Networks to ask that nobody has trained, and beliefs that nobody had."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from rnar.clrs import Sample, Stream, find
from rnar.clrs.spec import Feature
from rnar.evaluation.beliefs import Belief, Said
from rnar.training import Settings
from rnar.training.files import pack, write, write_json
from rnar.training.run import BEST, CONFIG


def untrained(folder: Path, *tasks: str, model: str = "rnar", size: int = 8, **changes: Any) -> Path:
    """The folder of a run whose network has fresh weights: as training would leave it, without the training."""
    settings = Settings(tasks, model=model, size=size, steps=4, validate_every=2, folder=folder, **changes).resolved()
    data = {task: {k: v for k, v in Stream(task, 0).state.items() if k != "next"} for task in tasks}
    environment = {"from_step": 0, "commit": "c0ffee" * 6}
    folder.mkdir(parents=True)
    write_json(folder / CONFIG, {"settings": settings.plain(), "data": data, "environments": [environment]})
    weights = settings.architecture.build(tasks, size, seed=1).state_dict()
    write(folder / BEST, pack(weights, {"step": 2, "validation": 0.5}))
    return folder


def forged(sample: Sample, seed: int = 0, wrong: float = 0.2) -> Belief:
    """A belief that is wrong in about such a share of all entries, with probabilities that mean nothing."""
    rng, spec = np.random.default_rng(seed), find(sample.task).spec
    return Belief(
        sample,
        {name: _forged(rng, f, sample.hints[name][1:], sample.nodes, wrong) for name, f in spec.hints.items()},
        {name: _one(_forged(rng, f, np.asarray(sample.outputs[name])[None], sample.nodes, wrong))
         for name, f in spec.outputs.items()},
    )  # fmt: skip


def _forged(rng: np.random.Generator, feature: Feature, truth: np.ndarray, nodes: int, wrong: float) -> Said:
    flipped = rng.random(truth.shape) < wrong
    if feature.kind == "scalar":
        noise = rng.normal(scale=1e-4, size=truth.shape) + np.where(flipped, 3.0, 0.0)
        return Said((truth + noise).astype(np.float32), None, None, None)
    many = 2 if feature.kind == "mask" else feature.classes or nodes
    other = rng.integers(many, size=truth.shape)
    decided = np.where(flipped | (truth < 0), other, truth).astype(truth.dtype)
    if feature.kind == "mask":
        share = rng.uniform(0.5, 1.0, truth.shape).astype(np.float32)
        shares = np.where(decided == 1, share, 1 - share)
        return Said(decided, share, np.where(truth == 1, shares, 1 - shares), shares)
    if feature.kind == "mask_one":
        shares = rng.dirichlet(np.full(nodes, 0.3), size=truth.shape).astype(np.float32)
        shares = np.where(np.arange(nodes) == decided[..., None], 2.0, shares)  # so that it is the most likely one
        shares = (shares / shares.sum(axis=-1, keepdims=True)).astype(np.float32)
        of = [np.take_along_axis(shares, x[..., None].astype(int), axis=-1)[..., 0] for x in (decided, truth)]
        return Said(decided, *of, shares)
    sure = rng.uniform(0.5, 1.0, truth.shape).astype(np.float32)
    return Said(decided, sure, np.where(decided == truth, sure, (1 - sure) / 2), None)


def _one(said: Said) -> Said:
    parts: list[Any] = [None if x is None else x[0] for x in said]
    return Said(*parts)
