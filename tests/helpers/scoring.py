"""What a network predicts, and the benchmark's scores, written out once more in plain code."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from rnar.clrs import Batch, Sample
from rnar.clrs.spec import Feature, Spec
from rnar.nn.kinds import kind_of
from rnar.nn.reasoner import Prediction, Reasoner


@torch.no_grad()
def predict(reasoner: Reasoner, batch: Batch | Sample, **options: Any) -> Prediction:
    """A network's predictions, without what a backward pass would need."""
    return reasoner(batch, **options)


def decide(feature: Feature, logits: Any) -> Tensor:
    return kind_of(feature).decide(logits)


def score(feature: Feature, decided: Tensor, stored: Tensor) -> float:
    """Pooled over everything: the mean squared error of numbers, F1 of masks, else the share that is right."""
    if feature.kind == "scalar":
        return ((decided - stored) ** 2).mean().item()
    if feature.kind != "mask":
        judged = stored >= 0
        return (((decided == stored) & judged).sum() / judged.sum()).item()
    hit = int(((decided == 1) & (stored == 1)).sum())
    said, true = int(((decided == 1) & (stored >= 0)).sum()), int((stored == 1).sum())
    precision, recall = hit / said if said else 1.0, hit / true if true else 1.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def scores(spec: Spec, outputs: dict[str, Any], truth: dict[str, np.ndarray]) -> dict[str, float]:
    """Of each output, and their mean as "score"."""
    found = {
        name: score(feature, decide(feature, outputs[name]).cpu(), torch.from_numpy(truth[name]))
        for name, feature in spec.outputs.items()
    }
    return {**found, "score": sum(found.values()) / len(found)}
