"""Compiling with numba: a cache on disk that notices every edit, says when it compiles, and never stands in the way.

`kernel` compiles a helper; it is linked into the algorithms that call it and needs no cache of its own.
`entry_point` compiles an algorithm, once per machine and version of these sources. What it does for numba:

* numba's cache does not see edits in other files, nor that bounds checks were asked for: each version of
  the sources, with and without checks, has a folder of its own.
* A folder that cannot be made, read or written is no error: the code is compiled for this process only.
* Nothing here may recurse: a cached caller of a self-recursive kernel crashes when loaded (numba #6061).
"""

import hashlib
import inspect
import math
import os
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import config as _config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache, UserProvidedCacheLocator

config: Any = _config  # numba sets its attributes at run time
EVERY = 10.0
"""seconds between two lines on what is being compiled, where there is no terminal"""
kernel: Any = numba.njit(nogil=True)


def entry_point(
    function: Callable[..., Any] | None = None, of: Callable[..., Any] | None = None, fastmath: bool = False
) -> Any:
    """Compile at the first call, or load from the cache, a function or a closure made `of` one.

    `fastmath` lets sums be taken in any order. Each entry point must always be called with the same types: a cache
    of several signatures could be torn by several processes.
    """
    if function is None:
        return lambda decorated: entry_point(decorated, of, fastmath)
    named = of or function
    function.__name__, function.__qualname__ = named.__name__, f"{named.__module__}.{named.__qualname__}"
    compiled: Any = numba.njit(nogil=True, fastmath=fastmath)(function)
    if not config.DISABLE_JIT:  # else numba gave the plain function back
        compiled._cache = _open_cache(function, named)
    return compiled


def cache_folder() -> Path:
    """Where the compiled algorithms of this version of the sources are kept."""
    if config.CACHE_DIR:
        base = Path(config.CACHE_DIR)
    elif "XDG_CACHE_HOME" in os.environ:
        base = Path(os.environ["XDG_CACHE_HOME"])
    elif sys.platform == "win32" and "LOCALAPPDATA" in os.environ:
        base = Path(os.environ["LOCALAPPDATA"])
    else:
        base = Path.home() / ".cache"
    return base / "rnar" / (_digest_of_sources() + ("-checked" if config.BOUNDSCHECK else ""))


@cache
def _digest_of_sources() -> str:
    here = Path(__file__)
    return _digest([here, *sorted((here.parent.parent / "clrs").rglob("*.py"))])[:16]


def _digest(paths: Iterable[Path]) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


class _Announcer:
    """Counts what is compiled, on stderr: in one line of a terminal, and elsewhere in a line every 10 seconds.

    Processes that are forked of this one compile the same, and say nothing.
    """

    def __init__(self) -> None:
        self.count, self._said, self._owner = 0, -math.inf, os.getpid()

    def begin(self, function: Callable[..., Any]) -> None:
        """Tell that a function is being compiled."""
        self.count += 1
        if os.getpid() != self._owner or sys.stderr is None:
            return
        told = f"rnar: compiling {function.__name__} (at its first use; a few seconds)"
        if self.count > 1:
            told = f"rnar: compiling {function.__name__} (function {self.count} that is used for the first time)"
        if sys.stderr.isatty():
            print(f"\r\x1b[K{told}", end="", file=sys.stderr, flush=True)
        elif time.monotonic() - self._said >= EVERY:
            print(told, file=sys.stderr, flush=True)
            self._said = time.monotonic()

    def end(self) -> None:
        """Clear the line of a terminal."""
        if os.getpid() == self._owner and sys.stderr is not None and sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


_announcer = _Announcer()


class _Places(CompileResultCacheImpl):
    """Only the folder that is named: numba's other places do not see edits in helpers."""

    _locator_classes = [UserProvidedCacheLocator]


class _DiskCache(FunctionCache):
    """numba's own cache, except that a file it cannot read or write costs a compilation and not the run."""

    _impl_class = _Places

    def __init__(self, function: Callable[..., Any], named: Callable[..., Any]):
        super().__init__(function)
        self._source = _digest_of_helpers(named)

    def _index_key(self, sig: Any, codegen: Any) -> tuple[Any, ...]:
        """By the files the code stands in, where numba's own key has what a closure holds, which is never equal."""
        return sig, codegen.magic_tuple(), self._source

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            compiled = super().load_overload(sig, target_context)
        except Exception:  # a torn or foreign file can make unpickling raise anything
            compiled = None
            with suppress(Exception):
                self.flush()
        if compiled is None:
            _announcer.begin(self._py_func)  # numba asks its cache just before it compiles
        return compiled

    def save_overload(self, sig: Any, data: Any) -> None:
        _announcer.end()
        with suppress(Exception):  # the cache is a convenience: whatever is wrong with it, the answer is still right
            super().save_overload(sig, data)


def _digest_of_helpers(function: Any) -> str:
    """Of the files in which the function and all compiled functions that it calls stand: a user's own, for example."""
    seen: dict[Any, None] = {}
    waiting = [getattr(function, "py_func", function)]
    while waiting:
        code = waiting.pop()
        if code in seen or not hasattr(code, "__code__"):
            continue
        seen[code] = None
        for name in code.__code__.co_names:
            used = code.__globals__.get(name)
            members = [getattr(used, inner, None) for inner in code.__code__.co_names] if inspect.ismodule(used) else []
            helpers: list[Any] = [used, *members]
            waiting += [helper.py_func for helper in helpers if hasattr(helper, "py_func")]
    return _digest(Path(file) for file in sorted({inspect.getfile(code) for code in seen}))


class _NoCache(NullCache):
    """Where nothing can be kept: compiles in every process, and says so."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function

    def load_overload(self, sig: Any, target_context: Any) -> None:
        _announcer.begin(self.function)

    def save_overload(self, sig: Any, cres: Any) -> None:
        _announcer.end()


def _open_cache(function: Callable[..., Any], named: Callable[..., Any]) -> _DiskCache | _NoCache:
    before = config.CACHE_DIR
    try:
        config.CACHE_DIR = str(cache_folder())
        return _DiskCache(function, named)
    except (OSError, RuntimeError):  # no home folder; or numba cannot write there
        return _NoCache(function)
    finally:
        config.CACHE_DIR = before
