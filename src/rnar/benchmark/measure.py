"""A training step and an evaluation step, timed; by turns with those of dm-clrs, if there is one to compare with."""

import time
from collections.abc import Callable
from statistics import median
from typing import Any

import torch

from rnar.benchmark.flops import forward_flops, machine_speed, sample_steps
from rnar.benchmark.reference import Reference
from rnar.clrs import Stream
from rnar.evaluation.evaluate import evaluate
from rnar.evaluation.memory import check_step
from rnar.models import Model
from rnar.runtime.workers import Precision, Workers
from rnar.training.environment import chosen_device, versions
from rnar.training.settings import Device

CLIP, LEARNING_RATE = 1.0, 1e-3
REST = 1.0  # seconds in which dm-clrs, which frees gigabytes after a step, or our network comes to rest
WITH_BACKWARD = 3  # a product y = W x has two more in the backward pass, for the gradients of W and x
Tell = Callable[[str], None]


class Ours:
    """A network of rnar and its batches: the first to warm up, then one for each round."""

    def __init__(
        self,
        task: str,
        model: Model,
        n: int,
        batch: int = 32,
        size: int | None = None,
        threads: int | None = None,
        device: Device = "cpu",
        rounds: int = 5,
        precision: Precision = "float32",
    ):
        if rounds < 1:
            raise ValueError(f"--rounds must be at least 1, not {rounds}")
        self.task, self.model, self.device = task, model, chosen_device(device)
        self.precision: Precision = precision
        with Stream(task, batch=batch, sizes=(n,), transform=model.batch, ahead=0) as stream:
            self.batches = [next(stream) for _ in range(1 + rounds)]
        self.reasoner = model.build(task, size).to(self.device)
        check_step(self.reasoner, task, self.batches[0].nodes, batch)
        self.workers = Workers(self.reasoner, threads)
        self.optimiser = torch.optim.Adam(self.reasoner.parameters(), LEARNING_RATE, fused=True)
        size = model.size if size is None else size
        self.sizes = {"n": n, "batch": batch, "size": size, "threads": self.workers.threads}

    def train(self, k: int) -> float:
        """Returns how many seconds it takes to learn from batch k."""
        self.reasoner.train()
        start = time.perf_counter()
        self.workers.backward(self.batches[k], seed=k, precision=self.precision)
        torch.nn.utils.clip_grad_norm_(self.reasoner.parameters(), CLIP)
        self.optimiser.step()
        if self.device.type in ("cuda", "mps"):
            getattr(torch, self.device.type).synchronize()
        return time.perf_counter() - start

    def evaluate(self, k: int) -> float:
        """Returns how many seconds it takes to predict the outputs of batch k and score them."""
        start = time.perf_counter()
        evaluate(self.workers, self.batches[k], seed=k, precision=self.precision)
        return time.perf_counter() - start


def measure(ours: Ours, reference: Reference | None, tell: Tell) -> dict[str, Any]:
    """Measures a network of rnar and, by turns with it, one of dm-clrs; the peak of memory is that of training.

    Args:
        ours: The network of rnar.
        reference: The process of dm-clrs.
        tell: Is called with a few words about what is being done.
    """
    tell("counting products")
    nodes, (_, *batches) = ours.batches[0].nodes, ours.batches
    rows, threads = ours.sizes["batch"] * nodes**2, ours.sizes["threads"]
    machine = max(machine_speed(rows, threads, ours.device, ours.precision) for _ in batches)
    flops, steps = forward_flops(ours.reasoner, batches), [sample_steps(batch) for batch in batches]
    report: dict[str, Any] = {
        "task": ours.task,
        "model": ours.model.name,
        "reversal": ours.model.reversal != "none",
        "nodes": nodes,
        "sizes": ours.sizes,
        "device": str(ours.device),
        "precision": ours.precision,
        "parameters": sum(parameter.numel() for parameter in ours.reasoner.parameters()),
        "machine": machine,
        "versions": versions(),
        "dm_clrs": reference and {"facts": reference.facts},
    }
    for name, step, products in (("training", ours.train, WITH_BACKWARD), ("evaluation", ours.evaluate, 1)):
        seconds, answers = by_turns(name, step, len(batches), reference, tell)
        report[name] = series(seconds, steps, [products * count for count in flops], machine)
        report.setdefault("peak_memory", ours.workers.peak_memory())
        if reference:
            report["dm_clrs"][name] = against(answers, report[name])
            report["dm_clrs"].setdefault("peak_memory", reference.ask("memory"))
    return report


def by_turns(
    name: str, step: Callable[[int], float], rounds: int, reference: Reference | None, tell: Tell
) -> tuple[list[float], list[dict[str, Any]]]:
    """Takes a step of rnar, then one of dm-clrs, and so on: whatever else the machine does slows down both.

    Returns our seconds and their answers in each round, after a step of both to warm up.
    """
    seconds, answers = [], []
    for k in range(rounds + 1):
        warming_up = "warming up" + "; dm-clrs compiles, which may take minutes" * bool(reference)
        tell(f"{name}: round {k} of {rounds}" if k else f"{name}: {warming_up}")
        seconds.append(step(k))
        if reference:
            time.sleep(REST)
            answers.append(reference.ask(name))
            time.sleep(REST)
    return seconds[1:], answers[1:]


def series(seconds: list[float], steps: list[int], flops: list[int], machine: float) -> dict[str, Any]:
    """One kind of step, timed once in each round, and its rates; `machine`: the most operations in a second."""
    speed = rate(flops, seconds)
    return {**times(seconds, steps), "flops": flops, "flops_per_second": speed, "share_of_machine": speed / machine}


def against(answers: list[dict[str, Any]], ours: dict[str, Any]) -> dict[str, Any]:
    """The same of dm-clrs, and how many times longer it takes."""
    theirs = times(*([answer[key] for answer in answers] for key in ("seconds", "sample_steps")))
    ratios = [their / our for their, our in zip(theirs["seconds"], ours["seconds"], strict=True)]
    ratio = {"of_medians": theirs["median"] / ours["median"], "lowest": min(ratios), "highest": max(ratios)}
    return {**theirs, "ratio": ratio}


def times(seconds: list[float], steps: list[int]) -> dict[str, Any]:
    """The seconds of steps, and how many steps of samples are taken in a second."""
    median_rate = rate(steps, seconds)
    return {
        "seconds": seconds,
        "median": median(seconds),
        "sample_steps": steps,
        "sample_steps_per_second": median_rate,
    }


def rate(amounts: list[int], seconds: list[float]) -> float:
    return median(amount / time for amount, time in zip(amounts, seconds, strict=True))
