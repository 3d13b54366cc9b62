"""Processes that share a network's weights, one for each core beside this one.

Threads of one process take turns in the interpreter, and a training step is thousands of short calls: two threads lose
a fifth of their time to each other, eight would lose nearly all of it. The processes are forked, so that nothing has to
be sent to them but samples: weights and gradients lie in memory that all of them see.
"""

import ctypes
import mmap
import os
import signal
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import torch
from numba.core.compiler_lock import global_compiler_lock
from torch import Tensor, nn

from rnar.common.blame import with_place
from rnar.engine.hands import Hand, Tell, Work
from rnar.nn.reasoner import Reasoner

PAGE = 64  # bytes: where a tensor begins
EVERY = 0.2  # seconds between two messages on how far work is
ANSWERED, FAILED, TOLD = "answered", "failed", "told"


def possible(network: nn.Module) -> bool:
    """Can processes be forked that use this network? Elsewhere than on Linux forking is unsafe, and beside CUDA too."""
    on_cpu = all(parameter.device.type == "cpu" for parameter in network.parameters())
    return sys.platform.startswith("linux") and on_cpu and not torch.cuda.is_available()


def share_weights(network: nn.Module) -> None:
    """Move the network's weights to memory that forked processes see."""
    parameters = list(network.parameters())
    for parameter, shared in zip(parameters, seen_by_all(parameters), strict=True):
        parameter.data = shared


def seen_by_all(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Copies of tensors in memory that forked processes share. It is gone when the last of them is."""
    places, end = [], 0
    for x in tensors:
        places.append(end)
        end += -(-x.numel() * x.element_size() // PAGE) * PAGE
    memory = mmap.mmap(-1, max(1, end))
    found = []
    for x, place in zip(tensors, places, strict=True):
        y = torch.frombuffer(memory, dtype=x.dtype, count=x.numel(), offset=place) if x.numel() else x.detach().clone()
        found.append(y.view(x.shape).copy_(x.detach()))
    return found


class There(Hand):
    """Works in a process of its own, whose gradients lie in memory that this one sees."""

    def __init__(self, network: Reasoner):
        parameters = list(network.parameters())
        self._gradients = seen_by_all([torch.zeros_like(p) for p in parameters])
        self._flags = seen_by_all([torch.zeros(len(parameters), dtype=torch.bool)])[0]
        self._end, theirs = Pipe()
        self.process = _forked(_serve, theirs, network, self._gradients, self._flags)
        theirs.close()
        self._dismissed = weakref.finalize(self, _dismiss, self._end, self.process, os.getpid())

    def stop(self) -> None:
        self._dismissed()

    def call(self, work: Work, *arguments: Any, tell: Tell | None = None) -> Any:
        with _noticing_its_end():
            self._end.send((work, arguments))
        while True:
            with _noticing_its_end():
                what, answer = self._end.recv()
            if what == ANSWERED:
                return answer
            if what == FAILED:
                raise answer
            if tell is not None:
                tell(answer)

    def gradients(self) -> list[Tensor | None]:
        return [x if there else None for x, there in zip(self._gradients, self._flags.tolist(), strict=True)]


@contextmanager
def _noticing_its_end() -> Iterator[None]:
    try:
        yield
    except (EOFError, OSError) as error:
        raise ChildProcessError(
            "a process that computed for this network was killed: was memory short? One thread, fewer samples at once "
            "and smaller sizes need less"
        ) from error


def _forked(work: Callable[..., None], *arguments: Any) -> int:
    """The number of a new process that does nothing else than this work.

    multiprocessing would close `sys.stdin` in it, and wait for ever if another thread was reading there meanwhile.
    """
    with warnings.catch_warnings(), global_compiler_lock:
        # Python warns of locks that other threads may hold. The one that is needed over there is held here.
        warnings.simplefilter("ignore", DeprecationWarning)
        number = os.fork()
    if number == 0:
        try:
            work(*arguments)
        finally:
            os._exit(1)  # whatever happens, it is not to go on as if it were the first process
    return number


def _dismiss(end: Connection, process: int, owner: int) -> None:
    if os.getpid() == owner:  # and not a copy, in a process that somebody else has forked
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
    end.close()


def _serve(end: Connection, network: nn.Module, gradients: list[Tensor], flags: Tensor) -> None:
    """Answer until the other side is gone."""
    # Ctrl-C, a terminal that is closed and whoever ends a job send these to all processes at once. They are for the
    # first one, which finishes its step with the help of this one; this one ends with it.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _end_with_parent()
    _let_go_of_files(end.fileno())
    torch.set_num_threads(1)
    while True:
        try:
            work, arguments = end.recv()
        except (EOFError, OSError):
            os._exit(0)
        telling = _Telling(end)
        try:
            answer = ANSWERED, work(network, *arguments, telling)
        except Exception as error:
            answer = FAILED, with_place(error)
        for k, (parameter, place) in enumerate(zip(network.parameters(), gradients, strict=True)):
            flags[k] = parameter.grad is not None
            if parameter.grad is not None:
                place.copy_(parameter.grad)
        telling.send()
        end.send(answer)


class _Telling:
    """Sends what it is told to the asker, added up and not too often."""

    def __init__(self, end: Connection):
        self._end, self._total, self._last = end, 0.0, time.monotonic()

    def __call__(self, amount: float) -> None:
        self._total += amount
        if time.monotonic() - self._last > EVERY:
            self.send()

    def send(self) -> None:
        if self._total:
            self._end.send((TOLD, self._total))
        self._total, self._last = 0.0, time.monotonic()


def _end_with_parent() -> None:
    """Be killed as soon as the parent is, also in the midst of work. (Only if its main thread asked: it may outlive
    others, and the system goes by the thread.)"""
    if threading.main_thread() is threading.current_thread():
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _let_go_of_files(but: int) -> None:
    """Of pipes, whose other side would never learn that the first process is gone, and of locks on folders."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in (but, nothing):
            with suppress(OSError):  # the one that the list was read from is closed already
                os.dup2(nothing, int(name))  # not closed: somebody may close that number once more
