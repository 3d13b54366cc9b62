"""Worker processes: they compute what one process does, leave the network as it is, and end when they should."""

import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import torch

import rnar
from helpers.processes import HERE, run, wait_for
from helpers.working import made

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


def test_the_network_stays_as_it_is():
    workers, batch = made()
    before = [(p, p.data_ptr()) for p in workers.reasoner.parameters()]
    workers.backward(batch, seed=1)
    rnar.evaluate(workers, batch)
    after = list(workers.reasoner.parameters())
    assert all(p is q and p.data_ptr() == place for (p, place), q in zip(before, after, strict=True))


def test_where_no_process_can_be_forked_one_computes_all(monkeypatch):
    workers, batch = made(dtype=torch.float64)
    losses, found = workers.backward(batch, seed=1), gradients(workers)
    assert len(workers.processes) == 2
    monkeypatch.setattr("rnar.runtime.workers.possible", lambda network: False)
    others, _ = made(dtype=torch.float64)
    assert others.backward(batch, seed=1) == pytest.approx(losses) and others.processes == []
    assert any(x is not None for x in found)
    for x, y in zip(found, gradients(others), strict=True):
        torch.testing.assert_close(x, y, atol=1e-10, rtol=1e-9)


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
    workers, _ = made()
    with pytest.raises(FileNotFoundError, match="no such table"):
        workers.map(_missing, range(3))


def _missing(network, item, tell):
    raise FileNotFoundError("no such table")


def test_work_is_shared_out_and_its_answers_are_in_order():
    workers, _ = made()
    told = []
    answers = workers.map(_where, range(20), told.append)
    assert [item for item, _ in answers] == list(range(20)) and sum(told) == 20
    assert {process for _, process in answers} <= {os.getpid(), *workers.processes}


def _where(network, item, tell):
    tell(1)
    return item, os.getpid()


def test_a_network_that_was_converted_is_refused():
    workers, batch = made()
    workers.backward(batch)
    workers.reasoner.double()
    with pytest.raises(ValueError, match="changed or converted"):
        workers.backward(batch)


def test_they_end_when_workers_are_closed_and_others_are_made_when_they_are_needed():
    workers, batch = made()
    losses, processes = workers.backward(batch), workers.processes
    workers.close()
    assert all(map(ended, processes)) and workers.processes == []
    assert workers.backward(batch) == losses


def test_nothing_is_left_after_an_evaluation():
    workers, batch = made()
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    before, threads = children.read_text(), threading.active_count()
    rnar.evaluate(workers.reasoner, batch)
    assert children.read_text() == before and threading.active_count() == threads


FORKED = """
import multiprocessing, os
from helpers.working import made
import rnar
workers, batch = made()
workers.backward(batch)
rnar.evaluate(workers.reasoner, batch)

def work(queue):
    network, own = workers.reasoner, made()[0]
    queue.put((sorted(workers.backward(batch)), sorted(own.backward(batch)), rnar.evaluate(network, batch).score))

queue = multiprocessing.get_context("fork").Queue()
process = multiprocessing.get_context("fork").Process(target=work, args=(queue,))
process.start()
print(queue.get(timeout=300))
process.join()
"""


def test_a_process_that_a_user_forks_can_compute_too():
    assert "pi_h" in run(FORKED)[0]


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
