"""How much memory is free, and whether what is begun will fit into it."""

from collections.abc import Iterator
from pathlib import Path, PurePosixPath

LITTLE = 1 << 28  # bytes, which need not be asked for


def check_memory(needed: float, what: str) -> None:
    """Raise unless so many bytes are free; `what` needs them."""
    if needed > LITTLE and (free := free_memory()) is not None and needed > free:
        raise ValueError(f"{what} need about {needed / 1e9:,.1f} GB of memory, and {free / 1e9:,.1f} GB are free")


def free_memory() -> int | None:
    """Bytes that this process can still get, by the machine, its control group and `ulimit -v`; None if unknown."""
    limits = (bytes_noted("/proc/meminfo", "MemAvailable"), *(most - used for most, used in _limits()), _below_ulimit())
    return min((max(0, bytes) for bytes in limits if bytes is not None), default=None)


def _below_ulimit() -> int | None:
    """How far this process is below the limit of its address space, if it has one."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    limit, used = resource.getrlimit(resource.RLIMIT_AS)[0], bytes_noted("/proc/self/status", "VmSize")
    return None if used is None or limit == resource.RLIM_INFINITY else limit - used


def bytes_noted(file: str, name: str) -> int | None:
    """The bytes that a file of the system says under a name, as `MemAvailable:  8081234 kB`; None if it does not."""
    try:
        lines = Path(file).read_text().splitlines()
    except OSError:  # another system; or the file is of a process that has ended
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:")), None)


def _limits() -> Iterator[tuple[int, int]]:
    """The limit of each control group around this process, as a container has one, and how much of it is used."""
    root = Path("/sys/fs/cgroup")
    for kind, limit, used in (("", "memory.max", "memory.current"),
                              ("memory", "memory.limit_in_bytes", "memory.usage_in_bytes")):  # fmt: skip
        for group in _groups(kind):
            try:
                place = root / kind / group.lstrip("/")
                yield int((place / limit).read_text()), int((place / used).read_text())
            except (OSError, ValueError):  # no such group here, or no limit: "max"
                continue


def _groups(kind: str) -> list[str]:
    """The control group of this process, and those around it."""
    try:
        lines = Path("/proc/self/cgroup").read_text().splitlines()
    except OSError:
        return []
    own = next((line.split(":", 2)[2] for line in lines if line.split(":", 2)[1] == kind), None)
    return [] if own is None else [str(group) for group in (PurePosixPath(own), *PurePosixPath(own).parents)]
