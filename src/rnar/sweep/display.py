"""The plan of a sweep, and its progress: bars in a terminal, lines in a log."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn
from rich.table import Table

from rnar.common.durations import took
from rnar.sweep.allocation import Allocation
from rnar.sweep.plan import PlannedRun
from rnar.sweep.process import Outcome

HEARTBEAT = 600.0  # seconds without news after which a log gets a line that says how much is done
STANDINGS = {"finished": "finished", "further": "with more steps already", "begun": "to go on with", "new": "new"}


def summary(runs: Sequence[PlannedRun], folder: str) -> str:
    """A line that counts the runs, and says how far they are."""
    kinds = {"task": {r.task for r in runs}, "model": {r.model for r in runs}, "seed": {r.settings.seed for r in runs}}
    size = ", ".join(_count(len(names), kind) for kind, names in kinds.items())
    counts = Counter(run.standing for run in runs)
    states = ", ".join(f"{counts[standing]} {words}" for standing, words in STANDINGS.items() if counts[standing])
    return f"{_count(len(runs), 'run')} in {folder} ({size}): {states}"


def table(runs: Sequence[PlannedRun]) -> Table:
    """The seeds that are left to do, by task and model."""
    models = list(dict.fromkeys(run.model for run in runs))
    page = Table("task", *models, box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for column in page.columns[1:]:
        column.justify = "right"
    for task in dict.fromkeys(run.task for run in runs):
        page.add_row(
            task, *(_cell([run for run in runs if (run.task, run.model) == (task, model)]) for model in models)
        )
    return page


def _cell(runs: Sequence[PlannedRun]) -> str:
    left = sum(run.open for run in runs)
    return _count(left, "seed") if left else "done" if runs else "-"


def sharing(allocation: Allocation) -> str:
    """A line that says how the runs share the machine."""
    words = f"{allocation.parallel} at a time with {_count(allocation.threads, 'thread')} each"
    return words + (f" and {allocation.gpus:g} GPU" if allocation.gpus else "")


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


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

    def __enter__(self) -> Display:
        self.bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bars.stop()

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
