"""Train one run after the other until all are done, and show how far they are: bars in a terminal, lines in a log."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from rnar.common.durations import took
from rnar.sweep.engine import Allocation, Local
from rnar.sweep.plan import PlannedRun
from rnar.sweep.process import MOMENT, Outcome
from rnar.sweep.ray import Ray

HEARTBEAT = 600.0  # seconds without news after which a log gets a line that says how much is done
Engine = Local | Ray


async def conduct(
    runs: Sequence[PlannedRun], engine: Engine, allocation: Allocation, retries: int, display: Display
) -> dict[str, str]:
    """Train all runs, as many at a time as there is room for, and return those that failed: by name, why."""
    failures: dict[str, str] = {}
    slots = asyncio.Queue[int]()
    for slot in range(allocation.parallel):
        slots.put_nowait(slot)

    async def train(run: PlannedRun) -> None:
        """Train a run; if it dies, again from where it was saved, until it has died more than `retries` times without
        getting any further."""
        slot, furthest, deaths = await slots.get(), 0, 0
        while True:
            if (step := run.saved_step) > furthest:
                furthest, deaths = step, 0
            display.started(run, step)
            outcome = await engine.train(run, allocation, slot)
            deaths += 1
            if outcome.kind != "died" or deaths > retries:
                break
            display.retried(run, outcome.message)
        if outcome.kind != "done":
            failures[run.name] = outcome.message
        display.ended(run, outcome)
        slots.put_nowait(slot)

    async def refresh() -> None:
        while True:
            display.refresh()
            await asyncio.sleep(MOMENT)

    refreshing = asyncio.create_task(refresh())
    await asyncio.gather(*map(train, runs))
    refreshing.cancel()
    return failures


class Display:
    """Shows how far the runs are, by the metrics and results in their folders."""

    def __init__(self, console: Console, runs: Sequence[PlannedRun]):
        self.console, self.runs, self.finished = console, runs, 0
        self.steps = {run: run.step for run in runs}
        self.total = sum(run.steps - step for run, step in self.steps.items())
        self._begun = self._printed = time.monotonic()
        columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[words]}"))
        self.bars = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._all = self.bars.add_task("all runs", total=1.0, words="")
        self._bars: dict[PlannedRun, TaskID] = {}

    def started(self, run: PlannedRun, step: int) -> None:
        self._bars[run] = self.bars.add_task(run.name, total=run.steps, completed=step, words="")
        if not self.console.is_terminal:
            self.say(f"{run.name} " + (f"goes on from step {step}" if step else "begins"))

    def retried(self, run: PlannedRun, reason: str) -> None:
        self.bars.remove_task(self._bars.pop(run))
        self.say(f"{run.name} is begun again: {reason}")

    def ended(self, run: PlannedRun, outcome: Outcome) -> None:
        self.bars.remove_task(self._bars.pop(run))
        self.steps[run] = run.steps
        self.finished += 1
        done = outcome.kind == "done" and run.result
        how = f"{done.score:.2%}" if done else f"failed: {outcome.message}"
        self.say(f"{self.finished} of {len(self.runs)}  {run.name}: {how}{self._time_left()}")

    def refresh(self) -> None:
        """Read how far the runs are, and show it."""
        for run, bar in self._bars.items():
            self.steps[run] = step = run.step
            words = "test" if step == run.steps else f"step {step} of {run.steps}"
            self.bars.update(bar, completed=step, words=words)
        words = f"{self.finished} of {len(self.runs)}{self._time_left()}"
        self.bars.update(self._all, completed=self.share, words=words)
        if not self.console.is_terminal and time.monotonic() - self._printed > HEARTBEAT:
            self.say(f"{self.share:.1%} of all is done{self._time_left()}")

    @property
    def share(self) -> float:
        """The share that is done of the training that was left when the sweep began."""
        left = sum(run.steps - step for run, step in self.steps.items())
        return 1 - left / self.total if self.total else 1.0

    def _time_left(self) -> str:
        """The time that the rest takes, if it goes on as it went so far."""
        seconds = time.monotonic() - self._begun
        return f"  (about {took(seconds / self.share * (1 - self.share))} left)" if 0.01 < self.share < 1 else ""

    def say(self, words: str) -> None:
        self._printed = time.monotonic()
        self.console.print(words, soft_wrap=True)
        self.console.file.flush()
