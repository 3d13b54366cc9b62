"""Files that are there when they are complete, and not before."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def read(path: Path, pipes: bool = False) -> bytes:
    """The content of a file. What else may have its name may never end: a device, or a pipe that was not meant."""
    if path.exists() and not path.is_file() and not (pipes and path.is_fifo()):
        raise ValueError(f"{path} is no file")
    return path.read_bytes()


def free(path: Path, replace: bool) -> Path:
    """Where `path` leads, if a file may be written there."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise ValueError(f"there is no folder {target.parent} to write {path.name} into")
    if target.exists() and not target.is_file():
        raise ValueError(f"{path} is not a file")
    if target.exists() and not replace:
        raise FileExistsError(f"{path} exists already; --force replaces it")
    return target


@contextmanager
def appearing(path: Path) -> Iterator[BinaryIO]:
    """Open a new file that takes its name, also that of an old one, when all is written; else nothing is left of it."""
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    try:
        with open(partial, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(partial, path)
    except OSError as error:
        error.filename = str(path)  # the one that the user knows
        raise
    finally:
        partial.unlink(missing_ok=True)


def write(path: Path, content: bytes) -> None:
    """Write a file that is there when it is complete, and not before; until then the old one stays."""
    with appearing(path) as file:
        file.write(content)
