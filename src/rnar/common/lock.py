"""One process at a time in a folder."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file that no other process can hold meanwhile. The system lets go of it however this process ends."""
    with open(path, "a+b") as file:
        try:
            _hold(file)
        except (BlockingIOError, PermissionError):
            raise ValueError(f"another process trains in {path.parent} at this moment") from None
        yield


if sys.platform == "win32":
    import msvcrt

    def _hold(file: IO[bytes]) -> None:
        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _hold(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
