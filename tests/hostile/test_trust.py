"""What rnar is trusted with: other threads, other modes of torch, damaged files, little memory.

A mark `xfail` stands on each case that is not mended yet; it fails as soon as the case is, and is removed then.
"""

from __future__ import annotations

import inspect
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import rnar
import rnar.clrs
import rnar.models
from helpers.command import refused, runner
from helpers.processes import run as run_python
from helpers.training import small_test, tiny
from helpers.working import made
from rnar.runtime import Workers
from rnar.training import Run, testing, train
from rnar.training.files import BEST, CONFIG, STATE, pack, unpack

ROOT = Path(__file__).parents[2]
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked on Linux only")


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    return runner(capsys)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run that has ended."""
    folder = tmp_path_factory.mktemp("finished") / "run"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(testing, "official", small_test)
        train(tiny(folder, steps=2))
    return folder


@pytest.fixture
def folder(finished, tmp_path, monkeypatch):
    """A copy of it."""
    monkeypatch.setattr(testing, "official", small_test)
    return Path(shutil.copytree(finished, tmp_path / "run"))


# Modes of torch


MODES = {"no_grad": torch.no_grad, "inference_mode": torch.inference_mode}
"""in which no gradients are kept"""


@LINUX
@pytest.mark.parametrize("mode", MODES)
def test_workers_that_evaluated_without_gradients_learn_afterwards(mode):
    workers, batch = made(threads=2)
    with MODES[mode]():
        rnar.evaluate(workers, batch)
    others, _ = made(threads=2)
    assert workers.backward(batch) == pytest.approx(others.backward(batch))


@pytest.mark.parametrize("mode", MODES)
def test_training_is_the_same_where_gradients_are_switched_off(mode, folder, tmp_path):
    with MODES[mode]():
        train(tiny(tmp_path / "other", steps=2))
    assert (tmp_path / "other" / BEST).read_bytes() == (folder / BEST).read_bytes()


@pytest.mark.parametrize("how", ["built", "loaded"])
def test_a_network_that_was_made_under_inference_mode_can_learn(how, folder):
    model = rnar.models.find("rnar")
    with torch.inference_mode():
        network = model.build("bfs", size=8) if how == "built" else Run(folder).network()
    network.train().loss(model.batch(rnar.clrs.sample("bfs", n=4, batch=2, seed=0))).backward()
    assert all(not p.is_inference() for p in network.parameters())


def test_an_evaluation_under_inference_mode_leaves_the_network_as_it_was():
    workers, batch = made(threads=1)
    network = workers.reasoner
    list(network.modules())[2].eval()
    before = [module.training for module in network.modules()]
    with torch.inference_mode():
        rnar.evaluate(network, batch)
    assert [module.training for module in network.modules()] == before
    network.train().loss(batch).backward()


# torch.compile


COMPILED = """
import torch, rnar, rnar.clrs, rnar.models
model = rnar.models.find("rnar")
network = model.build("bfs", size=8).eval()
batches = [model.batch(rnar.clrs.sample("bfs", n=n, batch=2, seed=n)) for n in (4, 5, 6)]
expected = [network.loss(batch).item() for batch in batches]
compiled = torch.compile(network, backend="eager")
"""


def test_a_compiled_network_computes_at_several_sizes():
    code = "network.compile(backend='eager')\nfound = [network.loss(batch).item() for batch in batches]\n"
    code += "torch.testing.assert_close(found, expected)\nprint('as before')"
    assert run_python(COMPILED + code)[0].endswith("as before\n")


def test_a_compiled_network_is_evaluated():
    code = "print(rnar.evaluate(compiled, batches[0]).score == rnar.evaluate(network, batches[0]).score)"
    assert run_python(COMPILED + code)[0].endswith("True\n")


# Threads and processes


THREADS = """
import os, threading
import rnar
from helpers.working import made

workers, batch = made()
network, scores = workers.reasoner, []

def work(precision):
    for _ in range(20):
        scores.append(rnar.evaluate(network, batch, precision=precision).score)

work("float32"), work("bfloat16")  # compiles
scores.clear()
threads = [threading.Thread(target=work, args=(kind,), daemon=True) for kind in ("float32", "bfloat16") * 2]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(300)
print("hangs" if any(thread.is_alive() for thread in threads) else len(scores), flush=True)
os._exit(0)
"""


@LINUX
def test_threads_evaluate_one_network_at_once():
    assert run_python(THREADS)[0] == "80\n"


def test_nothing_that_computes_holds_a_lock_that_a_forked_process_would_wait_for():
    """Another thread may hold it while a worker process is forked, and there nobody ever releases it."""
    modules = [module for name, module in sys.modules.items() if re.match(r"rnar\.(functional|nn|evaluation)\.", name)]
    classes = {x for module in modules for x in vars(module).values() if inspect.isclass(x)}
    found = [(each, name) for each in classes for name, value in vars(each).items() if hasattr(value, "lock")]
    assert found == []


# Arguments of Python


def wrong_calls() -> dict[str, Callable[[], Any]]:
    """Calls that must raise a ValueError of one line that names the parameter."""
    model = rnar.models.find("rnar")
    workers, batch = made(threads=1)
    network = workers.reasoner
    return {
        "name, find": lambda: rnar.models.find(None),  # type: ignore[arg-type]
        "seed, build, None": lambda: model.build("bfs", seed=None),  # type: ignore[arg-type]
        "seed, build, text": lambda: model.build("bfs", seed="0"),  # type: ignore[arg-type]
        "seed, build, large": lambda: model.build("bfs", seed=2**70),
        "seed, evaluate": lambda: rnar.evaluate(network, batch, seed=-1),
        "view, evaluate": lambda: rnar.evaluate(network, batch, view=lambda batch: None),  # type: ignore[arg-type, return-value]
        "batch, loss": lambda: network.loss(torch.ones(2, 2)),  # type: ignore[arg-type]
        "batch, Model.batch": lambda: model.batch(np.ones((2, 2))),  # type: ignore[arg-type]
        "reversal, Model": lambda: replace(model, reversal=torch.ones(2, 2)),  # type: ignore[arg-type]
        "tasks, build": lambda: model.build(3),  # type: ignore[arg-type]
        "name, Model": lambda: replace(model, name=None),  # type: ignore[arg-type]
        "reasoner, Workers": lambda: Workers(None),  # type: ignore[arg-type]
        "threads, Workers": lambda: Workers(network, "2"),  # type: ignore[arg-type]
        "mode, HintConfig": lambda: rnar.nn.HintConfig(mode=object()),  # type: ignore[arg-type]
        "size, LSTM": lambda: rnar.nn.LSTM(object()),  # type: ignore[arg-type]
        "size, Max": lambda: rnar.nn.Max(object()),  # type: ignore[arg-type]
        "loss, auxiliary_loss": lambda: rnar.auxiliary_loss("mine", None),  # type: ignore[arg-type]
    }


WRONG = [
    "name, find", "seed, build, None", "seed, build, text", "seed, build, large",
    "seed, evaluate", "view, evaluate",
    "batch, loss", "batch, Model.batch", "reversal, Model", "tasks, build", "name, Model", "reasoner, Workers",
    "threads, Workers", "mode, HintConfig", "size, LSTM", "size, Max", "loss, auxiliary_loss",
]  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_argument_is_told_by_its_name(name):
    parameter = name.partition(",")[0]
    with pytest.raises(ValueError, match=rf"(?i)\b{parameter}\b[^\n]*$"):
        wrong_calls()[name]()


def test_a_tensor_of_bfloat16_is_traced():
    key = torch.tensor([5.0, 2.0, 9.0])
    np.testing.assert_equal(rnar.trace("minimum", key.bfloat16()).outputs, rnar.trace("minimum", key).outputs)


# Models of a user's own


FACTORIES = """
import torch
from rnar.models import Model
noargs = Model("noargs", lambda: torch.nn.Linear(1, 1))
number = Model("number", lambda size: 3)
linear = Model("linear", lambda size: torch.nn.Linear(size, size))
"""


@pytest.mark.parametrize("name", ["noargs", "number", "linear"])
def test_a_wrong_factory_is_told_in_one_line(run, name):
    Path("my_factories.py").write_text(FACTORIES)
    try:
        refused(run("models", f"my_factories:{name}"))
    finally:
        sys.modules.pop("my_factories", None)


# Files with a right checksum


def changed_state(folder: Path, change: Callable[[dict[str, Tensor], dict[str, Any]], Any]) -> dict[str, bytes]:
    """Write a state with a right checksum; what is in the folder then."""
    path = folder / STATE
    tensors, notes = unpack(path.read_bytes(), path)
    change(tensors, notes)
    path.write_bytes(pack(tensors, notes))
    return contents(folder)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != ".lock"}


def of(prefix: str, change: Callable[[Tensor], Tensor]) -> Callable[[dict[str, Tensor], Any], None]:
    """Change all tensors whose names begin so."""

    def work(tensors: dict[str, Tensor], _: Any) -> None:
        for name in [name for name in tensors if name.startswith(prefix)]:
            tensors[name] = change(tensors[name])

    return work


def without(prefix: str) -> Callable[[dict[str, Tensor], Any], None]:
    def work(tensors: dict[str, Tensor], _: Any) -> None:
        for name in [name for name in tensors if name.startswith(prefix)]:
            del tensors[name]

    return work


STATES: dict[str, Callable[[dict[str, Tensor], dict[str, Any]], Any]] = {
    "moments of whole numbers": of("adam/exp_avg/", lambda x: x.long()),
    "moments of 64 bits": of("adam/exp_avg/", lambda x: x.double()),
    "a step that is a whole number": of("adam/step/", lambda x: x.long()),
    "a step below 0": of("adam/step/", lambda x: -x),
    "a square below 0": of("adam/exp_avg_sq/", lambda x: -x - 1),
    "weights of whole numbers": of("weights/", lambda x: x.long()),
    "no weights of a candidate": without("candidate/"),
    "weights of half precision": of("weights/", lambda x: x.half()),
    "no candidates": lambda tensors, notes: notes.update(candidates=[]),
    "a step beyond the last": lambda tensors, notes: notes.update(step=10**30),
    "a step before its best": lambda tensors, notes: notes.update(step=1, improved=2),
}


@pytest.mark.parametrize("name", STATES)
def test_a_state_that_cannot_be_is_refused_before_anything_is_written(run, folder, name):
    before = changed_state(folder, STATES[name])
    refused(run("train", "--resume", folder, "--steps", "4"), STATE)
    assert contents(folder) == before


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("words", [["evaluate", "RUN", "--n", "4"], ["solve", "bfs", "--n", "4", "--network", "RUN"]])
def test_weights_that_are_no_numbers_are_refused_where_they_are_loaded(run, folder, value, words):
    path = folder / BEST
    weights, notes = unpack(path.read_bytes(), path)
    next(iter(weights.values())).view(-1)[0] = value
    path.write_bytes(pack(weights, notes))
    refused(run(*(folder if word == "RUN" else word for word in words)), BEST, "NaN or infinity")


# Memory


LIMITED = """
import contextlib, io, resource, sys
from pathlib import Path
from rnar.cli.main import main

with contextlib.redirect_stdout(io.StringIO()):
    main([sys.argv[1], "--help"])  # what it imports takes memory, too
used = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmSize"))
limit = int(used.split()[1]) * 1024 + (600 << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
sys.exit(main(sys.argv[1:]))
"""
LARGE = {
    "evaluate": ["evaluate", "minimum", "--n", "300", "--samples", "32", "--threads", "1"],
    "train": ["train", "minimum", "--sizes", "300", "--batch", "32", "--threads", "1", "--folder", "run"],
    "bench": ["bench", "minimum", "rnar", "--n", "300", "--batch", "32", "--rounds", "1", "--threads", "1"],
}


@LINUX
@pytest.mark.parametrize("command", LARGE)
def test_what_does_not_fit_is_refused_in_one_line_and_leaves_nothing(tmp_path, command):
    ended = subprocess.run(
        [sys.executable, "-c", LIMITED, *LARGE[command]], cwd=tmp_path, capture_output=True, text=True, timeout=300
    )
    said = [line for line in ended.stderr.splitlines() if "compiling" not in line]
    assert ended.returncode == 2 and len(said) == 1 and "memory" in said[0]
    assert list(tmp_path.iterdir()) == []


# Trust in folders


def test_it_is_documented_that_a_run_folder_names_a_module_that_is_imported():
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    text = " ".join(inspect.cleandoc(page.read_text()) for page in pages)
    assert re.search(rf"(?is){re.escape(CONFIG)}.{{0,300}}\b(imports?|imported|runs?) .{{0,100}}(code|module)", text)


def test_a_number_of_steps_that_nobody_can_take_is_refused(run, folder):
    config = json.loads((folder / CONFIG).read_text())
    config["settings"]["steps"] = 10**30
    (folder / CONFIG).write_text(json.dumps(config))
    refused(run("train", "--resume", folder), CONFIG, "steps must be a whole number from 1 to 1,000,000,000")


def test_nothing_is_left_of_threads_after_a_training(tmp_path, monkeypatch):
    monkeypatch.setattr(testing, "official", small_test)
    before = threading.active_count(), children()
    train(tiny(tmp_path / "run", steps=2, threads=2))
    assert (threading.active_count(), children()) == before


def children() -> list[str]:
    """The processes that this one has."""
    return [number for place in Path("/proc/self/task").glob("*/children") for number in place.read_text().split()]
