"""Several processes that learn as one, here with gloo on a CPU."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

import rnar.clrs
from helpers.training import contents, small_test, tiny
from rnar.engine import losses
from rnar.engine.losses import total_loss
from rnar.models import find
from rnar.training import Run, testing, train

TESTS = Path(__file__).parents[1]

# A process that imports once and forks two, which the environment tells what torchrun tells its own.
TWO = """
import json, os, signal, sys
from pathlib import Path
import rnar.clrs
from safetensors.torch import save_file
from helpers.training import small_test, tiny
from rnar.models import find
from rnar.engine.workers import Workers
from rnar.training import testing, train
from rnar.training.stopping import Stop
from rnar.training.team import together

testing.official = small_test
here = Path(sys.argv[1])

def gradients(team, batch, name):
    model = find("g-forgetnet")
    reasoner = model.build(("bfs", "minimum"), 8).train()
    stop = Stop()
    stop.signal = 2 if team.rank == 1 and batch.size == 1 else None
    losses, stopping = team.backward(Workers(reasoner, team.threads, (team.rank, team.world)), batch, 5, 0.5, stop)
    found = {key: p.grad for key, p in reasoner.named_parameters() if p.grad is not None}
    save_file(found, here / f"{name}-{team.rank}.safetensors")
    (here / f"{name}-{team.rank}.json").write_text(json.dumps([losses, stopping]))

def work():
    settings = tiny(here / "run", tasks=("bfs", "minimum"))
    with together(settings.resolved()) as team:
        gradients(team, rnar.clrs.sample("bfs", n=6, batch=7, seed=1), "seven")
        gradients(team, rnar.clrs.sample("bfs", n=6, batch=1, seed=1), "one")  # one process has nothing to do
        assert team.share(b"abc" if team.first else None) == b"abc"
        assert team.share(b"" if team.first else None) == b""
    os.environ["MASTER_PORT"] = sys.argv[3]  # not the store of the first team, which may still be there
    result = train(settings)
    os.environ["MASTER_PORT"] = sys.argv[4]
    assert train(settings) == result
    (here / f"result-{os.environ['RANK']}.json").write_text(json.dumps(result.plain()))

os.environ.update(WORLD_SIZE="2", LOCAL_WORLD_SIZE="2", MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[2])
children = []
for rank in "01":
    os.environ["RANK"] = rank
    children.append(os.fork())
    if children[-1] == 0:
        signal.alarm(900)  # whatever happens, it is not left behind
        work()
        os._exit(0)
sys.exit(any([os.waitpid(child, 0)[1] for child in children]))
"""


def free_port() -> str:
    with socket.socket() as any_port:
        any_port.bind(("127.0.0.1", 0))
        return str(any_port.getsockname()[1])


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """Where two processes left what they did."""
    if sys.platform == "win32":
        pytest.skip("needs fork")
    here = tmp_path_factory.mktemp("two")
    command = [sys.executable, "-c", TWO, str(here), free_port(), free_port(), free_port()]
    subprocess.run(command, check=True, cwd=TESTS, timeout=900)
    return here


@pytest.mark.parametrize(("name", "size"), [("seven", 7), ("one", 1)])
def test_two_processes_give_the_gradients_and_losses_of_one(two, name, size):
    batch = rnar.clrs.sample("bfs", n=6, batch=size, seed=1)
    reasoner = find("g-forgetnet").build(("bfs", "minimum"), 8).train()
    reasoner.processor.progress(0.5)
    judged = losses(reasoner, batch, seed=5)
    total_loss(judged).backward()
    for rank in (0, 1):
        found = load_file(two / f"{name}-{rank}.safetensors")
        told, stopping = json.loads((two / f"{name}-{rank}.json").read_text())
        assert told == pytest.approx({key: (x.total / x.count).item() for key, x in judged.items()}, rel=1e-5)
        assert stopping == (size == 1)  # one of them was asked to stop, and both know
        for key, parameter in reasoner.named_parameters():
            if parameter.grad is None:
                assert key not in found
            else:
                torch.testing.assert_close(found.pop(key), parameter.grad, rtol=1e-4, atol=1e-6)
        assert found == {}


def test_two_processes_leave_one_run_and_know_its_result(two):
    run = Run(two / "run")
    for rank in (0, 1):
        assert json.loads((two / f"result-{rank}.json").read_text()) == json.loads(
            (two / "run/result.json").read_text()
        )
    assert run.config["environments"][0]["processes"] == 2
    assert [line["step"] for line in run.metrics] == [0, 2, 4, 6]


def test_what_two_processes_learn_is_nearly_what_one_learns(two, tmp_path, monkeypatch):
    monkeypatch.setattr(testing, "official", small_test)
    train(tiny(tmp_path / "run", tasks=("bfs", "minimum")))
    losses = [[line["loss"] for line in Run(path / "run").metrics[1:]] for path in (two, tmp_path)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)
    assert contents(two / "run")["state"].keys() == contents(tmp_path / "run")["state"].keys()


def test_pytorchs_launcher_starts_a_team(tmp_path):
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", f"--master-port={free_port()}"]
    words = ["-m", "rnar", "train", "bfs", "--size=8", "--batch=2", "--steps=2", "--validate-every=2", "--threads=1"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    command = [*launch, *words, f"--folder={tmp_path / 'run'}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, env=environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("bfs with rnar") == done.stdout.count("on 32 samples of the official test") == 1
    assert Run(tmp_path / "run").result
