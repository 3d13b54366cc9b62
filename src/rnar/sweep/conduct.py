"""Train one run after the other until all are done. Where they are trained is up to an engine."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rnar.sweep.allocation import Allocation, Resources
from rnar.sweep.plan import PlannedRun, train_arguments
from rnar.sweep.process import MOMENT, Command, Outcome

if TYPE_CHECKING:
    from rnar.sweep.display import Display


class Engine(ABC):
    """Trains runs somewhere."""

    allocation = Allocation()
    """how the runs share the resources"""

    @abstractmethod
    def resources(self) -> Resources:
        """What the runs share."""

    @abstractmethod
    async def train(self, run: PlannedRun, slot: int) -> Outcome:
        """Begin or resume a run and wait until it has ended. If this is cancelled, it is saved and stopped.

        No two runs have the same slot at a time.
        """

    def close(self) -> None:  # noqa: B027 (not all have something to close)
        """Nothing more will be trained."""

    def command(self, run: PlannedRun) -> Command:
        """The command that trains a run with its share of the resources."""
        threads, memory = self.allocation.threads, self.allocation.saved_steps
        settings = replace(run.settings, threads=threads, memory=memory)
        return Command(train_arguments(settings), settings.path, threads, Path.cwd())


async def conduct(runs: Sequence[PlannedRun], engine: Engine, retries: int, display: Display) -> dict[str, str]:
    """Train all runs, as many at a time as there is room for, and return those that failed: by name, why."""
    failures: dict[str, str] = {}
    slots = asyncio.Queue[int]()
    for slot in range(engine.allocation.parallel):
        slots.put_nowait(slot)

    async def carry_out(run: PlannedRun) -> None:
        slot = await slots.get()
        outcome = await _with_retries(run, slot, engine, retries, display)
        if outcome.kind != "done":
            failures[run.name] = outcome.message
        display.ended(run, outcome)
        slots.put_nowait(slot)

    refreshing = asyncio.create_task(_refresh(display))
    await asyncio.gather(*map(carry_out, runs))
    refreshing.cancel()
    return failures


async def _with_retries(run: PlannedRun, slot: int, engine: Engine, retries: int, display: Display) -> Outcome:
    """Train a run; if it dies, again from where it was saved.

    It is given up when it has died more than `retries` times without getting any further.
    """
    furthest = deaths = 0
    while True:
        if (step := run.saved_step) > furthest:
            furthest, deaths = step, 0
        display.started(run, step)
        outcome = await engine.train(run, slot)
        deaths += 1
        if outcome.kind != "died" or deaths > retries:
            return outcome
        display.retried(run, outcome.message)


async def _refresh(display: Display) -> None:
    while True:
        display.refresh()
        await asyncio.sleep(MOMENT)
