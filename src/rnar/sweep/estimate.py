"""How long runs take and how much memory they need, by a short measurement of each model.

A few training steps and a validation of one task give the time of a pair of nodes and of a call (see work.py); with
these the time of any task is told. Where a run of the same kind is finished, its own time is taken instead.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rnar.clrs.splits import size_of
from rnar.evaluation.evaluate import evaluate
from rnar.evaluation.memory import BUDGET, MOST, step_bytes
from rnar.sweep.plan import Job
from rnar.sweep.work import RunWork, Work, run_work, work_of
from rnar.training import Resolved, Run
from rnar.training.data import training_data
from rnar.training.environment import chosen_device, peak_memory
from rnar.training.learner import Learner
from rnar.training.stopping import Stop
from rnar.training.team import Team

ENOUGH = 5.0  # seconds, if each size has been tried
START = 5.0  # seconds until the first step, of runs that do not tell
VALIDATED = 8  # samples


Measure = Callable[[Resolved], dict[str, Any]]
Tell = Callable[[str], None]
Clock = Callable[[], float]


class Cost(NamedTuple):
    """Of a run on one core."""

    start: float
    """seconds until the first step"""
    training: float
    """seconds, validation included"""
    test: float
    memory: int
    """bytes"""

    def left(self, job: Job) -> float:
        """Seconds, of what is still to be done."""
        return self.start + self.training * (1 - min(1.0, job.step / job.steps)) + self.test


class Rates(NamedTuple):
    """What was measured of a model, on one core."""

    start: float
    """seconds until the first step"""
    pair: float
    """seconds of training for a pair of nodes (see work.py)"""
    call: float
    """seconds of training besides, for each call of the network"""
    tried_pair: float
    """seconds for a pair when the network is only tried"""
    memory: int
    """bytes of the whole process"""

    def cost(self, work: RunWork, test_memory: int) -> Cost:
        training = work.training.pairs * self.pair + work.training.calls * self.call
        training += work.validation.pairs * self.tried_pair
        return Cost(self.start, training, work.test.pairs * self.tried_pair, self.memory + test_memory)


def measure(settings: Resolved) -> dict[str, Any]:
    """The rates of a model, as plain data. Takes some seconds, and leaves nothing behind."""
    start = time.process_time()  # to import all this
    team = Team(chosen_device(settings.device), threads=1)
    # seconds of the processor's are the same whatever else the machine does; on a GPU there is none to ask
    clock = time.process_time if team.device.type == "cpu" else time.perf_counter
    with closing(Learner(settings, team)) as learner:
        (first, _), *seen = _steps(learner, clock)  # the first one compiles
        pair, call = fitted(seen)
        tried = _trial(learner, clock)
        return Rates(start + first, pair, call, tried, int(peak_memory(learner.workers) * 1e6))._asdict()


def _steps(learner: Learner, clock: Clock) -> list[tuple[float, Work]]:
    """Some steps, each size at least once after the first: the seconds, and the work that was done."""
    found, begun = [], time.monotonic()
    with training_data(learner.settings, learner.settings.tasks[0]) as same:
        sizes = len(same.state["sizes"])
        while len(found) <= sizes or (len(found) < 3 * sizes and time.monotonic() - begun < ENOUGH):
            before = clock()
            learner.learn(Stop())
            found.append((clock() - before, work_of(next(same))))
    return found


def _trial(learner: Learner, clock: Clock) -> float:
    """Seconds for a pair of nodes when the network is only tried."""
    samples = next(iter(learner.validation.values())).part(slice(VALIDATED))
    evaluate(learner.workers, samples.part(slice(1)))  # compiles
    before = clock()
    evaluate(learner.workers, samples)
    return (clock() - before) / work_of(samples).pairs


def fitted(seen: Sequence[tuple[float, Work]]) -> tuple[float, float]:
    """Seconds for a pair and for a call that explain best what was seen; neither is negative."""
    seconds, works = np.array([seconds for seconds, _ in seen]), np.array([work for _, work in seen])
    weights = 1 / seconds  # a share of the time is what matters
    (pair, call), _, rank, _ = np.linalg.lstsq(works * weights[:, None], seconds * weights, rcond=None)
    if rank < 2 or pair <= 0 or call <= 0:  # one size alone cannot tell them apart
        return float(seconds.sum() / works[:, 0].sum()), 0.0
    return float(pair), float(call)


def estimated(jobs: Sequence[Job], measured: Measure, tell: Tell = lambda words: None) -> dict[tuple[str, str], Cost]:
    """The costs of all runs that are open, by task and model; `measured` is `measure`, wherever it is done."""
    known = _known(jobs)
    unknown = {_pair(job): job.settings for job in jobs if job.open and _pair(job) not in known}
    works: dict[tuple[str, str], RunWork] = {}
    for k, (pair, settings) in enumerate(unknown.items()):
        tell(f"looking at the data: {k + 1} of {len(unknown)}")
        works[pair] = run_work(settings)
    for model in dict.fromkeys(model for _, model in unknown):
        tell(f"measuring {model}")
        theirs = sorted((pair for pair in works if pair[1] == model), key=lambda pair: works[pair].training.pairs)
        rates = Rates(**measured(replace(unknown[theirs[len(theirs) // 2]], seed=0)))
        for pair in theirs:
            known[pair] = rates.cost(works[pair], test_memory(unknown[pair]))
    return known


def _pair(job: Job) -> tuple[str, str]:
    return job.task, job.settings.name


def _known(jobs: Iterable[Job]) -> dict[tuple[str, str], Cost]:
    """Of runs that are finished."""
    found = {}
    for job in jobs:
        if job.standing == "finished" and job.result:
            threads = Run(job.settings.path, job.settings.recipe).config["environments"][-1].get("threads", 1)
            seconds, test = job.result.seconds * threads, job.result.test_seconds * threads
            found[_pair(job)] = Cost(START, seconds, test, int(job.result.memory_mb * 1e6))
    return found


def test_memory(settings: Resolved) -> int:
    """About how many bytes the test takes, besides: as many samples at once as there is room for."""
    task = settings.tasks[0]
    samples = min(MOST, settings.test_samples or MOST)
    reasoner = settings.recipe.build(task, settings.size)
    return min(BUDGET, samples * step_bytes(reasoner, task, size_of(task, "test").length))
