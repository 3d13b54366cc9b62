"""Processes on the nodes of a Ray cluster.

A task of Ray starts the same process that the local engine starts, on whichever node has room. If all nodes see the
folder of the runs, as on a shared file system, they write there. Else each run is kept in a folder of the node while it
lasts, and what it saves is sent here: through an actor while it runs, and as the task's own answer at its end.

A node or a worker that dies takes the process with it; the run is begun again elsewhere, from what was saved last.
"""

from __future__ import annotations

import logging
import os
import socket
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Literal

from rnar.common.lock import locked
from rnar.sweep.child import Outcome
from rnar.sweep.conduct import Event
from rnar.sweep.engines.node import (
    Files,
    Kept,
    Letter,
    Mailbox,
    measure_on_node,
    read_files,
    run_on_node,
    sees,
    write_files,
)
from rnar.sweep.job import request
from rnar.sweep.layout import Layout, There
from rnar.sweep.plan import Job
from rnar.training import Resolved
from rnar.training.folder import LOCK
from rnar.training.run import BEST, CONFIG, METRICS, RESULT, STATE

Storage = Literal["auto", "shared", "ray"]

FILES = (RESULT, BEST, STATE, METRICS, CONFIG)
"""of a run. Read in this order while it writes them, the state is never ahead of the metrics."""

MOMENT = 0.5  # seconds
GRACE = 100.0  # seconds to save, once asked to stop
ANSWER = 60.0  # seconds to wait for a node
KNOCK = 5.0  # seconds to wait for a cluster's door to open
SETTINGS = bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))  # the first frame of both sides of HTTP/2; here an empty one


class Ray:
    """A cluster that this process has joined."""

    def __init__(self, address: str | None, names: list[str]):
        """`names` are those of all models and tasks."""
        try:
            import ray
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
            raise ValueError(f"no Ray cluster {where}; `ray start --head` starts one and tells its address") from None
        head = next(node["NodeID"] for node in ray.nodes() if "node:__internal_head__" in node["Resources"])
        # At the head: it lives as long as the cluster does.
        self._mailbox: Any = ray.remote(Mailbox).options(num_cpus=0, scheduling_strategy=self._at(head)).remote()
        self._run = ray.remote(run_on_node)
        self._jobs: dict[int, Job] = {}
        self._answers: dict[Any, int] = {}
        self._locks: dict[int, ExitStack] = {}
        self._count = 0
        self._marker: Path | None = None
        self._layout = Layout(1, 1, 0, None)

    def _at(self, node: str) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return NodeAffinitySchedulingStrategy(node, soft=False)

    def there(self) -> There:
        nodes = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
        cores = [int(node.get("CPU", 0)) for node in nodes]
        return There(max(1, sum(cores)), sum(node.get("GPU", 0) for node in nodes), None, max(1, *cores))

    def measured(self, settings: Resolved) -> dict[str, Any]:
        """Rates of a model (see estimate.py), on a node."""
        gpus = float(settings.device != "cpu" and self.there().gpus > 0)
        asked = self.ray.remote(measure_on_node).options(num_cpus=1, num_gpus=gpus).remote(request("measure", settings))
        try:
            outcome = self.ray.get(asked)
        except self.ray.exceptions.RayError as error:
            outcome = Outcome("died", _words(error))
        if outcome.kind != "done":
            raise ValueError(f"{settings.name} cannot be measured on {settings.tasks[0]}: {outcome.words}")
        return outcome.value

    def prepare(self, layout: Layout, folder: Path, storage: Storage) -> None:
        """Find out whether all nodes see the folder, if that is not said."""
        self._layout = layout
        if storage == "ray":
            return
        folder.mkdir(parents=True, exist_ok=True)
        self._marker = folder.resolve() / f".sweep-{uuid.uuid4().hex}"
        self._marker.write_bytes(b"")
        if storage == "auto" and not self._seen_by_all():
            self._marker.unlink()
            self._marker = None

    def _seen_by_all(self) -> bool:
        nodes = [node["NodeID"] for node in self.ray.nodes() if node["Alive"]]
        look = self.ray.remote(sees)
        asked = [
            look.options(num_cpus=0, scheduling_strategy=self._at(node)).remote(str(self._marker)) for node in nodes
        ]
        with suppress(self.ray.exceptions.RayError):
            return all(self.ray.get(asked, timeout=ANSWER))
        return False

    def start(self, job: Job) -> None:
        number, self._count = self._count, self._count + 1
        path, files = job.settings.path, Files()
        if self._marker is None:  # nobody else may write there meanwhile
            path.mkdir(parents=True, exist_ok=True)
            self._locks[number] = ExitStack()
            self._locks[number].enter_context(locked(path / LOCK))
            files = read_files(path, FILES)
        options = {"num_cpus": self._layout.threads, "num_gpus": self._layout.gpus, "max_retries": 0}
        if self._layout.memory:
            options["memory"] = self._layout.memory
        kept = Kept(str(path.resolve()), self._marker and str(self._marker), FILES, STATE, files)
        arguments = (number, request("train", job.settings), job.settings.threads or 1, kept, self._mailbox)
        self._jobs[number] = job
        self._answers[self._run.options(**options).remote(*arguments)] = number

    def events(self) -> Iterator[Event]:
        ready, _ = self.ray.wait(list(self._answers), num_returns=len(self._answers), timeout=MOMENT)
        yield from self._letters()
        for answer in ready:
            yield self._ended(answer)

    def _letters(self) -> Iterator[Event]:
        letters: list[Letter] = []
        with suppress(self.ray.exceptions.RayError):  # the head is busy or gone; the answers will tell
            letters = self.ray.get(self._mailbox.take.remote(), timeout=ANSWER)
        for number, message, files in letters:
            job = self._jobs.get(number)
            if job is None:  # a straggler: its end was known before
                continue
            write_files(job.settings.path, files or {})
            if message is not None:
                yield Event(job, message)

    def _ended(self, answer: Any) -> Event:
        number = self._answers.pop(answer)
        job = self._jobs.pop(number)
        try:
            outcome, files = self.ray.get(answer)
            write_files(job.settings.path, files)
        except self.ray.exceptions.RayTaskError as error:
            outcome = Outcome("failed", str(error.cause).strip().split("\n")[-1])
        except self.ray.exceptions.RayError as error:
            outcome = Outcome("died", _words(error))
        self._let_go(number)
        return Event(job, outcome=outcome)

    def _let_go(self, number: int) -> None:
        if number in self._locks:
            self._locks.pop(number).close()

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
            for number in list(self._locks):
                self._let_go(number)

    def close(self) -> None:
        if self._marker is not None:
            self._marker.unlink(missing_ok=True)
        self.ray.shutdown()


def knock(address: str | None) -> None:
    """Raise if no Ray listens there, which Ray itself finds out in minutes. It speaks gRPC, and that is HTTP/2."""
    if address is None or address == "auto":
        return  # it knows by itself whether one is here
    if address == "local":
        raise ValueError("--address local: Ray would start a cluster of its own; --engine local does without")
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        with socket.create_connection((host, int(port)), KNOCK) as door:
            door.settimeout(KNOCK)
            door.sendall(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + SETTINGS)
            answer = door.recv(9)
    except (OSError, ValueError, OverflowError):
        answer = b""
    if answer[3:4] != SETTINGS[3:4] and not os.environ.get("RAY_USE_TLS"):
        raise ValueError(f"no Ray cluster at {address}; `ray start --head` starts one and tells its address")


def _words(error: Exception) -> str:
    """The first sentence of what Ray says, which says much."""
    return f"{type(error).__name__}: {error}".split("\n")[0].split(". ")[0].rstrip(".")


def own_modules(names: list[str]) -> list[str]:
    """The files or folders of modules with models and tasks of the user's own, for nodes to have them too."""
    found = []
    for name in sorted({name.partition(":")[0].partition(".")[0] for name in names if ":" in name}):
        module = sys.modules[name]
        file = Path(getattr(module, "__file__", None) or next(iter(module.__path__)))
        found.append(str(file.parent if file.name == "__init__.py" else file))
    return found
