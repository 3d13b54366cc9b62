"""The problems that a network was trained on, and what of a new problem lies outside of them."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from rnar.clrs import Feature, Sample, find
from rnar.inference.words.saying import exact, several

DRAWN = 64  # training problems of each size that a new problem is compared with
SLACK = 0.05  # of the range of a number in training


class TrainingDomain:
    """What the training problems of a task have in common, by drawing some.

    Args:
        task: Which.
        data: The `sizes` and `options` of the training data, as config.json of a run has them.
    """

    def __init__(self, task: str, data: Mapping[str, Any]):
        algorithm, rng = find(task), np.random.RandomState(0)
        self.features = algorithm.spec.inputs
        self.sizes: list[int] = []
        self.traits: set[str] = set()
        self.ranges: dict[str, tuple[float, float]] = {}
        for n in data["sizes"]:
            batch = algorithm.problem.view(*algorithm.draw(rng, n, DRAWN, **data["options"]))
            self.sizes.append(batch["pos"].shape[1])
            for b in range(DRAWN):
                inputs = {name: x[b] for name, x in batch.items()}
                self.traits |= set(traits(self.features, inputs))
                for name, (low, high) in ranges(self.features, inputs).items():
                    least, most = self.ranges.get(name, (low, high))
                    self.ranges[name] = min(low, least), max(high, most)

    def outside(self, sample: Sample) -> str:
        """What a problem has and no training problem has, `equal numbers in key`; empty if there is nothing."""
        new = [trait for trait in traits(self.features, sample.inputs) if trait not in self.traits]
        for name, (low, high) in ranges(self.features, sample.inputs).items():
            least, most = self.ranges[name]
            slack = SLACK * (most - least)
            if low < least - slack or high > most + slack:
                new.append(f"{name} of {_span(low, high)}, in place of {_span(least, most)}")
        return several(new)


def numbers(features: Mapping[str, Feature], inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The numbers of a problem: its scalars but for the places of nodes."""
    return {name: inputs[name] for name, feature in features.items() if feature.kind == "scalar" and name != "pos"}


def traits(features: Mapping[str, Feature], inputs: Mapping[str, np.ndarray]) -> Iterator[str]:
    """Yields what is special about the inputs of one problem."""
    scalars = {name: np.asarray(x, np.float32) for name, x in numbers(features, inputs).items()}
    for name, x in scalars.items():
        place = features[name].place
        if place == "node" and len(np.unique(x)) < len(x):
            yield f"equal numbers in {name}"
        if place == "graph" and "key" in scalars and x in scalars["key"]:
            yield f"a {name} that is one of the keys"
        if place == "edge":
            yield from _graph_traits(x)


def _graph_traits(A: np.ndarray) -> Iterator[str]:
    weights = A[np.triu(A != 0)] if (A == A.T).all() else A[A != 0]
    if len(np.unique(weights)) < len(weights):
        yield "edges of equal weight"
    if np.diag(A).any():
        yield "edges from a node to itself"
    if not len(weights):
        yield "a graph without edges"
    reached, joined = np.arange(len(A)) == 0, (A != 0) | (A.T != 0)
    for _ in range(len(A)):
        reached |= joined[reached].any(axis=0)
    if not reached.all():
        yield "a graph that is not connected"


def ranges(features: Mapping[str, Feature], inputs: Mapping[str, np.ndarray]) -> dict[str, tuple[float, float]]:
    """The least and the largest of each kind of numbers of one problem; of strings, the length of the second."""
    values = numbers(features, inputs)
    if "string" in features and features["string"].kind == "mask":
        values["the length of the second string"] = np.sum(inputs["string"], dtype=float)
    return {name: (float(np.min(x)), float(np.max(x))) for name, x in values.items()}


def _span(low: float, high: float) -> str:
    return exact(low) if low == high else f"{exact(low)} to {exact(high)}"
