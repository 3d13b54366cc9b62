"""How much there is to compute in a run, in numbers that are proportional to time.

A network's step costs about as much as it has pairs of nodes, and something besides for being called at all. So the
unit is one pair of nodes in one step of one sample; and calls are counted too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from rnar.clrs import find
from rnar.clrs.batch import Batch
from rnar.clrs.mersenne import seeded
from rnar.clrs.splits import mean_steps, size_of
from rnar.training import Resolved
from rnar.training.data import VALIDATION_SIZE, WIDER_SIZE, selection_samples, training_data
from rnar.training.learner import CANDIDATES

TESTED = 2  # networks: the selected one and the last
DRAWN = 8  # samples of each size, to learn how many steps they have


class Work(NamedTuple):
    pairs: float
    """of nodes, over all steps of all samples"""
    calls: float
    """of the network: as many as the longest sample has steps"""

    def __add__(self, other: tuple[float, ...]) -> Work:  # type: ignore[override]
        return Work(self.pairs + other[0], self.calls + other[1])

    def __mul__(self, factor: float) -> Work:  # type: ignore[override]
        return Work(self.pairs * factor, self.calls * factor)


class RunWork(NamedTuple):
    """What a whole run has to do."""

    training: Work
    validation: Work
    test: Work
    """and the comparison of the best networks before it"""


def work_of(batch: Batch) -> Work:
    steps = (batch.lengths - 1).clip(min=1)  # the first is given
    return Work(float(steps.sum()) * batch.nodes**2, float(steps.max()))


def run_work(settings: Resolved) -> RunWork:
    """What a run has to do, by a look at some of its data."""
    task, batch = settings.tasks[0], settings.batch
    drawn = min(batch, DRAWN)
    few = replace(settings, batch=drawn)
    sizes = settings.sizes or find(task).problem.training_sizes
    with training_data(few, task) as stream:
        works = [work_of(next(stream)) for _ in sizes]
    step = _scaled(sum(works[1:], works[0]) * (1 / len(works)), batch / drawn)
    validation = _at(VALIDATION_SIZE, few, settings.validation_samples) + _at(WIDER_SIZE, few, settings.wider_samples)
    validations = 1 + settings.steps // settings.validate_every
    selection = _at(VALIDATION_SIZE, few, selection_samples(settings, task)) * CANDIDATES
    return RunWork(step * settings.steps, validation * validations, selection + _test(task, settings) * TESTED)


def _scaled(work: Work, factor: float) -> Work:
    """Of more samples: no more calls."""
    return Work(work.pairs * factor, work.calls)


def _at(n: int, few: Resolved, samples: int) -> Work:
    """Of trying a network on so many samples of size n."""
    task = few.tasks[0]
    if not samples:
        return Work(0, 0)
    with training_data(replace(few, sizes=(n,)), task) as stream:
        return _scaled(work_of(next(stream)), samples / few.batch)


def _test(task: str, settings: Resolved) -> Work:
    whole, steps = size_of(task, "test"), mean_steps(task, "test")
    nodes = find(task).sample(seeded(0), whole.length, 1).nodes
    samples = min(whole.samples, settings.test_samples or whole.samples)
    return Work(samples * max(1.0, steps - 1) * nodes**2, steps)
