"""Threads that stay: workers that are gone leave theirs to others, and a forked process has its own."""

import gc
import os
import signal
import sys
import threading

import pytest

from helpers.processes import wait_for
from helpers.working import made


def ran() -> dict[str, float]:
    workers, batch = made(threads=3)
    return workers.backward(batch, seed=1)


def test_workers_that_come_and_go_use_the_same_threads():
    first = ran()
    gc.collect()
    before = set(threading.enumerate())
    for _ in range(3):
        assert ran() == first
        gc.collect()
    assert set(threading.enumerate()) == before


def test_workers_at_the_same_time_have_threads_of_their_own():
    (one, batch), (other, _) = made(threads=2), made(threads=2)
    assert not set(map(id, one._pools)) & set(map(id, other._pools))
    assert one.backward(batch, seed=1) == other.backward(batch, seed=1)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked on Linux only")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_forked_process_does_not_wait_for_threads_that_it_has_not():
    first = ran()
    gc.collect()
    child = os.fork()
    if child == 0:
        os._exit(0 if ran() == first else 1)
    try:
        ended = wait_for(lambda: [found for found in [os.waitpid(child, os.WNOHANG)] if found[0]])
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    assert ended == [(child, 0)]
