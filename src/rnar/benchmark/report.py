"""What was measured, and what follows from it."""

import math
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any


@dataclass(frozen=True)
class Series:
    """One kind of step, measured once in each round."""

    seconds: list[float]
    sample_steps: list[int]
    """the steps of all samples of the batch together, without padding"""
    flops: list[int] | None = None
    """operations in matrix products, not counting any twice; None if not known"""

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def range(self) -> tuple[float, float]:
        return min(self.seconds), max(self.seconds)

    @property
    def sample_steps_per_second(self) -> float:
        return self._rate(self.sample_steps)

    @property
    def flops_per_second(self) -> float | None:
        return None if self.flops is None else self._rate(self.flops)

    def _rate(self, amounts: list[int]) -> float:
        return median(amount / seconds for amount, seconds in zip(amounts, self.seconds, strict=True))

    def as_json(self) -> dict[str, Any]:
        rates = {"sample_steps_per_second": self.sample_steps_per_second, "flops_per_second": self.flops_per_second}
        return {**asdict(self), "median": self.median, **rates}


@dataclass(frozen=True)
class Outside:
    """What a training step costs outside the model, in seconds."""

    data: float
    """to draw a batch, which is done in the background"""
    update: float
    """to clip the gradients and update the weights"""
    all: float
    """everything in the real loop but gradients and validation: data, update, log, display, saving"""

    def share(self, step: float) -> float:
        """The share of a training step; `step` is its measured time, which includes the update but nothing else."""
        return self.all / (step - self.update + self.all)


@dataclass(frozen=True)
class Theirs:
    """The same for dm-clrs, measured by turns with ours."""

    facts: dict[str, Any]
    """versions, and the device it used"""
    training: Series
    evaluation: Series
    peak_memory: int


@dataclass(frozen=True)
class Ratio:
    """How many times longer dm-clrs takes; the lowest and the highest of all rounds."""

    of_medians: float
    lowest: float
    highest: float


@dataclass(frozen=True)
class Report:
    """All that `rnar bench` shows and writes."""

    task: str
    model: str
    reversal: bool
    nodes: int
    sizes: dict[str, int]
    """n, batch, size, threads"""
    device: str
    precision: str
    """of the largest products"""
    parameters: int
    training: Series
    evaluation: Series
    outside: Outside
    peak_memory: int
    """in bytes"""
    machine: float
    """operations per second in matrix products alone, of that precision"""
    versions: dict[str, Any]
    dm_clrs: Theirs | None = None

    def as_json(self) -> dict[str, Any]:
        """As plain data, with what follows from it."""
        found = asdict(self)
        found["outside"]["share"] = self.outside.share(self.training.median)
        for name in ("training", "evaluation"):
            ours: Series = getattr(self, name)
            found[name] = {**ours.as_json(), "share_of_machine": self.share_of_machine(ours)}
            if self.dm_clrs:
                theirs: Series = getattr(self.dm_clrs, name)
                times = {**asdict(ratio(theirs, ours)), "at_most": self.at_most(name)}
                found["dm_clrs"][name] = {**theirs.as_json(), "ratio": times}
        return found

    def share_of_machine(self, ours: Series) -> float:
        """Which part of a step products alone would take."""
        return (ours.flops_per_second or 0.0) / self.machine

    def at_most(self, name: str) -> float:
        """How many times longer dm-clrs takes for a kind of step than our products alone: no ratio is beyond it."""
        assert self.dm_clrs is not None
        ours: Series = getattr(self, name)
        theirs: Series = getattr(self.dm_clrs, name)
        return theirs.median / (ours.median * (self.share_of_machine(ours) or math.nan))


def ratio(theirs: Series, ours: Series) -> Ratio:
    each = [their / our for their, our in zip(theirs.seconds, ours.seconds, strict=True)]
    return Ratio(theirs.median / ours.median, min(each), max(each))
