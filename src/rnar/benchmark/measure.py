"""A training step and an evaluation step, timed; by turns with those of dm-clrs, if there is one to compare with."""

import io
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

import torch
from rich.console import Console

from rnar.benchmark.flops import WITH_BACKWARD, Machine, forward_flops, sample_steps, synchronise
from rnar.benchmark.reference import Reference
from rnar.clrs import Batch, Stream, find
from rnar.evaluation.evaluate import evaluate
from rnar.models import Model
from rnar.runtime.workers import Precision, Workers, available_cores
from rnar.training.environment import chosen_device, versions
from rnar.training.learner import Learner
from rnar.training.live import Live
from rnar.training.loop import train
from rnar.training.settings import Device, Settings
from rnar.training.watch import Beginning, Watch, Watches

CLIP, LEARNING_RATE = 1.0, 1e-3
REST = 1.0  # seconds in which dm-clrs, which frees gigabytes after a step, or ours comes to rest


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
    precision: Precision = "float32"

    def __post_init__(self) -> None:
        for name in ("rounds", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"--{name} must be at least 1, not {value}")
        self.stream().close()  # raises if there is no such task, or none of this n
        chosen_device(self.device)  # raises if there is no such device

    @property
    def sizes(self) -> dict[str, int]:
        """All numbers, with none left open."""
        size = self.model.size if self.size is None else self.size
        threads = self.threads or (available_cores() if chosen_device(self.device).type == "cpu" else 1)
        return {"n": self.n, "batch": self.batch, "size": size, "threads": threads}

    def stream(self) -> Stream:
        return Stream(self.task, batch=self.batch, sizes=(self.n,), transform=self.model.batch, ahead=0)


class Ours:
    """A network of ours, and its batches: the first to warm up, then one for each round."""

    def __init__(self, setting: Setting):
        self.device = chosen_device(setting.device)
        self.reasoner = setting.model.build(setting.task, setting.size).to(self.device)
        self.precision: Precision = setting.precision
        self.workers = Workers(self.reasoner, setting.sizes["threads"])
        self.optimiser = torch.optim.Adam(self.reasoner.parameters(), LEARNING_RATE, fused=True)
        self.seconds_to_draw: list[float] = []
        self.seconds_to_update: list[float] = []
        with setting.stream() as stream:
            draw = timed(stream.__next__, self.seconds_to_draw)
            self.batches: list[Batch] = [draw() for _ in range(1 + setting.rounds)]

    def train(self, k: int) -> float:
        """Learn from batch k; the seconds."""
        self.reasoner.train()
        start = time.perf_counter()
        self.workers.backward(self.batches[k], seed=k, precision=self.precision)
        synchronise(self.device)
        timed(self._update, self.seconds_to_update)()
        return time.perf_counter() - start

    def _update(self) -> None:
        torch.nn.utils.clip_grad_norm_(self.reasoner.parameters(), CLIP)
        self.optimiser.step()
        synchronise(self.device)

    def evaluate(self, k: int) -> float:
        """Predict the outputs of batch k and score them; the seconds."""
        start = time.perf_counter()
        evaluate(self.workers, self.batches[k], seed=k, precision=self.precision)
        return time.perf_counter() - start


def measure(
    setting: Setting, reference: Reference | None = None, tell: Callable[[str], None] = lambda words: None
) -> dict[str, Any]:
    """Measures a network of ours and, by turns with it, one of dm-clrs; the peak of memory is up to the last training.

    Args:
        setting: What is measured.
        reference: The process of dm-clrs.
        tell: Told what is being done, in a few words.
    """
    tell("drawing batches")
    ours = Ours(setting)
    nodes, batches = ours.batches[0].nodes, ours.batches[1:]
    machine = Machine(setting.batch * nodes**2, setting.sizes["threads"], ours.device, setting.precision)
    training, theirs = by_turns(setting.rounds, machine, tell, "train", ours.train, reference)
    peaks = ours.workers.peak_memory(), reference.ask("memory") if reference else 0
    evaluation, theirs_too = by_turns(setting.rounds, machine, tell, "evaluate", ours.evaluate, reference)
    tell("training in a scratch folder")
    outside = seconds_outside(setting)
    tell("counting products")
    flops, steps = forward_flops(ours.reasoner, batches), [sample_steps(batch) for batch in batches]
    measured = {
        "training": series(training, steps, [WITH_BACKWARD * count for count in flops], machine.best),
        "evaluation": series(evaluation, steps, flops, machine.best),
    }
    data, update = median(ours.seconds_to_draw[1:]), median(ours.seconds_to_update[1:])
    all_but_update = measured["training"]["median"] - update
    return {
        "task": setting.task,
        "model": setting.model.name,
        "reversal": setting.model.reversal != "none",
        "nodes": nodes,
        "sizes": setting.sizes,
        "device": str(ours.device),
        "precision": setting.precision,
        "parameters": sum(parameter.numel() for parameter in ours.reasoner.parameters()),
        **measured,
        "outside": {"data": data, "update": update, "all": outside, "share": outside / (all_but_update + outside)},
        "peak_memory": peaks[0],
        "machine": machine.best,
        "versions": versions(),
        "dm_clrs": reference
        and {
            "facts": reference.facts,
            "training": against(theirs, measured["training"]),
            "evaluation": against(theirs_too, measured["evaluation"]),
            "peak_memory": peaks[1],
        },
    }


def by_turns(
    rounds: int,
    machine: Machine,
    tell: Callable[[str], None],
    what: str,
    ours: Callable[[int], float],
    reference: Reference | None,
) -> tuple[list[float], list[dict[str, Any]]]:
    """A step of ours, then one of theirs, and so on: whatever else the machine does slows down both.

    Returns our seconds and their answers in each round, after a step each to warm up.
    """
    tell(f"{what}: warming up")
    ours(0)
    if reference:
        tell(f"{what}: dm-clrs compiles, which may take minutes")
        reference.ask(what)
    seconds, answers = [], []
    for k in range(1, rounds + 1):
        tell(f"{what}: round {k} of {rounds}")
        time.sleep(REST if reference else 0)
        machine.measure()
        seconds.append(ours(k))
        if reference:
            time.sleep(REST)
            answers.append(reference.ask(what))
    return seconds, answers


def series(
    seconds: list[float], sample_steps: list[int], flops: list[int] | None = None, machine: float = 1.0
) -> dict[str, Any]:
    """One kind of step, timed once in each round, and its rates; `machine`: the most operations in a second."""

    def rate(amounts: list[int]) -> float:
        return median(amount / each for amount, each in zip(amounts, seconds, strict=True))

    found = {"seconds": seconds, "sample_steps": sample_steps, "flops": flops, "median": median(seconds)}
    found |= {"sample_steps_per_second": rate(sample_steps), "flops_per_second": rate(flops) if flops else None}
    return found | ({"share_of_machine": found["flops_per_second"] / machine} if flops else {})


def against(answers: list[dict[str, Any]], ours: dict[str, Any]) -> dict[str, Any]:
    """The same of dm-clrs, and how many times longer it takes; `at_most`: than our products alone."""
    theirs = series([each["seconds"] for each in answers], [each["sample_steps"] for each in answers])
    ratios = [their / our for their, our in zip(theirs["seconds"], ours["seconds"], strict=True)]
    found = {"of_medians": theirs["median"] / ours["median"], "lowest": min(ratios), "highest": max(ratios)}
    return {**theirs, "ratio": {**found, "at_most": found["of_medians"] / ours["share_of_machine"]}}


def seconds_outside(setting: Setting) -> float:
    """Seconds of each step that real training spends on other things than gradients and validation: data, update, log,
    display and saving. It runs in a scratch folder, and ends before it would test."""
    length, steps, inside, clock = find(setting.task).problem.length, setting.rounds, [], Clock()
    official = max((size for size in range(1, setting.n + 1) if length(size) <= setting.n), default=setting.n)
    with tempfile.TemporaryDirectory() as place, suppress(Enough):
        settings = Settings(
            tasks=(setting.task,), model=setting.model, batch=setting.batch, sizes=(official,),
            size=setting.sizes["size"],
            precision=setting.precision, device=setting.device, threads=setting.threads, steps=steps,
            validate_every=steps, validation_samples=1, wider_samples=0, folder=Path(place) / "run",
        )  # fmt: skip
        watch = Watches(Live(Console(file=io.StringIO(), force_terminal=True)), clock)
        with (
            patch.object(Workers, "backward", timed(Workers.backward, inside)),
            patch.object(Learner, "validate", timed(Learner.validate, inside)),
        ):
            train(settings, watch)
    return (clock.end - clock.start - sum(inside)) / steps


class Enough(Exception):
    """All steps were taken, and all is saved."""


class Clock(Watch):
    """Notes when a run begins, and ends it before it compares networks and tests them."""

    start = end = 0.0

    def began(self, beginning: Beginning) -> None:
        self.start = time.perf_counter()

    def selecting(self, candidates: int) -> None:
        self.end = time.perf_counter()
        raise Enough


def timed(function: Callable[..., Any], seconds: list[float]) -> Callable[..., Any]:
    """The same function, which also appends to `seconds` how long each call took."""

    def call(*args: Any, **named: Any) -> Any:
        start = time.perf_counter()
        found = function(*args, **named)
        seconds.append(time.perf_counter() - start)
        return found

    return call
