"""Processes that share the weights: they compute what threads do, and end when they should."""

import os
import select
import signal
import subprocess
import sys

import pytest
import torch

from helpers.processes import HERE, wait_for
from helpers.working import made
from rnar.engine import crew

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked on Linux only")


def gradients(workers):
    return [None if p.grad is None else p.grad.clone() for p in workers.reasoner.parameters()]


def ended(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return True
    with open(f"/proc/{process}/stat") as file:
        return file.read().split()[2] == "Z"


def test_processes_give_what_threads_give_bit_by_bit(monkeypatch):
    workers, batch = made()
    losses, found = workers.backward(batch, seed=1), gradients(workers)
    assert len(workers.processes) == 2
    monkeypatch.setattr(crew, "possible", lambda network: False)
    others, _ = made()
    assert others.backward(batch, seed=1) == losses and others.processes == []
    assert any(x is not None for x in found)
    for x, y in zip(found, gradients(others), strict=True):
        assert (x is None and y is None) or torch.equal(x, y)


def test_they_see_the_weights_as_they_are_now():
    workers, batch = made(dtype=torch.float64)
    before = workers.backward(batch)
    with torch.no_grad():
        for parameter in workers.reasoner.parameters():
            parameter *= 0.5
    after, found = workers.backward(batch), gradients(workers)
    again, _ = made(threads=1, dtype=torch.float64)
    again.reasoner.load_state_dict(workers.reasoner.state_dict())
    expected = again.backward(batch)
    assert after != before
    assert all(after[name] == pytest.approx(loss, rel=1e-9) for name, loss in expected.items())
    for x, y in zip(found, gradients(again), strict=True):
        torch.testing.assert_close(x, y, atol=1e-10, rtol=1e-9)


def test_what_goes_wrong_over_there_is_raised_here_and_work_goes_on():
    workers, batch = made()
    expected = workers.backward(batch)
    broken = batch._replace(inputs={**batch.inputs, "A": batch.inputs["A"][:, :3]})
    with pytest.raises(RuntimeError, match="size"):
        workers.backward(broken)
    assert workers.backward(batch) == expected


def test_an_error_of_the_system_over_there_is_not_taken_for_the_end_of_a_process():
    hand = crew.There(made()[0].reasoner)
    with pytest.raises(FileNotFoundError, match="no such table"):
        hand.call(_missing)


def _missing(network, tell):
    raise FileNotFoundError("no such table")


def test_a_network_that_was_moved_is_refused():
    workers, batch = made()
    workers.reasoner.double()
    with pytest.raises(ValueError, match="moved or converted"):
        workers.backward(batch)


def test_they_end_with_their_workers():
    workers, batch = made()
    workers.backward(batch)
    processes = workers.processes
    assert not any(map(ended, processes))
    del workers
    wait_for(lambda: all(map(ended, processes)))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_that_all_processes_of_a_job_are_sent_are_left_to_the_first(number):
    workers, batch = made()
    expected = workers.backward(batch)
    for process in workers.processes:
        os.kill(process, number)
    assert workers.backward(batch) == expected
    assert not any(map(ended, workers.processes))


def test_one_that_was_killed_is_noticed():
    workers, batch = made()
    workers.backward(batch)
    os.kill(workers.processes[1], signal.SIGKILL)
    with pytest.raises(ChildProcessError, match="was killed: was memory short"):
        workers.backward(batch)


READS = """
import sys, threading
threading.Thread(target=sys.stdin.buffer.read, daemon=True).start()
from helpers.working import made
workers, batch = made()
print(sorted(workers.backward(batch)), flush=True)
import os; os._exit(0)  # not waiting for that thread
"""


def test_they_work_while_another_thread_waits_for_input():
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", READS], cwd=HERE, stdin=pipe, stdout=pipe) as process:
        try:
            assert process.stdout is not None
            assert select.select([process.stdout], [], [], 300)[0], "it waits for that thread"
            assert b"pi" in process.stdout.readline()
        finally:
            process.kill()


WORKS = """
import time
from helpers.working import made
workers, batch = made()
workers.backward(batch)
print(*workers.processes, flush=True)
time.sleep(3600)
"""


def test_they_do_not_outlive_a_process_that_is_killed():
    command = [sys.executable, "-c", WORKS]
    with subprocess.Popen(command, cwd=HERE, stdout=subprocess.PIPE, text=True) as parent:
        try:
            assert parent.stdout is not None
            processes = [int(word) for word in parent.stdout.readline().split()]
            assert len(processes) == 2 and not any(map(ended, processes))
        finally:
            parent.kill()
    wait_for(lambda: all(map(ended, processes)))
