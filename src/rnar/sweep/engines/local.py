"""Processes on this machine."""

from __future__ import annotations

import os
import queue
import threading
from collections.abc import Iterator
from typing import Any

import torch

from rnar.engine.workers import available_cores
from rnar.sweep.child import Child, ended
from rnar.sweep.conduct import Event
from rnar.sweep.job import request
from rnar.sweep.layout import Layout, There, all_memory
from rnar.sweep.plan import Job
from rnar.training import Resolved

MOMENT = 0.5  # seconds


class Local:
    """Starts a process for each job; a thread for each listens to what it tells."""

    def __init__(self, layout: Layout | None = None):
        self._layout = layout or Layout(1, 1, 0, None)
        self._children: dict[int, Child] = {}
        self._slots: dict[int, Job] = {}
        """which job is at which place, for GPUs"""
        self._events: queue.Queue[Event] = queue.Queue()

    @staticmethod
    def there() -> There:
        gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
        return There(available_cores(), gpus, all_memory())

    def start(self, job: Job) -> None:
        slot = next(k for k in range(len(self._slots) + 1) if k not in self._slots)
        self._slots[slot] = job
        gpu = {"CUDA_VISIBLE_DEVICES": _gpu(slot, self._layout.gpus)} if self._layout.gpus else {}
        child = Child(request("train", job.settings), job.settings.threads or 1, gpu)
        self._children[id(job)] = child
        threading.Thread(target=self._listen, args=(job, child, slot), daemon=True).start()

    def _listen(self, job: Job, child: Child, slot: int) -> None:
        for message in child.messages():
            self._events.put(Event(job, message))
        outcome = child.outcome()
        del self._slots[slot], self._children[id(job)]
        self._events.put(Event(job, outcome=outcome))

    def events(self) -> Iterator[Event]:
        try:
            yield self._events.get(timeout=MOMENT)
            while True:
                yield self._events.get_nowait()
        except queue.Empty:
            return

    def stop(self) -> None:
        children = list(self._children.values())
        try:
            for child in children:
                child.ask_to_stop()
            for child in children:
                child.end()
        finally:
            for child in children:
                child.kill()


def measured(settings: Resolved) -> dict[str, Any]:
    """Rates of a model (see estimate.py), in a process of its own: so its memory is its own too."""
    outcome = ended(Child(request("measure", settings), threads=1))
    if outcome.kind != "done":
        raise ValueError(f"{settings.name} cannot be measured on {settings.tasks[0]}: {outcome.words}")
    return outcome.value


def _gpu(slot: int, share: float) -> str:
    """The GPU of a place, by the name that CUDA knows."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = given.split(",") if given else [str(k) for k in range(torch.cuda.device_count())]
    return names[int(slot * share + 1e-9) % len(names)]
