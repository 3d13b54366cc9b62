"""One run after the other, until all are done. Where they run is an engine's business."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Protocol

from rnar.sweep.child import Outcome
from rnar.sweep.plan import Job


class Event(NamedTuple):
    """What happened to a job: a message came, or it has ended."""

    job: Job
    message: dict[str, Any] | None = None
    outcome: Outcome | None = None


class Engine(Protocol):
    """Starts processes somewhere."""

    def start(self, job: Job) -> None:
        """Begin a run, or go on with it. There is room for it."""

    def events(self) -> Iterable[Event]:
        """What has happened; waits a moment if nothing has."""
        ...

    def stop(self) -> None:
        """Have all that still run save and end."""


class Onlooker(Protocol):
    """Is told what happens."""

    def started(self, job: Job) -> None: ...
    def told(self, job: Job, message: dict[str, Any]) -> None: ...
    def retried(self, job: Job, words: str) -> None: ...
    def ended(self, job: Job, outcome: Outcome) -> None: ...
    def waited(self) -> None: ...


class Failure(NamedTuple):
    job: Job
    words: str


def conduct(jobs: Sequence[Job], engine: Engine, parallel: int, retries: int, onlooker: Onlooker) -> list[Failure]:
    """Carry out all jobs, so many at a time; those that failed.

    One that dies is begun again from where it was saved. It is given up when it has died more often than `retries`
    without having come any further.
    """
    waiting, running = deque(jobs), set()
    deaths = {id(job): _Deaths() for job in jobs}
    failures: list[Failure] = []
    try:
        while waiting or running:
            while waiting and len(running) < parallel:
                job = waiting.popleft()
                running.add(id(job))
                engine.start(job)
                onlooker.started(job)
            for job, message, outcome in engine.events():
                if message is not None:
                    deaths[id(job)].began(message.get("begun", 0))
                    onlooker.told(job, message)
                if outcome is None:
                    continue
                running.discard(id(job))
                if outcome.kind == "died" and deaths[id(job)].once_more(retries):
                    waiting.appendleft(job)
                    onlooker.retried(job, outcome.words)
                    continue
                if outcome.kind != "done":
                    failures.append(Failure(job, outcome.words))
                onlooker.ended(job, outcome)
            onlooker.waited()
    finally:
        engine.stop()
    return failures


class _Deaths:
    """How often a job died since it last began further on than before."""

    def __init__(self) -> None:
        self.count, self.furthest = 0, 0

    def began(self, step: int) -> None:
        if step > self.furthest:
            self.count, self.furthest = 0, step

    def once_more(self, most: int) -> bool:
        self.count += 1
        return self.count <= most
