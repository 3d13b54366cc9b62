"""A training step and an evaluation step, timed; by turns with those of dm-clrs, if there is one to compare with."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from typing import Any

import torch

from rnar.benchmark.flops import WITH_BACKWARD, Machine, forward_cost, sample_steps, synchronise
from rnar.benchmark.loop import seconds_besides
from rnar.benchmark.reference import Reference
from rnar.benchmark.report import Outside, Report, Series, Theirs
from rnar.clrs import Stream
from rnar.clrs.batch import Batch
from rnar.engine.workers import Workers, available_cores
from rnar.evaluation.evaluate import evaluate
from rnar.models import Model
from rnar.training.environment import chosen_device, versions
from rnar.training.settings import Device

CLIP = 1.0
LEARNING_RATE = 1e-3

Tell = Callable[[str], None]
"""says what is being done, in a few words"""


@dataclass(frozen=True)
class Setting:
    """What is measured."""

    task: str
    model: Model
    n: int
    batch: int = 32
    size: int | None = None
    """None: the model's own"""
    threads: int | None = None
    """None: one for each core, and one on a GPU"""
    device: Device = "cpu"
    rounds: int = 5

    def __post_init__(self) -> None:
        for name in ("rounds", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"--{name} must be at least 1, not {value}")
        self.stream().close()  # raises if there is no such task, or none of this n
        self.place  # noqa: B018 (raises too)

    @property
    def sizes(self) -> dict[str, int]:
        """All numbers, none left open."""
        size = self.model.size if self.size is None else self.size
        threads = self.threads or (available_cores() if self.place.type == "cpu" else 1)
        return {"n": self.n, "batch": self.batch, "size": size, "threads": threads}

    @property
    def place(self) -> torch.device:
        """The device itself, if it is there."""
        return chosen_device(self.device)

    def stream(self) -> Stream:
        return Stream(self.task, batch=self.batch, sizes=(self.n,), transform=self.model.batch, ahead=0)


class Ours:
    """A network of ours, and its batches: the first to warm up, then one for each round."""

    def __init__(self, setting: Setting):
        self.device = setting.place
        self.reasoner = setting.model.build(setting.task, setting.size).to(self.device)
        self.workers = Workers(self.reasoner, setting.sizes["threads"])
        self.optimiser = torch.optim.Adam(self.reasoner.parameters(), LEARNING_RATE, fused=True)
        self.batches: list[Batch] = []
        self.seconds_to_draw: list[float] = []
        self.seconds_to_update: list[float] = []
        with setting.stream() as stream:
            for _ in range(1 + setting.rounds):
                start = time.perf_counter()
                self.batches.append(next(stream))
                self.seconds_to_draw.append(time.perf_counter() - start)

    def train(self, k: int) -> float:
        """Learn from batch k; the seconds."""
        self.reasoner.train()
        start = time.perf_counter()
        self.workers.backward(self.batches[k], seed=k)
        synchronise(self.device)
        middle = time.perf_counter()
        torch.nn.utils.clip_grad_norm_(self.reasoner.parameters(), CLIP)
        self.optimiser.step()
        synchronise(self.device)
        end = time.perf_counter()
        self.seconds_to_update.append(end - middle)
        return end - start

    def evaluate(self, k: int) -> float:
        """Predict the outputs of batch k and score them; the seconds."""
        start = time.perf_counter()
        evaluate(self.workers, self.batches[k], seed=k)
        return time.perf_counter() - start

    def outside(self, besides: float) -> Outside:
        return Outside(median(self.seconds_to_draw[1:]), median(self.seconds_to_update[1:]), besides)

    @property
    def peak_memory(self) -> int:
        return (
            torch.cuda.max_memory_allocated(self.device) if self.device.type == "cuda" else self.workers.peak_memory()
        )


def measure(setting: Setting, reference: Reference | None = None, tell: Tell = lambda words: None) -> Report:
    """Measure a network of ours, and one of dm-clrs by turns with it.

    The peak of memory is that of this process, and of those that help it, up to the last training step.
    """
    tell("drawing batches")
    ours = Ours(setting)
    machine = Machine(setting.batch * ours.batches[0].nodes ** 2, ours.workers.threads, ours.device)
    turns = Turns(setting.rounds, machine, tell)
    training, their_training = turns.take("training", ours.train, reference and reference.train)
    peak, their_peak = ours.peak_memory, reference.memory() if reference else 0
    evaluation, their_evaluation = turns.take("evaluation", ours.evaluate, reference and reference.evaluate)
    tell("training in a scratch folder")
    besides = seconds_besides(setting.task, setting.model, **setting.sizes, device=setting.device, steps=setting.rounds)
    tell("counting products")
    cost = forward_cost(ours.reasoner, ours.batches[0])
    flops = [cost.of(batch) for batch in ours.batches[1:]]
    steps = [sample_steps(batch) for batch in ours.batches[1:]]
    return Report(
        task=setting.task,
        model=setting.model.name,
        reversal=setting.model.reversal,
        nodes=ours.batches[0].nodes,
        sizes=setting.sizes,
        device=str(ours.device),
        parameters=sum(parameter.numel() for parameter in ours.reasoner.parameters()),
        training=Series(training, steps, [WITH_BACKWARD * count for count in flops]),
        evaluation=Series(evaluation, steps, flops),
        outside=ours.outside(besides),
        peak_memory=peak,
        machine=machine.best,
        versions=versions(),
        dm_clrs=reference and Theirs(reference.facts, series(their_training), series(their_evaluation), their_peak),
    )


@dataclass
class Turns:
    """A step of ours, then one of theirs, and so on: what else the machine does then hits both."""

    rounds: int
    machine: Machine
    tell: Tell

    def take(
        self, what: str, ours: Callable[[int], float], theirs: Callable[[], dict[str, Any]] | None
    ) -> tuple[list[float], list[dict[str, Any]]]:
        """Our seconds and their answers in each round, after a step each to warm up."""
        self.tell(f"{what}: warming up")
        ours(0)
        if theirs:
            self.tell(f"{what}: dm-clrs compiles, which may take minutes")
            theirs()
        found, answers = [], []
        for k in range(1, self.rounds + 1):
            self.tell(f"{what}: round {k} of {self.rounds}")
            self.machine.measure()
            found.append(ours(k))
            if theirs:
                answers.append(theirs())
        return found, answers


def series(answers: list[dict[str, Any]]) -> Series:
    """The answers of dm-clrs."""
    return Series([answer["seconds"] for answer in answers], [answer["sample_steps"] for answer in answers])
