"""Starts one run after the other until all are done. Where they run is up to an engine."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol

from rnar.sweep.child import Message, Outcome
from rnar.sweep.plan import Job

if TYPE_CHECKING:
    from rnar.sweep.display import Display


class Event(NamedTuple):
    """What happened to a job: a message came, or it has ended."""

    job: Job
    message: Message | None = None
    outcome: Outcome | None = None


class Engine(Protocol):
    """Starts processes somewhere."""

    def start(self, job: Job) -> None:
        """Begin or resume a run. It is called only while there is room for one more."""

    def events(self) -> Iterable[Event]:
        """What has happened; waits a moment if nothing has."""
        ...

    def stop(self) -> None:
        """Have all runs that are still going save and end."""


class Failure(NamedTuple):
    job: Job
    words: str


def conduct(jobs: Sequence[Job], engine: Engine, parallel: int, retries: int, display: Display) -> list[Failure]:
    """Carry out all jobs, at most `parallel` at a time, and return those that failed.

    A job that dies is begun again from where it was saved. It is given up when it has died more than `retries` times
    without getting any further.
    """
    waiting, running = deque(jobs), 0
    furthest, deaths = Counter[int](), Counter[int]()  # by the id() of a job; `deaths` since it last got further
    failures: list[Failure] = []
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
                    failures.append(Failure(job, outcome.words))
                display.ended(job, outcome)
            display.waited()
    finally:
        engine.stop()
    return failures
