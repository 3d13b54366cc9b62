"""What a sweep shows: the plan, a bar in a terminal, lines in a log, and what failed."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table

from rnar.common.durations import took
from rnar.sweep.child import Message, Outcome
from rnar.sweep.estimate import Cost
from rnar.sweep.layout import Layout, makespan
from rnar.sweep.plan import Job

Costs = dict[tuple[str, str], Cost]
"""by task and model; empty if nothing was estimated"""

HEARTBEAT = 600.0  # seconds without news after which a log gets a line that says how much is done
UNKNOWN = Cost(start=0.0, training=1.0, test=0.1, memory=0)
STANDINGS = {"finished": "finished", "further": "with more steps already", "begun": "to go on with", "new": "new"}


def cost_of(job: Job, costs: Costs) -> Cost:
    return costs.get(job.kind, UNKNOWN)


def summary(jobs: Sequence[Job], folder: str) -> str:
    """How many runs there are, and how far they are."""
    tasks, models = (len(set(names)) for names in zip(*(job.kind for job in jobs), strict=True))
    seeds = len({job.settings.seed for job in jobs})
    size = f"{_count(tasks, 'task')}, {_count(models, 'model')}, {_count(seeds, 'seed')}"
    counts = Counter(job.standing for job in jobs)
    states = ", ".join(f"{counts[each]} {words}" for each, words in STANDINGS.items() if counts[each])
    return f"{_count(len(jobs), 'run')} in {folder} ({size}): {states}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


def table(jobs: Sequence[Job], costs: Costs, layout: Layout) -> Table:
    """What is left to do, by task and model: how many runs, and how long each takes."""
    models = list(dict.fromkeys(job.settings.name for job in jobs))
    page = Table("task", *models, box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for column in page.columns[1:]:
        column.justify = "right"
    for task in dict.fromkeys(job.task for job in jobs):
        cells = [[job for job in jobs if job.kind == (task, model)] for model in models]
        page.add_row(task, *(_cell(cell, costs, layout) for cell in cells))
    return page


def _cell(jobs: Sequence[Job], costs: Costs, layout: Layout) -> str:
    left = [job for job in jobs if job.open]
    if not left:
        return "done" if jobs else "-"
    if left[0].kind not in costs:
        return f"{len(left)} x"
    seconds = sum(cost_of(job, costs).left(job) for job in left) / len(left) / layout.threads
    return f"{len(left)} x {took(seconds)}"


def expected(jobs: Sequence[Job], costs: Costs, layout: Layout) -> str:
    """How long everything takes, and how much memory."""
    how = f"{layout.parallel} at a time with {_count(layout.threads, 'thread')} each"
    if layout.gpus:
        how += f" and {layout.gpus:g} GPU"
    if not costs:
        return how
    each = [cost_of(job, costs).left(job) / layout.threads for job in jobs if job.open]
    memory = f", up to {layout.memory / 1e9:.1f} GB each" if layout.memory else ""
    return f"about {took(makespan(each, layout.parallel))} if nothing else is done here, {how}{memory}"


class Display:
    """Shows what happens while a sweep goes on: it is told by `conduct`."""

    def __init__(self, console: Console, jobs: Sequence[Job], costs: Costs):
        self.console, self.costs = console, costs
        self.left = {id(job): cost_of(job, costs).left(job) for job in jobs}
        """seconds, by the id() of a job"""
        self.total = sum(self.left.values())
        self.runs, self.finished = len(jobs), 0
        self._begun = self._heard = time.monotonic()
        self._lines: dict[int, TaskID] = {}
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[words]}"))
        self.bar = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._all = self.bar.add_task("all runs", total=self.total or 1.0, words="")

    def __enter__(self) -> Display:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def started(self, job: Job) -> None:
        self._lines[id(job)] = self.bar.add_task(job.name, total=float(job.steps), words="starts")

    def told(self, job: Job, message: Message) -> None:
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
        """Of the work, which is done."""
        return 1 - sum(self.left.values()) / self.total if self.total else 1.0

    def _soon(self) -> str:
        """How long the rest will take, judging by how long the work took so far."""
        share, passed = self.share, time.monotonic() - self._begun
        return f"  (about {took(passed / share * (1 - share))} left)" if 0.01 < share < 1 else ""

    def _refresh(self) -> None:
        words = f"{self.finished} of {self.runs}{self._soon()}"
        self.bar.update(self._all, completed=self.total * self.share, words=words)

    def say(self, words: str) -> None:
        self._heard = time.monotonic()
        self.console.print(words, soft_wrap=True)
        self.console.file.flush()
