"""Starts one run after the other until all are done. Where they run is up to an engine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from rnar.sweep.child import Message, Outcome
from rnar.sweep.layout import Layout, There
from rnar.sweep.plan import Job
from rnar.training import Resolved

if TYPE_CHECKING:
    from rnar.sweep.display import Display

Storage = Literal["auto", "shared", "ray"]
"""how the files of runs come back from other machines; see engines/ray.py"""


class Event(NamedTuple):
    """What happened to a job: a message came, or it has ended."""

    job: Job
    message: Message | None = None
    outcome: Outcome | None = None


class Engine(ABC):
    """Starts processes somewhere."""

    layout = Layout(1, 1, 0, None)

    @abstractmethod
    def there(self) -> There:
        """What the runs share."""

    @abstractmethod
    def measured(self, settings: Resolved) -> Outcome:
        """The rates of a model (see estimate.py), measured in a process of its own so that its memory can be told."""

    def prepare(self, layout: Layout, folder: Path, storage: Storage) -> None:
        """Set how the runs share what is there, and where they are kept. Called before the first is started."""
        self.layout = layout

    @abstractmethod
    def start(self, job: Job) -> None:
        """Begin or resume a run. It is called only while there is room for one more."""

    @abstractmethod
    def events(self) -> Iterable[Event]:
        """What has happened; waits a moment if nothing has."""

    @abstractmethod
    def stop(self) -> None:
        """Have all runs that are still going save and end."""

    def close(self) -> None:  # noqa: B027 (not all have something to close)
        """Nothing more will be started."""


def conduct(jobs: Sequence[Job], engine: Engine, parallel: int, retries: int, display: Display) -> dict[str, str]:
    """Carry out all jobs, at most `parallel` at a time, and return those that failed: by name, why.

    A job that dies is begun again from where it was saved. It is given up when it has died more than `retries` times
    without getting any further.
    """
    waiting, running = deque(jobs), 0
    furthest, deaths = Counter[int](), Counter[int]()  # by the id() of a job; `deaths` since it last got further
    failures: dict[str, str] = {}
    try:
        while waiting or running:
            while waiting and running < parallel:
                job = waiting.popleft()
                engine.start(job)
                running += 1
                display.started(job)
            for job, message, outcome in engine.events():
                if message is not None:
                    if message.get("begun", 0) > furthest[id(job)]:
                        furthest[id(job)] = message["begun"]
                        deaths[id(job)] = 0
                    display.told(job, message)
                if outcome is None:
                    continue
                running -= 1
                deaths[id(job)] += outcome.kind == "died"
                if outcome.kind == "died" and deaths[id(job)] <= retries:
                    waiting.appendleft(job)
                    display.retried(job, outcome.words)
                    continue
                if outcome.kind != "done":
                    failures[job.name] = outcome.words
                display.ended(job, outcome)
            display.waited()
    finally:
        engine.stop()
    return failures
