"""Processes on this machine."""

import os
import queue
import threading
from collections.abc import Iterator

import torch

from rnar.engine.memory import all_memory
from rnar.engine.workers import available_cores
from rnar.sweep.child import Child, Outcome
from rnar.sweep.conduct import Engine, Event
from rnar.sweep.job import request
from rnar.sweep.layout import There
from rnar.sweep.plan import Job
from rnar.training import Resolved

MOMENT = 0.5  # seconds


class Local(Engine):
    """Starts a process for each job, and a thread that listens to it."""

    def __init__(self) -> None:
        self._children: dict[int, Child] = {}
        """by slot; a slot decides which GPU a run uses"""
        self._events: queue.Queue[Event] = queue.Queue()

    def there(self) -> There:
        gpus = torch.cuda.device_count() if torch.cuda.is_available() else 0
        return There(available_cores(), gpus, all_memory())

    def measured(self, settings: Resolved) -> Outcome:
        return Child(request("measure", settings), threads=1).follow()

    def start(self, job: Job) -> None:
        slot = next(k for k in range(len(self._children) + 1) if k not in self._children)
        gpu = {"CUDA_VISIBLE_DEVICES": _gpu(slot, self.layout.gpus)} if self.layout.gpus else {}
        self._children[slot] = Child(request("train", job.settings), job.settings.threads or 1, gpu)
        threading.Thread(target=self._listen, args=(job, slot), daemon=True).start()

    def _listen(self, job: Job, slot: int) -> None:
        outcome = self._children[slot].follow(lambda message: self._events.put(Event(job, message)))
        del self._children[slot]
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


def _gpu(slot: int, share: float) -> str:
    """The GPU of a slot, by the name that CUDA uses."""
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    names = given.split(",") if given else [str(k) for k in range(torch.cuda.device_count())]
    return names[int(slot * share + 1e-9) % len(names)]
