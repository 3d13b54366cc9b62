"""One process at a time in a folder."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold a file that no other process can hold meanwhile. The system lets go of it however this process ends."""
    with ExitStack() as held:
        try:
            held.enter_context(FileLock(path, timeout=0))
        except Timeout:
            raise ValueError(f"another process trains in {path.parent} at this moment") from None
        yield
