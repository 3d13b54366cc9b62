"""Processes that share a network's weights, one for each core beside this one.

Threads of one process take turns in the interpreter, and a training step is thousands of short calls: two threads lose
a fifth of their time to each other, eight would lose nearly all of it. The processes are forked, so that nothing has to
be sent to them but batches: weights and gradients lie in memory that all of them see.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import signal
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import torch
from numba.core.compiler_lock import global_compiler_lock
from torch import Tensor, nn

PAGE = 64  # bytes: where a tensor begins


def possible(network: nn.Module) -> bool:
    """Can processes be forked that use this network? Elsewhere than on Linux forking is unsafe, and beside CUDA too."""
    on_cpu = all(parameter.device.type == "cpu" for parameter in network.parameters())
    return sys.platform.startswith("linux") and on_cpu and not torch.cuda.is_available()


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


class Crew:
    """So many processes, which call functions on copies of a network that share its weights.

    Each has gradients of its own, in `gradients`; a function sets them by `.backward()`, and `has_gradient` says which.
    """

    def __init__(self, network: nn.Module, count: int):
        parameters = list(network.parameters())
        self.gradients = [seen_by_all([torch.zeros_like(p) for p in parameters]) for _ in range(count)]
        self._flags = [seen_by_all([torch.zeros(len(parameters), dtype=torch.bool)])[0] for _ in range(count)]
        self.processes: list[int] = []
        """their numbers"""
        self._ends: list[Connection] = []
        self._asked = 0
        for k in range(count):
            ours, theirs = Pipe()
            self._ends.append(ours)
            self.processes.append(_forked(_serve, theirs, network, self.gradients[k], self._flags[k]))
            theirs.close()
        weakref.finalize(self, _dismiss, self._ends, self.processes, os.getpid())

    def ask(self, function: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> None:
        """Let each process call function(network, *arguments): one tuple for each."""
        self._asked += 1
        for end, each in zip(self._ends, arguments, strict=True):
            try:
                end.send((self._asked, function, each))
            except OSError as error:
                raise RuntimeError("a process of this training has ended unexpectedly: was memory short?") from error

    def answers(self) -> list[Any]:
        """What the functions returned; raises what they raised."""
        return [self._answer(end) for end in self._ends]

    def has_gradient(self, k: int, parameter: int) -> bool:
        return bool(self._flags[k][parameter])

    def _answer(self, end: Connection) -> Any:
        number, fine, answer = 0, True, None
        while number != self._asked:  # an earlier answer may lie there, whose asker was interrupted
            try:
                number, fine, answer = end.recv()
            except (EOFError, OSError) as error:
                raise RuntimeError("a process of this training has ended unexpectedly: was memory short?") from error
        if isinstance(answer, Exception) and not fine:
            raise answer
        return answer


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


def _dismiss(ends: list[Connection], processes: list[int], owner: int) -> None:
    for end in ends:
        end.close()
    if os.getpid() != owner:
        return  # a copy, in a process that somebody else has forked
    for number in processes:
        with suppress(OSError):
            os.kill(number, signal.SIGKILL)
            os.waitpid(number, 0)


def _serve(end: Connection, network: nn.Module, gradients: list[Tensor], flags: Tensor) -> None:
    """Answer until the other side is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the first process; this one ends with it
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _end_with_parent()
    _let_go_of_files(end.fileno())
    torch.set_num_threads(1)
    while True:
        try:
            number, function, arguments = end.recv()
        except (EOFError, OSError):
            os._exit(0)
        network.zero_grad(set_to_none=True)
        try:
            answer = number, True, function(network, *arguments)
        except Exception as error:
            answer = number, False, error
        for k, (parameter, place) in enumerate(zip(network.parameters(), gradients, strict=True)):
            flags[k] = parameter.grad is not None
            if parameter.grad is not None:
                place.copy_(parameter.grad)
        end.send(answer)


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
