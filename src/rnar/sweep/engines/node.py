"""What is done on a node of a Ray cluster: it starts the same process that the local engine starts.

Nothing here imports torch: each of Ray's workers would have to load it, and does not need it.
"""

import os
import socket
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from rnar.common.files import appearing
from rnar.sweep.child import Child, Message, Outcome

Files = dict[str, bytes | None]
"""the content of each file of a run, None if it is not there yet"""


class Kept(NamedTuple):
    """Where a run is kept."""

    path: str
    """on the machine that the sweep was started on"""
    marker: str | None
    """a file that a node sees only if it shares that folder; None if the files are sent"""
    state: str
    """the name of the file that says where the run is"""
    files: Files
    """what the run consists of so far; empty if the folder is shared"""


def read_files(path: Path, names: Iterable[str]) -> Files:
    """The files of a run in the order of their names, which is safe while the run writes them."""
    return {name: (path / name).read_bytes() if (path / name).exists() else None for name in names}


def write_files(path: Path, files: Files) -> None:
    """In the opposite order, so that at any moment the folder holds a run that can be resumed."""
    for name, content in reversed(files.items()):
        target = path / name
        if content is not None and not (target.exists() and target.read_bytes() == content):
            with appearing(target) as file:
                file.write(content)


def run_on_node(number: int, request: Message, threads: int, kept: Kept, mailbox: Any) -> tuple[Outcome, Files]:
    """Do a job in a process here; its outcome, and its files if they are sent.

    The mailbox is a queue of Ray's. It gets the number, each message and, whenever the run was saved, its files.
    """
    if kept.marker is not None and not os.path.exists(kept.marker):
        raise FileNotFoundError(f"{socket.gethostname()} does not see {kept.path}; --storage ray sends the files")
    with tempfile.TemporaryDirectory(prefix="rnar-", ignore_cleanup_errors=True) as own:
        folder = Path(own if kept.marker is None else kept.path)
        write_files(folder, kept.files)
        state, saved = folder / kept.state, 0

        def tell(message: Message | None) -> None:
            nonlocal saved
            before, saved = saved, state.stat().st_mtime_ns if state.exists() else 0
            mailbox.put((number, message, read_files(folder, kept.files if saved != before else ())))

        child = Child({**request, "folder": str(folder)}, threads, _path())
        try:
            return child.follow(tell), read_files(folder, kept.files)
        except BaseException:  # the task was cancelled, and the process has saved
            tell(None)
            raise


def measure_on_node(request: Message) -> Outcome:
    return Child(request, 1, _path()).follow()


def _path() -> dict[str, str]:
    """Lets the process find the modules that Ray has brought to this node."""
    return {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
