"""A user's own files, as digests: a result is of the code that it was computed with.

A file counts whole, with its comments; what it imports from other files does not count, and what was typed at a prompt
has no file. Code of this package, of torch and of Python is told by versions.
"""

import hashlib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

KNOWN = frozenset({"rnar", "torch", "numpy", "numba", *sys.stdlib_module_names} - {"__main__"})
"""packages whose code is nobody's own"""
OLDER = "the recipe"
"""in fingerprints of functions and classes, as they were before 0.2: these cannot be compared with those of files"""


def fingerprint(modules: Iterable[str]) -> dict[str, str]:
    """A digest of the file of each of these modules that is somebody's own, by the module's name."""
    digests = {}
    for name in sorted(set(modules)):
        file = getattr(sys.modules.get(name), "__file__", None)
        if file and Path(file).is_file() and name.partition(".")[0] not in KNOWN:
            digests[Path(file).stem if name == "__main__" else name] = digest(Path(file).read_bytes())
    return digests


def digest(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=8).hexdigest()


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The names under which two fingerprints differ."""
    return [] if OLDER in before else [name for name in {**before, **now} if before.get(name) != now.get(name)]
