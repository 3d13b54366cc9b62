"""`rnar sweep --engine ray` on a cluster of two nodes, which is started here."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.command import runner
from helpers.own_tasks import SORT, written
from helpers.processes import wait_for
from helpers.sweeping import (
    LONG,
    TINY,
    ancestors,
    is_training,
    kill,
    parent,
    runs_in,
    saved_step,
    trained_one_by_one,
    trainings_of,
)

TASKS = f"bfs,{SORT}"  # one of ours and a user's own
FOUR = [*TINY, "--tasks", TASKS, "--models", "rnar,mpnn", "--seeds", "0", "--steps", "4"]
SMALL = dict(object_store_memory=80 << 20, include_dashboard=False)


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run a command in this process and an empty folder: its exit code, what it wrote to stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)

    return runner(capsys, whose="rnar: ")


def test_without_ray_it_says_how_to_install_it(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    said = "rnar: Ray is not installed here; pip install 'rnar[ray]', or use --engine local"
    assert run("sweep", "quick", "--engine", "ray") == (2, "", said)
    assert os.listdir() == []


@pytest.fixture(scope="module")
def head() -> Iterator[Any]:
    """A cluster of a head that computes nothing."""
    pytest.importorskip("ray", reason="there is no Ray for this Python; pip install 'rnar[ray]' where there is")
    if not sys.platform.startswith("linux"):
        pytest.skip("looks for processes in /proc")
    from ray.cluster_utils import Cluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_worker_niceness", "0")  # by default 15, and runs would starve where there is other work
        found = Cluster(initialize_head=True, head_node_args=dict(num_cpus=0, **SMALL))
        yield found
        found.shutdown()


@pytest.fixture
def cluster(head: Any) -> Any:
    """The head and two nodes of one core, also after a test in which one died."""
    while len(head.worker_nodes) < 2:
        head.add_node(num_cpus=1, **SMALL)
    head.wait_for_nodes()
    return head


def meanwhile(condition: Callable[[], Any], act: Callable[[], None]) -> threading.Thread:
    """Once something has happened, do something."""
    thread = threading.Thread(target=lambda: (wait_for(condition), act()))
    thread.start()
    return thread


pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("127.0.0.1:1", "no Ray cluster at 127.0.0.1:1; `ray start --head` starts one and tells its address"),
        ("nonsense", "no Ray cluster at nonsense"),
        ("local", "--address local: Ray would start a cluster of its own; --engine local does without"),
    ],
)
def test_where_there_is_no_cluster_it_says_so(run, address, said):
    pytest.importorskip("ray", reason="there is no Ray for this Python")
    code, out, err = run("sweep", "quick", "--engine", "ray", "--address", address)
    assert (code, out) == (2, "")
    assert err.startswith("rnar: ") and "\n" not in err and said in err
    assert os.listdir() == []


@pytest.fixture
def own_tasks(tmp_path):
    yield from written(tmp_path)


def test_all_runs_end_as_if_trained_one_by_one_though_a_worker_is_killed(run, cluster, own_tasks):
    alone = trained_one_by_one(TASKS, "rnar,mpnn", (0,))
    killed: list[int] = []

    def kill_a_worker() -> None:
        training = trainings_of(os.getpid())[0]
        killed.extend([parent(training), training])
        kill(killed[0])

    watcher = meanwhile(lambda: trainings_of(os.getpid()) and list(Path("runs").rglob("metrics.jsonl")), kill_a_worker)
    code, out, err = run("sweep", *FOUR, "--engine", "ray", "--address", cluster.address)
    watcher.join()
    assert (code, err) == (0, "")
    assert "2 at a time with 1 thread each" in out
    assert killed and out.count(" is begun again: ") == 1
    assert len(alone) == 4 and runs_in(Path("runs")) == alone
    wait_for(lambda: not is_training(killed[1]))


def test_a_run_survives_ctrl_c_and_the_death_of_its_node(run, cluster):
    words = [*LONG, "--tasks", "bfs", "--models", "rnar", "--seeds", "0", "--steps", "400"]
    words += ["--engine", "ray", "--address", cluster.address]
    place = Path("runs/bfs/rnar/seed-0")

    watcher = meanwhile((place / "state.safetensors").exists, lambda: os.kill(os.getpid(), signal.SIGINT))
    code, _, err = run("sweep", *words)
    watcher.join()
    assert (code, err) == (130, "rnar: interrupted")
    assert trainings_of(os.getpid()) == []
    step = saved_step(place)
    assert 0 < step < 400

    def remove_its_node() -> None:
        (training,) = trainings_of(os.getpid())
        (node,) = [node for node in cluster.list_all_nodes() if raylet(node) in ancestors(training)]
        cluster.remove_node(node, allow_graceful=False)

    watcher = meanwhile(lambda: trainings_of(os.getpid()), remove_its_node)
    code, out, err = run("sweep", *words)
    watcher.join()
    assert (code, err) == (0, "")
    assert "1 to go on with" in out and out.count(" is begun again: NodeDiedError") == 1
    assert f"bfs rnar seed 0 goes on from step {step}\n" in out
    assert runs_in(Path("runs")) == trained_one_by_one("bfs", "rnar", (0,), steps=400, validate_every=25)


def raylet(node: Any) -> int:
    """The number of a node's main process."""
    return node.all_processes["raylet"][0].process.pid
