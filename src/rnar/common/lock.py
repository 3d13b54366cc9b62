"""One process at a time in a folder."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


@contextmanager
def locked(path: Path, wait: float = 0.0) -> Iterator[None]:
    """Hold a file that no other process can hold meanwhile. The system lets go of it however this process ends."""
    lock = FileLock(path, timeout=wait)
    try:
        lock.acquire()
    except Timeout:
        raise ValueError(f"another process trains in {path.parent} at this moment") from None
    try:
        yield
    finally:
        lock.release()
