"""How long runs take and how much memory they need, estimated from a short measurement of each model.

A step of a network takes time in proportion to the pairs of nodes that it looks at, and some more for each call. A few
training steps and a validation on one task tell how long a pair and a call take; the time of a run on any task follows
from how many it has. Where a run of the same task and model is finished, its own time is taken instead.
"""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from rnar.clrs import find
from rnar.clrs.batch import Batch
from rnar.clrs.mersenne import seeded
from rnar.clrs.splits import mean_steps, size_of
from rnar.evaluation.evaluate import evaluate
from rnar.evaluation.memory import BUDGET, MOST, step_bytes
from rnar.sweep.child import Outcome
from rnar.sweep.plan import Job
from rnar.training import Resolved
from rnar.training.data import VALIDATION_SIZE, selection_samples, training_data
from rnar.training.environment import chosen_device
from rnar.training.learner import CANDIDATES, Learner
from rnar.training.run import read_config
from rnar.training.stopping import Stop
from rnar.training.team import Team

TESTED = 2  # networks of each run: the selected one and the last; of some an average of the weights too
DRAWN = 8  # samples of each size that are drawn to find out how many steps they have
ENOUGH = 5.0  # seconds of measuring, if each size has been tried
START = 5.0  # seconds until the first step of a run that was not measured
VALIDATED = 8  # samples


class Work(NamedTuple):
    """How much a run has to compute."""

    pairs: float
    """of nodes, over all steps of all samples, in training"""
    calls: float
    """of the network in training: of a batch as many as its longest sample has steps"""
    validated: float
    """pairs in validation"""
    tested: float
    """pairs in the test, and in the comparison of the best networks before it"""


class Cost(NamedTuple):
    """What a run needs on one core."""

    start: float
    """seconds until the first step"""
    training: float
    """seconds, including validation"""
    test: float
    """seconds"""
    memory: int
    """bytes"""

    def left(self, job: Job) -> float:
        """Seconds that a job still takes."""
        return self.start + self.training * (1 - min(1.0, job.step / job.steps)) + self.test


class Rates(NamedTuple):
    """What was measured of a model, on one core."""

    start: float
    """seconds until the first step"""
    pair: float
    """seconds for each pair of nodes in training"""
    call: float
    """seconds more for each call of the network in training"""
    tried_pair: float
    """seconds for each pair of nodes in validation and test"""
    memory: int
    """bytes of the whole process"""

    def cost(self, work: Work, test_memory: int) -> Cost:
        training = work.pairs * self.pair + work.calls * self.call + work.validated * self.tried_pair
        return Cost(self.start, training, work.tested * self.tried_pair, self.memory + test_memory)


def pairs_and_calls(batch: Batch) -> tuple[float, float]:
    steps = (batch.lengths - 1).clip(min=1)  # the first hint of a sample is given
    return float(steps.sum()) * batch.nodes**2, float(steps.max())


def run_work(settings: Resolved) -> Work:
    """How much a run has to compute, found by drawing a few of its samples."""
    task = settings.tasks[0]
    pairs, calls = _drawn(settings, settings.sizes, settings.batch) * settings.steps
    validated, _ = _drawn(settings, (VALIDATION_SIZE,), settings.validation_samples)
    wider, _ = _drawn(settings, (settings.wider_n,), settings.wider_samples)
    selection, _ = _drawn(settings, (VALIDATION_SIZE,), selection_samples(settings, task))
    test, steps = size_of(task, "test"), max(1.0, mean_steps(task, "test") - 1)
    nodes = find(task).sample(seeded(0), test.length, 1).nodes
    tested = min(test.samples, settings.test_samples or test.samples) * steps * nodes**2
    averages = 0 if settings.average is None else 1
    validations = (1 + settings.steps // settings.validate_every) * (1 + averages)
    tests = selection * CANDIDATES + tested * (TESTED + averages)
    return Work(pairs, calls, (validated + wider) * validations, tests)


def _drawn(settings: Resolved, sizes: tuple[int, ...] | None, samples: int) -> np.ndarray:
    """The pairs and calls of a batch of so many samples, in the mean over these sizes; None: those of training."""
    if not samples:
        return np.zeros(2)
    few = replace(settings, sizes=sizes, batch=min(settings.batch, DRAWN))
    with training_data(few, few.tasks[0]) as stream:
        work = np.mean([pairs_and_calls(next(stream)) for _ in stream.state["sizes"]], axis=0)
    return work * (samples / few.batch, 1)  # more samples have more pairs, but no more calls


def measure(settings: Resolved) -> dict[str, Any]:
    """The rates of a model, as plain data. Takes some seconds, and leaves nothing behind."""
    imported = time.process_time()  # seconds since the process was started
    team = Team(chosen_device(settings.device), threads=1)
    # the time of the processor is the same whatever else the machine does; on a GPU there is no such clock
    clock = time.process_time if team.device.type == "cpu" else time.perf_counter
    with closing(Learner(settings, team)) as learner:
        (first, _), *seen = _steps(learner, clock)  # the first step compiles
        pair, call = fitted(seen)
        samples = next(iter(learner.validation.values())).part(slice(VALIDATED))
        evaluate(learner.workers, samples.part(slice(1)))  # compiles
        before = clock()
        evaluate(learner.workers, samples)
        tried_pair = (clock() - before) / pairs_and_calls(samples)[0]
        return Rates(imported + first, pair, call, tried_pair, learner.workers.peak_memory())._asdict()


def _steps(learner: Learner, clock: Callable[[], float]) -> list[tuple[float, tuple[float, float]]]:
    """Take some steps, each size at least once after the first step: of each the seconds, and its pairs and calls."""
    found, begun = [], time.monotonic()
    with training_data(learner.settings, learner.settings.tasks[0]) as same:
        sizes = len(same.state["sizes"])
        while len(found) <= sizes or (len(found) < 3 * sizes and time.monotonic() - begun < ENOUGH):
            before = clock()
            learner.learn(Stop())
            found.append((clock() - before, pairs_and_calls(next(same))))
    return found


def fitted(seen: Sequence[tuple[float, tuple[float, float]]]) -> tuple[float, float]:
    """The seconds for a pair and for a call that explain best what was seen; neither is negative."""
    seconds, works = np.array([seconds for seconds, _ in seen]), np.array([work for _, work in seen])
    weights = 1 / seconds  # so that relative errors count
    (pair, call), _, rank, _ = np.linalg.lstsq(works * weights[:, None], seconds * weights, rcond=None)
    if rank < 2 or pair <= 0 or call <= 0:  # steps of one size alone cannot tell them apart
        return float(seconds.sum() / works[:, 0].sum()), 0.0
    return float(pair), float(call)


def estimated(
    jobs: Sequence[Job], measured: Callable[[Resolved], Outcome], tell: Callable[[str], None] = lambda words: None
) -> dict[tuple[str, str], Cost]:
    """The costs of all runs that are open, by task and model; `measured` does `measure` in a process somewhere."""
    costs = {job.kind: _known(job) for job in jobs if job.standing == "finished"}
    unknown = {job.kind: job.settings for job in jobs if job.open and job.kind not in costs}
    works: dict[tuple[str, str], Work] = {}
    for k, (kind, settings) in enumerate(unknown.items()):
        tell(f"looking at the data: {k + 1} of {len(unknown)}")
        works[kind] = run_work(settings)
    for model in dict.fromkeys(model for _, model in unknown):
        tell(f"measuring {model}")
        kinds = sorted((kind for kind in works if kind[1] == model), key=lambda kind: works[kind].pairs)
        typical = replace(unknown[kinds[len(kinds) // 2]], seed=0)
        outcome = measured(typical)
        if outcome.kind != "done":
            raise ValueError(f"{model} cannot be measured on {typical.tasks[0]}: {outcome.words}")
        for kind in kinds:
            costs[kind] = Rates(**outcome.value).cost(works[kind], _test_memory(unknown[kind]))
    return costs


def _known(job: Job) -> Cost:
    """The cost of a run that is finished."""
    assert job.result
    threads = read_config(job.settings.path)["environments"][-1].get("threads", 1)
    seconds, test = job.result.seconds * threads, job.result.test_seconds * threads
    return Cost(START, seconds, test, int(job.result.memory_mb * 1e6))


def _test_memory(settings: Resolved) -> int:
    """About how many bytes more the test takes: it has as many samples at once as there is room for."""
    task = settings.tasks[0]
    reasoner = settings.recipe.build(task, settings.size)
    needed = step_bytes(reasoner, task, size_of(task, "test").length)
    return min(BUDGET, needed * min(MOST, settings.test_samples or MOST))
