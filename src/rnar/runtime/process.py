"""A worker process: forked from this one, with a replica of a network.

Threads of one process take turns in the interpreter, and a training step is thousands of short calls: two threads lose
a fifth of their time to each other, eight would lose nearly all of it. A forked process needs nothing sent but samples:
weights and gradients lie in memory that both processes see.
"""

from __future__ import annotations

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

PAGE = 64  # bytes: where a tensor begins
EVERY = 0.2  # seconds between two messages on progress
ANSWERED, FAILED, TOLD = "answered", "failed", "told"

Work = Callable[..., Any]
"""(network, *arguments, tell) -> answer; a function of a module. It calls `tell` with a number as often as it likes."""


def possible(network: nn.Module) -> bool:
    """True if processes that use this network can be forked. Elsewhere than on Linux it is unsafe, and beside CUDA."""
    on_cpu = all(parameter.device.type == "cpu" for parameter in network.parameters())
    return sys.platform.startswith("linux") and on_cpu and not torch.cuda.is_available()


class SharedWeights:
    """Copies of a network's weights and buffers in memory that forked processes see."""

    def __init__(self, network: nn.Module):
        self._places = shared([*network.parameters(), *network.buffers()])

    def update(self, network: nn.Module) -> None:
        """Copy the weights as they are now."""
        now = [*network.parameters(), *network.buffers()]
        if [(x.shape, x.dtype) for x in now] != [(x.shape, x.dtype) for x in self._places]:
            raise ValueError("the network was changed or converted after its workers were made; make others for it")
        with torch.no_grad():
            for place, x in zip(self._places, now, strict=True):
                place.copy_(x)

    def rebind(self, network: nn.Module) -> None:
        """Let a network, in another process, have these weights as its own."""
        for place, x in zip(self._places, [*network.parameters(), *network.buffers()], strict=True):
            x.data = place


class WorkerProcess:
    """Works on a replica of a network in a process of its own.

    Args:
        network: What is replicated.
        weights: Where its weights lie.
    """

    def __init__(self, network: nn.Module, weights: SharedWeights):
        parameters = list(network.parameters())
        self._gradients = shared([torch.zeros_like(p) for p in parameters])
        self._flags = shared([torch.zeros(len(parameters), dtype=torch.bool)])[0]
        self.end, theirs = Pipe()
        self.process = _forked(_serve, theirs, network, weights, self._gradients, self._flags)
        theirs.close()
        self.stop = weakref.finalize(self, _stop, self.end, self.process, os.getpid())
        """ends the process, whatever it is doing"""

    def ask(self, work: Work, *arguments: Any) -> None:
        """Begin with work."""
        with _noticing_its_end():
            self.end.send((work, arguments))

    def answer(self, tell: Callable[[float], None] | None = None, wait: bool = True) -> tuple[Any] | None:
        """The answer, in a tuple; None if it is not there yet, without `wait`. Raises what the work raised."""
        while wait or self.end.poll():
            with _noticing_its_end():
                what, value = self.end.recv()
            if what == ANSWERED:
                return (value,)
            if what == FAILED:
                raise value
            if tell is not None:
                tell(value)
        return None

    @property
    def gradients(self) -> list[Tensor | None]:
        """Of each parameter, as the last work has left them."""
        return [x if there else None for x, there in zip(self._gradients, self._flags.tolist(), strict=True)]


def shared(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Copies of tensors in memory that forked processes share. It is gone when the last of them is."""
    places, end = [], 0
    for x in tensors:
        places.append(end)
        end += -(-x.numel() * x.element_size() // PAGE) * PAGE
    memory, found = mmap.mmap(-1, max(1, end)), []
    with torch.inference_mode(False), torch.no_grad():
        for x, place in zip(tensors, places, strict=True):
            count = x.numel()
            y = torch.frombuffer(memory, dtype=x.dtype, count=count, offset=place) if count else torch.empty_like(x)
            found.append(y.view(x.shape).copy_(x))
    return found


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


def _stop(end: Connection, process: int, owner: int) -> None:
    if os.getpid() == owner:  # and not a copy, in a process that somebody else has forked
        with suppress(OSError):
            os.kill(process, signal.SIGKILL)
            os.waitpid(process, 0)
    end.close()


@torch.inference_mode(False)
@torch.enable_grad()  # whatever the mode was in which it was forked
def _serve(end: Connection, network: nn.Module, weights: SharedWeights, gradients: list[Tensor], flags: Tensor) -> None:
    """Answer until the other side is gone."""
    # Ctrl-C, a terminal that is closed and whoever ends a job send these to all processes at once. They are for the
    # first one, which finishes its step with the help of this one; this one ends with it.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    _end_with_parent()
    _let_go_of_files(end.fileno())
    torch.set_num_threads(1)
    weights.rebind(network)
    while True:
        try:
            work, arguments = end.recv()
        except (EOFError, OSError):
            os._exit(0)
        tell = _Tell(end)
        try:
            answer = ANSWERED, work(network, *arguments, tell)
        except Exception as error:
            answer = FAILED, with_place(error)
        for k, (parameter, place) in enumerate(zip(network.parameters(), gradients, strict=True)):
            flags[k] = parameter.grad is not None
            if parameter.grad is not None:
                place.copy_(parameter.grad)
        tell.send()
        end.send(answer)


class _Tell:
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
