"""What is done on a node of a Ray cluster: the same process is started that the local engine starts.

Nothing here imports torch, for each worker of Ray would have to load it and does not need it.
"""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

from rnar.common.files import appearing
from rnar.sweep.child import Child, Outcome, ended

Files = dict[str, bytes]


class Letter(NamedTuple):
    """What a run has to tell."""

    number: int
    message: dict[str, Any] | None
    files: Files | None


class Mailbox:
    """Holds letters until they are fetched: an actor of Ray."""

    def __init__(self) -> None:
        self.letters: list[Letter] = []

    def put(self, letter: Letter) -> None:
        self.letters.append(letter)

    def take(self) -> list[Letter]:
        letters, self.letters = self.letters, []
        return letters


class Kept(NamedTuple):
    """Where a run is kept."""

    path: str
    """on the machine that the sweep was started on"""
    marker: str | None
    """a file that is seen wherever that path leads to the same folder; None if files are sent"""
    names: tuple[str, ...]
    """of the files, in the order in which they are read while the run may write them"""
    state: str
    """the one that says where the run is"""
    files: Files
    """those that are there already, if they are sent"""


class Folder:
    """The folder of a run on this node: the shared one, or one of the node's own whose files are sent."""

    def __init__(self, kept: Kept):
        self.kept, self.sent = kept, kept.marker is None
        if kept.marker is not None and not sees(kept.marker):
            raise FileNotFoundError(f"{socket.gethostname()} does not see {kept.path}; --storage ray sends the files")
        self.path = Path(tempfile.mkdtemp(prefix="rnar-") if self.sent else kept.path)
        self._saved: int | None = None
        write_files(self.path, kept.files)

    def news(self) -> Files | None:
        """The files, if the run was saved since this was last asked."""
        state = self.path / self.kept.state
        saved = state.stat().st_mtime_ns if self.sent and state.exists() else None
        if saved == self._saved:
            return None
        self._saved = saved
        return self.files()

    def files(self) -> Files:
        return read_files(self.path, self.kept.names) if self.sent else {}

    def close(self) -> None:
        if self.sent:
            shutil.rmtree(self.path, ignore_errors=True)


def read_files(path: Path, names: tuple[str, ...]) -> Files:
    """Those files that are there, in the order of their names."""
    return {name: (path / name).read_bytes() for name in names if (path / name).exists()}


def write_files(path: Path, files: Files) -> None:
    """In the opposite order: so at any moment what is there is a run that can go on."""
    for name in reversed(files):
        target = path / name
        if not target.exists() or target.read_bytes() != files[name]:
            with appearing(target) as file:
                file.write(files[name])


def run_on_node(number: int, request: dict[str, Any], threads: int, kept: Kept, mailbox: Any) -> tuple[Outcome, Files]:
    """Do a job in a process here; its outcome and, if they are sent, its files."""
    folder = Folder(kept)
    child = Child({**request, "folder": str(folder.path)}, threads, _path())
    try:
        for message in child.messages():
            mailbox.put.remote(Letter(number, message, folder.news()))
        return child.outcome(), folder.files()
    except BaseException:  # it was cancelled: let it save first
        child.ask_to_stop()
        child.end()
        delivered(mailbox.put.remote(Letter(number, None, folder.news())))
        raise
    finally:
        child.kill()
        folder.close()


def delivered(letter: Any) -> None:
    """Wait until it is: the task ends after this, and nobody looks for letters then."""
    import ray

    ray.get(letter)


def measure_on_node(request: dict[str, Any]) -> Outcome:
    return ended(Child(request, 1, _path()))


def _path() -> dict[str, str]:
    """Modules that Ray has brought here are found by the process too."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


def sees(marker: str) -> bool:
    """Is that file there on this node?"""
    return Path(marker).exists()
