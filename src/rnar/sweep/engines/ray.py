"""Processes on the nodes of a Ray cluster.

A Ray task starts the same process that the local engine starts, on any node that has room. If all nodes see the folder
of the runs, as on a shared file system, they write there. Otherwise each run is kept in a folder of its node while it
lasts, and what it saves is sent here: through a queue while it runs, and as the result of the task at its end.

If a node or a worker dies, so does the process; the run is begun again elsewhere from what was saved last.
"""

import itertools
import logging
import os
import socket
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

from rnar.common.lock import locked
from rnar.sweep.child import Outcome
from rnar.sweep.conduct import Engine, Event, Storage
from rnar.sweep.engines.node import Files, Kept, measure_on_node, read_files, run_on_node, write_files
from rnar.sweep.job import request
from rnar.sweep.layout import Layout, There
from rnar.sweep.plan import Job
from rnar.training import Resolved
from rnar.training.folder import LOCK
from rnar.training.run import BEST, CONFIG, METRICS, RESULT, STATE

FILES = (RESULT, BEST, STATE, METRICS, CONFIG)
"""of a run. If they are read in this order while the run writes them, the state is never ahead of the metrics."""

MOMENT = 0.5  # seconds
GRACE = 100.0  # seconds to save, once asked to stop
ANSWER = 60.0  # seconds to wait for a node
KNOCK = 5.0  # seconds to wait for a cluster to answer
SETTINGS = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))  # an empty frame of the kind that both sides of HTTP/2 send first
NONE_THERE = "; `ray start --head` starts one and tells its address"


class Ray(Engine):
    """A cluster that this process has joined."""

    def __init__(self, address: str | None, names: list[str]):
        """`names` are those of all models and tasks."""
        try:
            import ray
            from ray.util.queue import Queue
        except ImportError:
            raise ValueError("Ray is not installed here; pip install 'rnar[ray]', or use --engine local") from None
        self.ray: Any = ray
        knock(address)
        environment = {"py_modules": modules} if (modules := own_modules(names)) else None
        quiet: dict[str, Any] = dict(log_to_driver=False, logging_level=logging.ERROR)
        try:
            ray.init(address=address or "auto", runtime_env=environment, **quiet)
        except (ConnectionError, RuntimeError, ValueError) as error:
            where = f"at {address} ({_words(error)})" if address else "on this machine"
            raise ValueError(f"no Ray cluster {where}{NONE_THERE}") from None
        head = next(node["NodeID"] for node in ray.nodes() if "node:__internal_head__" in node["Resources"])
        # at the head, where it lives as long as the cluster does
        self._mailbox = Queue(actor_options=self._at(head))
        self._run = ray.remote(run_on_node)
        self._numbers = itertools.count()
        self._jobs: dict[int, tuple[Job, ExitStack]] = {}
        """those that run, by number, each with what holds the lock of its folder"""
        self._answers: dict[Any, int] = {}
        self._marker: Path | None = None

    def _at(self, node: str) -> dict[str, Any]:
        """The options of a task or an actor that computes next to nothing on that node."""
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return {"num_cpus": 0, "scheduling_strategy": NodeAffinitySchedulingStrategy(node, soft=False)}

    def there(self) -> There:
        nodes = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
        cores = [int(node.get("CPU", 0)) for node in nodes]
        return There(max(1, sum(cores)), sum(node.get("GPU", 0) for node in nodes), None, max(1, *cores))

    def measured(self, settings: Resolved) -> Outcome:
        gpus = float(settings.device != "cpu" and self.there().gpus > 0)
        measure = self.ray.remote(measure_on_node).options(num_cpus=1, num_gpus=gpus)
        try:
            return self.ray.get(measure.remote(request("measure", settings)))
        except self.ray.exceptions.RayError as error:
            return Outcome("died", _words(error))

    def prepare(self, layout: Layout, folder: Path, storage: Storage) -> None:
        """And find out whether all nodes see the folder, unless `storage` says."""
        super().prepare(layout, folder, storage)
        if storage == "ray":
            return
        folder.mkdir(parents=True, exist_ok=True)
        self._marker = folder.resolve() / f".sweep-{uuid.uuid4().hex}"
        self._marker.write_bytes(b"")
        if storage == "auto" and not self._seen_by_all():
            self._marker.unlink()
            self._marker = None

    def _seen_by_all(self) -> bool:
        look, nodes = self.ray.remote(os.path.exists), [node["NodeID"] for node in self.ray.nodes() if node["Alive"]]
        asked = [look.options(**self._at(node)).remote(str(self._marker)) for node in nodes]
        with suppress(self.ray.exceptions.RayError):
            return all(self.ray.get(asked, timeout=ANSWER))
        return False

    def start(self, job: Job) -> None:
        path, files, lock = job.settings.path, Files(), ExitStack()
        if self._marker is None:  # the files come back here, so nobody else may write there meanwhile
            path.mkdir(parents=True, exist_ok=True)
            lock.enter_context(locked(path / LOCK))
            files = read_files(path, FILES)
        options = {"num_cpus": self.layout.threads, "num_gpus": self.layout.gpus, "max_retries": 0}
        if self.layout.memory:
            options["memory"] = self.layout.memory
        kept = Kept(str(path.resolve()), self._marker and str(self._marker), STATE, files)
        number = next(self._numbers)
        arguments = (number, request("train", job.settings), job.settings.threads or 1, kept, self._mailbox)
        self._jobs[number] = (job, lock)
        self._answers[self._run.options(**options).remote(*arguments)] = number

    def events(self) -> Iterator[Event]:
        ready, _ = self.ray.wait(list(self._answers), num_returns=len(self._answers), timeout=MOMENT)
        yield from self._letters()
        for answer in ready:
            yield self._ended(answer)

    def _letters(self) -> Iterator[Event]:
        letters = []
        with suppress(self.ray.exceptions.RayError):  # if the head is gone, the answers will tell
            letters = self._mailbox.get_nowait_batch(self._mailbox.qsize())
        for number, message, files in letters:
            if number not in self._jobs:  # this came late: its job is known to have ended
                continue
            job, _ = self._jobs[number]
            write_files(job.settings.path, files)
            if message is not None:
                yield Event(job, message)

    def _ended(self, answer: Any) -> Event:
        job, lock = self._jobs.pop(self._answers.pop(answer))
        with lock:
            try:
                outcome, files = self.ray.get(answer)
                write_files(job.settings.path, files)
            except self.ray.exceptions.RayTaskError as error:
                outcome = Outcome("failed", str(error.cause).strip().split("\n")[-1])
            except self.ray.exceptions.RayError as error:
                outcome = Outcome("died", _words(error))
        return Event(job, outcome=outcome)

    def stop(self) -> None:
        try:
            for answer in self._answers:
                self.ray.cancel(answer)
            end = time.monotonic() + GRACE
            while self._answers and time.monotonic() < end:
                for _ in self.events():
                    pass
            for _ in self._letters():
                pass
        finally:
            for _, lock in self._jobs.values():
                lock.close()

    def close(self) -> None:
        if self._marker is not None:
            self._marker.unlink(missing_ok=True)
        self.ray.shutdown()


def knock(address: str | None) -> None:
    """Raise if no Ray listens at that address. Ray itself would take most of a minute to find out.

    Ray speaks gRPC, which is HTTP/2: whoever listens must answer with a frame of HTTP/2 settings.
    """
    if address is None or address == "auto":
        return  # Ray knows at once whether there is a cluster on this machine
    if address == "local":
        raise ValueError("--address local: Ray would start a cluster of its own; --engine local does without")
    host, _, port = address.removeprefix("ray://").rpartition(":")
    answer = b""
    with suppress(OSError, ValueError, OverflowError), socket.create_connection((host, int(port)), KNOCK) as door:
        door.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SETTINGS)
        answer = door.recv(9)
    if answer[3:4] != SETTINGS[3:4] and not os.environ.get("RAY_USE_TLS"):
        raise ValueError(f"no Ray cluster at {address}{NONE_THERE}")


def _words(error: Exception) -> str:
    """The first sentence of an error of Ray's, which are long."""
    return f"{type(error).__name__}: {error}".split("\n")[0].split(". ")[0].rstrip(".")


def own_modules(names: list[str]) -> list[str]:
    """The files or folders of the user's own modules with models and tasks, so that they can be sent to the nodes."""
    found = []
    for name in sorted({name.partition(":")[0].partition(".")[0] for name in names if ":" in name}):
        module = sys.modules[name]
        file = Path(getattr(module, "__file__", None) or next(iter(module.__path__)))
        found.append(str(file.parent if file.name == "__init__.py" else file))
    return found
