"""A training step and an evaluation step, timed; by turns with those of dm-clrs, if there is one to compare with."""

import io
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import torch
from rich.console import Console

from rnar.benchmark.flops import WITH_BACKWARD, Machine, forward_cost, sample_steps, synchronise
from rnar.benchmark.reference import Reference
from rnar.benchmark.report import Outside, Report, Series, Theirs
from rnar.clrs import Stream, find
from rnar.clrs.batch import Batch
from rnar.engine.replay import Recordings
from rnar.engine.workers import Workers, available_cores
from rnar.evaluation.evaluate import evaluate
from rnar.models import Model
from rnar.nn.reasoner import Precision
from rnar.training.environment import chosen_device, versions
from rnar.training.folder import claimed
from rnar.training.learner import Learner
from rnar.training.live import Live
from rnar.training.loop import learn
from rnar.training.settings import Device, Settings
from rnar.training.stopping import Stop
from rnar.training.team import Team
from rnar.training.watch import Beginning

CLIP = 1.0
LEARNING_RATE = 1e-3
REST = 1.0  # seconds

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
    precision: Precision = "float32"
    cuda_graphs: bool = False

    def __post_init__(self) -> None:
        for name in ("rounds", "threads"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"--{name} must be at least 1, not {value}")
        self.stream().close()  # raises if there is no such task, or none of this n
        self.place  # noqa: B018 (raises if there is no such device)

    @property
    def sizes(self) -> dict[str, int]:
        """All numbers, with none left open."""
        size = self.model.size if self.size is None else self.size
        threads = self.threads or (available_cores() if self.place.type == "cpu" else 1)
        return {"n": self.n, "batch": self.batch, "size": size, "threads": threads}

    @property
    def place(self) -> torch.device:
        return chosen_device(self.device)

    def stream(self) -> Stream:
        return Stream(self.task, batch=self.batch, sizes=(self.n,), transform=self.model.batch, ahead=0)


class Ours:
    """A network of ours, and its batches: the first to warm up, then one for each round."""

    def __init__(self, setting: Setting):
        self.device = setting.place
        self.reasoner = setting.model.build(setting.task, setting.size).to(self.device)
        self.reasoner.precision = setting.precision
        recordings = Recordings(self.reasoner) if setting.cuda_graphs else None
        self.workers = Workers(self.reasoner, setting.sizes["threads"], recordings=recordings)
        self.optimiser = torch.optim.Adam(self.reasoner.parameters(), LEARNING_RATE, fused=True)
        self.seconds_to_draw: list[float] = []
        self.seconds_to_update: list[float] = []
        with setting.stream() as stream:
            draw = timed(partial(next, stream), self.seconds_to_draw)
            self.batches: list[Batch] = [draw() for _ in range(1 + setting.rounds)]

    def train(self, k: int) -> float:
        """Learn from batch k; the seconds."""
        self.reasoner.train()
        start = time.perf_counter()
        self.workers.backward(self.batches[k], seed=k)
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
        evaluate(self.workers, self.batches[k], seed=k, precision=self.reasoner.precision)
        return time.perf_counter() - start


def measure(setting: Setting, reference: Reference | None = None, tell: Tell = lambda words: None) -> Report:
    """Measure a network of ours and, by turns with it, one of dm-clrs.

    The peak of memory is that of this process and its helpers up to the last training step.
    """
    tell("drawing batches")
    ours = Ours(setting)
    rows = setting.batch * ours.batches[0].nodes ** 2
    machine = Machine(rows, ours.workers.threads, ours.device, setting.precision)
    ask = reference and reference.ask
    turns = partial(by_turns, setting.rounds, machine, tell)
    training, their_training = turns("training", ours.train, ask and partial(ask, "train"))
    peak, their_peak = ours.workers.peak_memory(), ask("memory") if ask else 0
    evaluation, their_evaluation = turns("evaluation", ours.evaluate, ask and partial(ask, "evaluate"))
    tell("training in a scratch folder")
    besides = seconds_besides(setting)
    tell("counting products")
    cost = forward_cost(ours.reasoner, ours.batches[0])
    flops = [cost.of(batch) for batch in ours.batches[1:]]
    steps = [sample_steps(batch) for batch in ours.batches[1:]]
    return Report(
        task=setting.task,
        model=setting.model.name,
        reversal=setting.model.reversal != "none",
        nodes=ours.batches[0].nodes,
        sizes=setting.sizes,
        device=str(ours.device),
        precision=setting.precision,
        parameters=sum(parameter.numel() for parameter in ours.reasoner.parameters()),
        training=Series(training, steps, [WITH_BACKWARD * count for count in flops]),
        evaluation=Series(evaluation, steps, flops),
        outside=Outside(median(ours.seconds_to_draw[1:]), median(ours.seconds_to_update[1:]), besides),
        peak_memory=peak,
        machine=machine.best,
        versions=versions(),
        dm_clrs=reference and Theirs(reference.facts, series(their_training), series(their_evaluation), their_peak),
    )


def by_turns(
    rounds: int,
    machine: Machine,
    tell: Tell,
    what: str,
    ours: Callable[[int], float],
    theirs: Callable[[], dict[str, Any]] | None,
) -> tuple[list[float], list[dict[str, Any]]]:
    """A step of ours, then one of theirs, and so on: whatever else the machine does slows down both.

    Our seconds and their answers in each round, after a step each to warm up. Before each turn the other side has time
    to come to rest: dm-clrs gives back gigabytes after a step, which would be part of ours.
    """
    tell(f"{what}: warming up")
    ours(0)
    if theirs:
        tell(f"{what}: dm-clrs compiles, which may take minutes")
        theirs()
    found, answers = [], []
    for k in range(1, rounds + 1):
        tell(f"{what}: round {k} of {rounds}")
        if theirs:
            time.sleep(REST)
        machine.measure()
        found.append(ours(k))
        if theirs:
            time.sleep(REST)
            answers.append(theirs())
    return found, answers


def series(answers: list[dict[str, Any]]) -> Series:
    """The answers of dm-clrs."""
    return Series([answer["seconds"] for answer in answers], [answer["sample_steps"] for answer in answers])


def seconds_besides(setting: Setting) -> float:
    """Seconds of each step that training spends on other things than gradients and validation.

    The real loop runs in a scratch folder, with its data, log, display and saving. A state is saved at the beginning
    and at the end, which is more often than in a long run, where it is saved twice a minute.
    """
    task, sizes, steps = setting.task, setting.sizes, setting.rounds
    length = find(task).problem.length
    official = max((size for size in range(1, setting.n + 1) if length(size) <= setting.n), default=setting.n)
    with tempfile.TemporaryDirectory() as place:
        settings = Settings(
            tasks=(task,), model=setting.model, batch=setting.batch, sizes=(official,), size=sizes["size"],
            precision=setting.precision, device=setting.device,
            steps=steps, validate_every=steps, validation_samples=1, folder=Path(place) / "run",
        ).resolved()  # fmt: skip
        team = Team(setting.place, sizes["threads"])
        console = Console(file=io.StringIO(), force_terminal=True)
        with closing(Learner(settings, team)) as learner, closing(Live(console)) as live, claimed(settings) as folder:
            folder.begin({}, {})
            live.began(Beginning(settings, settings.path, 0, learner.parameters, str(team.device), team.threads, []))
            learner.workers.backward(next(learner.streams[task]))  # starts processes and compiles
            inside: list[float] = []
            learner.workers.backward = timed(learner.workers.backward, inside)  # type: ignore[method-assign]
            learner.validate = timed(learner.validate, inside)  # type: ignore[method-assign]
            start = time.perf_counter()
            learn(learner, folder, live, Stop())
            return (time.perf_counter() - start - sum(inside)) / steps


def timed(function: Callable[..., Any], seconds: list[float]) -> Callable[..., Any]:
    """The same function, which also appends to `seconds` how long each call took."""

    def call(*args: Any, **named: Any) -> Any:
        start = time.perf_counter()
        found = function(*args, **named)
        seconds.append(time.perf_counter() - start)
        return found

    return call
