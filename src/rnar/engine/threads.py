"""Threads that stay: who needs some borrows them, and others have them afterwards.

A thread that ends gives its memory back to the libraries that it has used, under their locks. A process that is forked
in that moment would have a copy of the lock, held by nobody, and wait for ever (see LOG.md: seen once, not proven).
"""

import os
import weakref
from concurrent.futures import ThreadPoolExecutor

import torch

NAME = "rnar-worker"
"""with which the names of these threads begin"""

_idle: list[ThreadPoolExecutor] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_idle.clear)  # their threads are not there


def borrowed(count: int, owner: object) -> list[ThreadPoolExecutor]:
    """So many, each one thread that does one thing after the other; until their owner is gone."""
    pools = [_idle.pop() if _idle else _another() for _ in range(count)]
    weakref.finalize(owner, _idle.extend, pools)
    return pools


def _another() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1, NAME, initializer=torch.set_num_threads, initargs=(1,))
