"""Processes on the nodes of a Ray cluster.

A task of Ray starts the same process that the local engine starts, on whichever node has room. If all nodes see the
folder of the runs, as on a shared file system, they write there. Else each run is kept in a folder of the node while it
lasts, and what it saves is sent here: through an actor while it runs, and as the task's own answer at its end.

A node or a worker that dies takes the process with it; the run is begun again elsewhere, from what was saved last.
"""

from __future__ import annotations

import logging
import os
import shutil
import socket
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

from rnar.sweep.child import Child, Outcome
from rnar.sweep.conduct import Event
from rnar.sweep.job import request
from rnar.sweep.layout import Layout, There
from rnar.sweep.plan import Job
from rnar.training import Settings
from rnar.training.files import write
from rnar.training.folder import LOCK
from rnar.training.lock import locked
from rnar.training.run import BEST, CONFIG, METRICS, RESULT, STATE

Storage = Literal["auto", "shared", "ray"]

MOMENT = 0.5  # seconds
GRACE = 100.0  # seconds to save, once asked to stop
ANSWER = 60.0  # seconds to wait for a node
KNOCK = 5.0  # seconds to wait for a cluster's door to open


class Letter(NamedTuple):
    """What a run has to tell."""

    number: int
    message: dict[str, Any] | None
    files: dict[str, bytes] | None


class Mailbox:
    """Holds letters until they are fetched: an actor of Ray."""

    def __init__(self) -> None:
        self.letters: list[Letter] = []

    def put(self, letter: Letter) -> None:
        self.letters.append(letter)

    def take(self) -> list[Letter]:
        letters, self.letters = self.letters, []
        return letters


# ---- on a node


class Folder:
    """The folder of a run on a node: the shared one, or one of the node whose files are sent."""

    def __init__(self, shared: str, marker: str | None, files: dict[str, bytes]):
        if marker is not None and not Path(marker).exists():
            raise FileNotFoundError(
                f"{socket.gethostname()} does not see {Path(marker).parent}: --storage ray sends files"
            )
        self.sent = marker is None
        self.path = Path(tempfile.mkdtemp(prefix="rnar-")) if self.sent else Path(shared)
        self._saved: int | None = None
        for name, content in files.items():
            write(self.path / name, content)

    def news(self) -> dict[str, bytes] | None:
        """The files, if a state was saved since this was last asked."""
        state = self.path / STATE
        saved = state.stat().st_mtime_ns if self.sent and state.exists() else None
        if saved == self._saved:
            return None
        self._saved = saved
        return read_files(self.path)

    def close(self) -> None:
        if self.sent:
            shutil.rmtree(self.path, ignore_errors=True)


def read_files(path: Path) -> dict[str, bytes]:
    """The files of a run, which may be writing them: in such an order that the state is never ahead of the metrics.

    They are to be written in the opposite order of this.
    """
    names = (RESULT, BEST, STATE, METRICS, CONFIG)
    return {name: (path / name).read_bytes() for name in names if (path / name).exists()}


def run_on_node(
    number: int, request: dict[str, Any], threads: int, marker: str | None, files: dict[str, bytes], mailbox: Any
) -> tuple[Outcome, dict[str, bytes]]:
    """Do a job in a process here; its outcome and, if they are sent, its files."""
    folder = Folder(request["folder"], marker, files)
    child = Child(
        {**request, "folder": str(folder.path)}, threads, {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    )
    try:
        for message in child.messages():
            mailbox.put.remote(Letter(number, message, folder.news()))
        return child.outcome(), read_files(folder.path) if folder.sent else {}
    except BaseException:  # it was cancelled: let it save first
        child.ask_to_stop()
        child.end()
        mailbox.put.remote(Letter(number, None, folder.news()))
        raise
    finally:
        child.kill()
        folder.close()


def sees(marker: str) -> bool:
    """Is that file there on this node?"""
    return Path(marker).exists()


# ---- on this side


class Ray:
    """A cluster that this process has joined."""

    def __init__(self, address: str | None, models: list[str]):
        try:
            import ray
        except ImportError:
            raise ValueError("Ray is not installed here; pip install 'rnar[ray]', or use --engine local") from None
        self.ray: Any = ray
        self._knock(address)
        try:
            environment = {"py_modules": modules} if (modules := own_modules(models)) else None
            ray.init(
                address=address or "auto", log_to_driver=False, logging_level=logging.ERROR, runtime_env=environment
            )
        except (ConnectionError, RuntimeError, ValueError) as error:
            said = str(error).strip().split("\n")[0]
            raise ValueError(
                f"no Ray cluster at {address or 'this machine'} ({said}); `ray start --head` starts one"
            ) from None
        here = ray.get_runtime_context().get_node_id()
        self._mailbox: Any = (
            ray.remote(Mailbox)
            .options(num_cpus=0, max_restarts=-1, scheduling_strategy=self._at(here, soft=True))
            .remote()
        )
        self._run = ray.remote(run_on_node)
        self._jobs: dict[int, Job] = {}
        self._answers: dict[Any, int] = {}
        self._locks: dict[int, ExitStack] = {}
        self._count = 0
        self._marker: Path | None = None
        self._layout = Layout(1, 1, 0, None)

    @staticmethod
    def _knock(address: str | None) -> None:
        """Ray itself would try for long, and then end the process."""
        host, _, port = (address or "").removeprefix("ray://").rpartition(":")
        if not address or address in ("auto", "local"):
            if address == "local":
                raise ValueError("--address local: Ray would start a cluster of its own; --engine local does without")
            return
        try:
            socket.create_connection((host, int(port)), KNOCK).close()
        except (OSError, ValueError, OverflowError):
            raise ValueError(
                f"no Ray cluster at {address}; `ray start --head` starts one and tells its address"
            ) from None

    def _at(self, node: str, soft: bool = False) -> Any:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        return NodeAffinitySchedulingStrategy(node, soft)

    def there(self) -> There:
        nodes = [node["Resources"] for node in self.ray.nodes() if node["Alive"]]
        cores = [int(node.get("CPU", 0)) for node in nodes]
        return There(max(1, sum(cores)), sum(node.get("GPU", 0) for node in nodes), None, max(1, *cores))

    def measured(self, settings: Settings) -> dict[str, Any]:
        """Rates of a model (see estimate.py), on a node."""
        from rnar.sweep.engines.local import measured

        options: dict[str, Any] = {"num_cpus": 1, "num_gpus": self._layout.gpus}
        return self._get(
            self.ray.remote(_plain_measured).options(**options).remote(request("measure", settings), measured)
        )

    def _get(self, answer: Any) -> Any:
        try:
            return self.ray.get(answer)
        except self.ray.exceptions.RayTaskError as error:
            raise ValueError(str(error.cause)) from None
        except self.ray.exceptions.RayError as error:
            raise ValueError(str(error).split("\n")[0]) from None

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
        path, files = job.settings.path, {}
        if self._marker is None:  # nobody else may write there meanwhile
            path.mkdir(parents=True, exist_ok=True)
            self._locks[number] = ExitStack()
            self._locks[number].enter_context(locked(path / LOCK))
            files = read_files(path)
        options = {"num_cpus": self._layout.threads, "num_gpus": self._layout.gpus, "max_retries": 0}
        if self._layout.memory:
            options["memory"] = self._layout.memory
        asked = {**request("train", job.settings), "folder": str(path.resolve())}
        marker = None if self._marker is None else str(self._marker)
        arguments = (number, asked, job.settings.threads or 1, marker, files, self._mailbox)
        self._jobs[number] = job
        self._answers[self._run.options(**options).remote(*arguments)] = number

    def events(self) -> Iterator[Event]:
        ready, _ = self.ray.wait(list(self._answers), num_returns=len(self._answers), timeout=MOMENT)
        yield from self._letters()
        for answer in ready:
            yield self._ended(answer)

    def _letters(self) -> Iterator[Event]:
        letters: list[Letter] = []
        with suppress(self.ray.exceptions.RayError):  # it may be moving to another node
            letters = self.ray.get(self._mailbox.take.remote(), timeout=ANSWER)
        for number, message, files in letters:
            job = self._jobs.get(number)
            if job is None:  # a straggler: its end was known before
                continue
            self._keep(job, files or {})
            if message is not None:
                yield Event(job, message)

    def _ended(self, answer: Any) -> Event:
        number = self._answers.pop(answer)
        job = self._jobs.pop(number)
        try:
            outcome, files = self.ray.get(answer)
            self._keep(job, files)
        except self.ray.exceptions.RayTaskError as error:
            outcome = Outcome("failed", f"{error.cause}".strip().split("\n")[-1])
        except self.ray.exceptions.RayError as error:
            outcome = Outcome("died", f"{type(error).__name__}: {error}".split("\n")[0])
        self._let_go(number)
        return Event(job, outcome=outcome)

    def _keep(self, job: Job, files: dict[str, bytes]) -> None:
        for name in reversed(files):
            if not (job.settings.path / name).exists() or (job.settings.path / name).read_bytes() != files[name]:
                write(job.settings.path / name, files[name])

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


def _plain_measured(asked: dict[str, Any], measured: Callable[[Settings], dict[str, Any]]) -> dict[str, Any]:
    from rnar.sweep.job import settings_of

    return measured(settings_of(asked))


def own_modules(models: list[str]) -> list[str]:
    """The files or folders of modules with models of the user's own, for nodes to have them too."""
    names = {model.partition(":")[0].partition(".")[0] for model in models if ":" in model}
    found = []
    for name in sorted(names):
        module = sys.modules[name]
        file = Path(getattr(module, "__file__", None) or next(iter(module.__path__)))
        found.append(str(file.parent if file.name == "__init__.py" else file))
    return found
