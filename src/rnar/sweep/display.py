"""What a sweep shows: the plan, a bar in a terminal, lines in a log, and what failed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table

from rnar.common.durations import took
from rnar.sweep.child import Outcome
from rnar.sweep.conduct import Failure
from rnar.sweep.estimate import Cost
from rnar.sweep.layout import Layout, makespan
from rnar.sweep.plan import Job

Costs = dict[tuple[str, str], Cost]

HEARTBEAT = 600.0  # seconds between lines in a log that say how far all is
UNKNOWN = Cost(0.0, 1.0, 0.1, 0)


def cost_of(job: Job, costs: Costs) -> Cost:
    return costs.get((job.task, job.settings.name), UNKNOWN)


def summary(jobs: Sequence[Job], folder: str) -> str:
    """How many runs there are, and how far they are."""
    tasks, models, seeds = (
        len({job.task for job in jobs}),
        len({job.settings.name for job in jobs}),
        len({job.settings.seed for job in jobs}),
    )
    size = f"{_count(tasks, 'task')}, {_count(models, 'model')}, {_count(seeds, 'seed')}"
    counts = {
        "finished": sum(job.standing == "finished" for job in jobs),
        "with more steps already": sum(job.standing == "further" for job in jobs),
        "to go on with": sum(job.standing == "begun" for job in jobs),
        "new": sum(job.standing == "new" for job in jobs),
    }
    return f"{_count(len(jobs), 'run')} in {folder} ({size}): " + ", ".join(
        f"{count} {what}" for what, count in counts.items() if count
    )


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def table(jobs: Sequence[Job], costs: Costs, layout: Layout) -> Table:
    """What is left to do: a line for each task, a column for each model, the time of a run and how many there are."""
    models = list(dict.fromkeys(job.settings.name for job in jobs))
    page = Table("task", *models, box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for column in page.columns[1:]:
        column.justify = "right"
    for task in dict.fromkeys(job.task for job in jobs):
        page.add_row(task, *(_cell([j for j in jobs if j.task == task and j.settings.name == model], costs, layout)
                             for model in models))  # fmt: skip
    return page


def _cell(jobs: Sequence[Job], costs: Costs, layout: Layout) -> str:
    left = [job for job in jobs if job.open]
    if not left:
        return "done" if jobs else "-"
    if (left[0].task, left[0].settings.name) not in costs:
        return f"{len(left)} x"
    seconds = sum(cost_of(job, costs).left(job) for job in left) / len(left) / layout.threads
    return f"{len(left)} x {took(seconds)}"


def expected(jobs: Sequence[Job], costs: Costs, layout: Layout) -> str:
    """How long all takes, and in how much memory."""
    left = [job for job in jobs if job.open]
    how = f"{layout.parallel} at a time with {_count(layout.threads, 'thread')} each"
    if layout.gpus:
        how += f" and {layout.gpus:g} GPU"
    if not costs:
        return how
    seconds = makespan([cost_of(job, costs).left(job) / layout.threads for job in left], layout.parallel)
    memory = f", up to {layout.memory / 1e9:.1f} GB each" if layout.memory else ""
    return f"about {took(seconds)} if nothing else is done here, {how}{memory}"


class Display:
    """Told what happens, it says so."""

    def __init__(self, console: Console, jobs: Sequence[Job], costs: Costs):
        self.console, self.costs = console, costs
        self.total = sum(cost_of(job, costs).left(job) for job in jobs)
        self.runs, self.finished = len(jobs), 0
        self.left = {id(job): cost_of(job, costs).left(job) for job in jobs}
        self._begun = self._heard = time.monotonic()
        self._lines: dict[int, TaskID] = {}
        self.bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[words]}"),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self._all = self.bar.add_task("all runs", total=self.total or 1.0, words="")

    def __enter__(self) -> Display:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def started(self, job: Job) -> None:
        self._lines[id(job)] = self.bar.add_task(job.name, total=float(job.steps), words="starts")

    def told(self, job: Job, message: dict[str, Any]) -> None:
        cost, line = cost_of(job, self.costs), self._lines[id(job)]
        if "begun" in message and not self.console.is_terminal:
            self.say(f"{job.name} " + (f"goes on from step {message['begun']}" if message["begun"] else "begins"))
        if (step := message.get("step", message.get("begun"))) is not None:
            self.left[id(job)] = cost.training * (1 - step / job.steps) + cost.test
            self.bar.update(line, completed=step, words=f"step {step} of {job.steps}")
        if (share := message.get("tested")) is not None:
            self.left[id(job)] = cost.test * (1 - share)
            self.bar.update(line, total=1.0, completed=share, words="test")
        self._refresh()

    def retried(self, job: Job, words: str) -> None:
        self.bar.remove_task(self._lines.pop(id(job)))
        self.say(f"{job.name} is begun again: {words}")

    def ended(self, job: Job, outcome: Outcome) -> None:
        self.bar.remove_task(self._lines.pop(id(job)))
        self.left[id(job)] = 0.0
        self.finished += 1
        how = f"{outcome.value:.2%}" if outcome.kind == "done" else f"failed: {outcome.words}"
        self.say(f"{self.finished} of {self.runs}  {job.name}: {how}{self._soon()}")
        self._refresh()

    def waited(self) -> None:
        if not self.console.is_terminal and time.monotonic() - self._heard > HEARTBEAT:
            self.say(f"{self.share:.1%} of all is done{self._soon()}")

    @property
    def share(self) -> float:
        return 1 - sum(self.left.values()) / self.total if self.total else 1.0

    def _soon(self) -> str:
        """How long it will take yet, by how it went so far."""
        share, passed = self.share, time.monotonic() - self._begun
        return f"  (about {took(passed / share * (1 - share))} left)" if 0.01 < share < 1 else ""

    def _refresh(self) -> None:
        words = f"{self.finished} of {self.runs}{self._soon()}"
        self.bar.update(self._all, completed=self.total * self.share, words=words)

    def say(self, words: str) -> None:
        self._heard = time.monotonic()
        self.console.print(words, soft_wrap=True)
        self.console.file.flush()


def failed(failures: Sequence[Failure]) -> list[str]:
    """Which, and why."""
    return [f"  {job.name}: {words}" for job, words in failures]
