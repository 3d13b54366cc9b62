"""`rnar bench`: what it counts, what it times, and dm-clrs beside it."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from helpers.command import refused, runner
from rnar.benchmark import dm_clrs_step
from rnar.benchmark.flops import Machine, forward_cost, forward_flops, sample_steps
from rnar.benchmark.measure import Ours, Setting, Turns
from rnar.benchmark.reference import COUNTERPARTS
from rnar.benchmark.report import Outside, Series, ratio
from rnar.clrs import Stream, find, sample
from rnar.models import MODELS

TINY = ("--n", "4", "--batch", "2", "--size", "8", "--rounds", "2", "--threads", "1")


@pytest.fixture
def run(capsys, monkeypatch):
    """Run `rnar bench`: its exit code, and what it wrote to stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "100")

    return runner(capsys, "bench")


# ---- what a step is worth


def plain(name: str, task: str, n: int, batch: int, size: int) -> tuple[int, np.ndarray]:
    """The operations of a network without hint reversal in a forward pass, and the lengths of its batch."""
    model = replace(MODELS[name], reversal=False)
    data = model.batch(sample(task, n=n, batch=batch, seed=0))
    return forward_flops(model.build(task, size), data), data.lengths


def by_hand(n: int, batch: int, h: int) -> int:
    """Those of mpnn on minimum, whose inputs are 2 of nodes and 1 of pairs, its hints 2 of nodes, its output 1."""
    nodes, pairs, steps = batch * n, batch * n * n, n - 1
    of_nodes = nodes * (2 * h + 2 * h * 3 * h + h * h)  # hints; z to receiver, sender and itself; messages to states
    of_pairs = pairs * (h + 2 * h * h)  # a channel; two layers of the message
    decoded = nodes * 3 * h * 2
    once = nodes * 2 * h + h * h + nodes * 3 * h  # inputs; the channel through W_e; the output
    return 2 * (steps * (of_nodes + of_pairs + batch * h * h + decoded) + once)


# Maps of a few channels may be put together in another way one day: hence the tolerance.


@pytest.mark.parametrize(("n", "batch", "size"), [(8, 3, 32), (4, 2, 16)])
def test_the_products_of_an_mpnn_are_those_counted_by_hand(n, batch, size):
    counted, lengths = plain("mpnn", "minimum", n, batch, size)
    assert set(lengths) == {n}
    assert counted == pytest.approx(by_hand(n, batch, size), rel=0.01)


def test_the_products_of_an_lstm_are_counted_too():
    n, batch, h = 8, 3, 32
    more = plain("rnar-mpnn", "minimum", n, batch, h)[0] - plain("mpnn", "minimum", n, batch, h)[0]
    gates, last_layer = 4 * h * (h + h), h * h  # the last layer of the message is made one with the gates, once
    assert more == pytest.approx(2 * ((n - 1) * batch * n * n * (gates - last_layer) + 4 * h * h * h), rel=0.01)


@pytest.mark.parametrize("name", MODELS)
def test_the_cost_of_a_step_tells_that_of_all_batches(name):
    network = MODELS[name].build("bfs", 16)
    with Stream("bfs", batch=3, sizes=(6,), transform=MODELS[name].batch, ahead=0) as stream:
        first, second = next(stream), next(stream)
    assert len(set(second.lengths)) > 1
    assert forward_cost(network, first).of(second) == pytest.approx(forward_flops(network, second), rel=0.01)


def test_counting_leaves_the_network_as_it_was():
    network = MODELS["mpnn"].build("minimum", 8).train()
    before = {name: x.clone() for name, x in network.state_dict().items()}
    forward_flops(network, sample("minimum", n=4, batch=2, seed=0))
    assert network.training
    assert all(x.dtype == torch.float32 and torch.equal(x, before[name]) for name, x in network.state_dict().items())


def test_a_sample_takes_a_step_less_than_it_has_hints_and_at_least_one():
    batch = sample("quickselect", n=4, batch=4, seed=0)._replace(lengths=np.array([1, 2, 5, 9]))
    assert sample_steps(batch) == 1 + 1 + 4 + 8


def test_the_machine_is_as_fast_as_it_was_at_its_best():
    machine = Machine(rows=64, threads=1, device=torch.device("cpu"))
    machine.measure()
    first = machine.best
    machine.measure()
    assert 1e7 < first <= machine.best < 1e15


def test_a_training_step_learns():
    ours = Ours(Setting("minimum", MODELS["mpnn"], 4, batch=2, size=8, threads=1, rounds=1))
    before = [parameter.detach().clone() for parameter in ours.reasoner.processor.parameters()]
    seconds = ours.train(0)
    after = list(ours.reasoner.processor.parameters())
    assert 0 < ours.seconds_to_update[0] < seconds
    assert any(not torch.equal(x, y) for x, y in zip(before, after, strict=True))


# ---- what is told


def test_numbers_follow_from_what_was_measured():
    ours, theirs = Series([1.0, 4.0, 2.0], [10, 20, 30], [100, 1000, 400]), Series([8.0, 8.0, 6.0], [1, 1, 1])
    assert (ours.median, ours.range) == (2.0, (1.0, 4.0))
    assert ours.sample_steps_per_second == median([10 / 1, 20 / 4, 30 / 2])
    assert ours.flops_per_second == median([100 / 1, 1000 / 4, 400 / 2])
    assert theirs.flops_per_second is None
    found = ratio(theirs, ours)
    assert (found.of_medians, found.lowest, found.highest) == (8 / 2, 8 / 4, 8 / 1)
    assert Outside(data=0.1, update=0.5, all=1.0).share(step=4.5) == pytest.approx(0.2)


def test_the_file_has_all_numbers_and_they_fit_together(run, tmp_path):
    out = tmp_path / "bench.json"
    code, said, err = run("quickselect", "mpnn", *TINY, "--json", out)
    found = json.loads(out.read_text())
    assert (code, err) == (0, "")
    with Stream("quickselect", batch=2, sizes=(4,), ahead=0) as stream:
        batches = [next(stream) for _ in range(3)][1:]  # the first is to warm up
    steps = [int(np.maximum(1, batch.lengths - 1).sum()) for batch in batches]
    network = MODELS["mpnn"].build("quickselect", 8)
    flops = [forward_flops(network, batch) for batch in batches]
    assert found["training"]["sample_steps"] == found["evaluation"]["sample_steps"] == steps
    assert found["evaluation"]["flops"] == flops
    assert found["training"]["flops"] == [3 * count for count in flops]
    for name in ("training", "evaluation"):
        step = found[name]
        assert len(step["seconds"]) == 2 and min(step["seconds"]) > 0
        assert step["median"] == median(step["seconds"])
        rates = [count / seconds for count, seconds in zip(steps, step["seconds"], strict=True)]
        assert step["sample_steps_per_second"] == pytest.approx(median(rates))
        assert step["share_of_machine"] == pytest.approx(step["flops_per_second"] / found["machine"])
    outside = found["outside"]
    step = found["training"]["median"] - outside["update"] + outside["all"]
    assert 0 < outside["all"] and outside["share"] == pytest.approx(outside["all"] / step)
    assert found["sizes"] == {"n": 4, "batch": 2, "size": 8, "threads": 1}
    assert found["parameters"] == sum(parameter.numel() for parameter in network.parameters())
    assert 50e6 < found["peak_memory"] < 1e12
    assert found["dm_clrs"] is None and found["versions"]["torch"] == torch.__version__
    assert "quickselect, mpnn without hint reversal, 4 nodes, batch 2" in said
    assert all(word in said for word in ("training", "evaluation", "GFLOP/s", "Peak memory", "Outside the model"))


def test_hint_reversal_can_be_left_away(run, tmp_path):
    for flags, reversal in (((), True), (("--without-reversal",), False)):
        out = tmp_path / f"{reversal}.json"
        assert run("bfs", "rnar", *TINY, "--json", out, *flags)[0] == 0
        network = replace(MODELS["rnar"], reversal=reversal).build("bfs", 8)
        found = json.loads(out.read_text())
        assert found["reversal"] is reversal
        assert found["parameters"] == sum(parameter.numel() for parameter in network.parameters())


def test_without_a_size_it_is_that_of_training(run, tmp_path):
    assert run("kmp_matcher", "mpnn", *TINY[2:], "--json", tmp_path / "strings.json")[0] == 0
    assert json.loads((tmp_path / "strings.json").read_text())["nodes"] == find("kmp_matcher").problem.training_sizes[0]


# ---- what is refused


def test_what_cannot_be_measured_is_refused(run, tmp_path, monkeypatch):
    refused(run("quikselect"), "no task 'quikselect'", "'quickselect'")
    refused(run("bfs", "rnra"), "no model 'rnra'", "'rnar'")
    refused(run("bfs", "--batch", 0), "batch", "0")
    refused(run("bfs", "--n", 1), "n=1 is too small")
    refused(run("kmp_matcher", "--n", 16), "n=16 is too small")
    refused(run("bfs", "--rounds", 0), "--rounds", "0")
    refused(run("bfs", "--threads", 0), "--threads", "0")
    refused(run("bfs", *TINY[:4], "--size", 0), "size", "0")
    refused(run("bfs", "--device", "abacus"), "--device", "abacus")
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    refused(run("bfs", "--device", "cuda"), "no device 'cuda'", "cpu")
    refused(run("bfs", "--json", tmp_path / "none" / "x.json"), "no folder")


def test_an_existing_file_is_replaced_by_force_only(run, tmp_path):
    out = tmp_path / "bench.json"
    out.write_text("mine")
    refused(run("minimum", "mpnn", *TINY, "--json", out), str(out), "--force")
    assert out.read_text() == "mine"
    assert run("minimum", "mpnn", *TINY, "--json", out, "--force")[0] == 0
    assert json.loads(out.read_text())["task"] == "minimum"


# ---- dm-clrs

STAND_IN = """
import json, sys
setting = json.loads(sys.stdin.readline())
print(json.dumps({"versions": {"dm-clrs": "0.0"}, "device": "paper", "setting": setting}), flush=True)
seconds = 10.0
for line in sys.stdin:
    request = json.loads(line)
    seconds += 1
    answer = 2**34 if request == "memory" else {"seconds": seconds, "sample_steps": 5, "padded_steps": 9}
    print(json.dumps(answer), flush=True)
"""


def executable(path: Path, text: str) -> Path:
    path.write_text(text)
    path.chmod(0o755)
    return path


def stand_in(folder: Path, program: str) -> Path:
    """Something that is called like a Python with dm-clrs, and runs this program instead of what it is given."""
    return executable(folder / "python", f"#!{sys.executable}\n{program}")


posix = pytest.mark.skipif(os.name != "posix", reason="needs scripts that can be run")


@posix
def test_against_dm_clrs_the_ratio_is_that_of_the_rounds(run, tmp_path):
    out = tmp_path / "bench.json"
    code, said, err = run("dijkstra", "rnar", *TINY, "--json", out, "--against", stand_in(tmp_path, STAND_IN))
    assert (code, err) == (0, "")
    found = json.loads(out.read_text())
    assert found["reversal"] is False and "without hint reversal" in said
    # the first answer of each kind is for warming up, and one is about memory
    for name, seconds in (("training", [12.0, 13.0]), ("evaluation", [16.0, 17.0])):
        theirs, ours = found["dm_clrs"][name], found[name]
        ratios = [their / our for their, our in zip(seconds, ours["seconds"], strict=True)]
        assert theirs["seconds"] == seconds and theirs["sample_steps"] == [5, 5]
        assert theirs["ratio"]["of_medians"] == pytest.approx(median(seconds) / ours["median"])
        assert theirs["ratio"]["lowest"] == pytest.approx(min(ratios))
        assert theirs["ratio"]["highest"] == pytest.approx(max(ratios))
        assert f"{theirs['ratio']['of_medians']:.2f}" in said
    assert found["dm_clrs"]["peak_memory"] == 2**34 and "dm-clrs 17.18 GB" in said
    setting = found["dm_clrs"]["facts"]["setting"]
    sizes = {"task": "dijkstra", "n": 4, "batch": 2, "size": 8, "threads": 1}
    parts = {"aggregator": "lstm", "triplets": True, "gate": True, "along_edges": False}
    data = {"options": {"p": list(find("dijkstra").problem.training["p"])}, "order_as_input": False}
    assert setting == {**sizes, **parts, **data}


def test_steps_are_taken_by_turns():
    order: list[str] = []
    machine = SimpleNamespace(measure=lambda: order.append("machine"))

    def ours(k: int) -> float:
        order.append(f"ours {k}")
        return float(k)

    def theirs() -> dict[str, int]:
        order.append("theirs")
        return {"seconds": len(order)}

    seconds, answers = Turns(2, machine, lambda words: None).take("training", ours, theirs)  # type: ignore[arg-type]
    assert order == ["ours 0", "theirs", "machine", "ours 1", "theirs", "machine", "ours 2", "theirs"]
    assert seconds == [1.0, 2.0] and [answer["seconds"] for answer in answers] == [5, 8]


def test_dm_clrs_compiles_before_it_is_timed_also_when_a_longer_batch_comes():
    lengths = iter([5, 5, 5, 7, 7, 7])
    taken: list[int] = []

    def step(batch: SimpleNamespace) -> None:
        taken.append(batch.steps)

    child = dm_clrs_step.Reference.__new__(dm_clrs_step.Reference)
    child._compiled = set()
    child._batches = iter(lambda: padded(next(lengths)), None)
    answers = [child._timed(step) for _ in range(4)]
    assert taken == [5, 5, 5, 7, 7, 7]  # the first of each length is not timed
    assert [answer["padded_steps"] for answer in answers] == [5, 5, 7, 7]
    assert [answer["sample_steps"] for answer in answers] == [1 + 4, 1 + 4, 1 + 6, 1 + 6]


def padded(steps: int) -> SimpleNamespace:
    """A batch as dm-clrs has them, of two samples."""
    hint = SimpleNamespace(data=np.zeros((steps, 2)))
    return SimpleNamespace(features=SimpleNamespace(hints=[hint], lengths=np.array([1.0, steps])), steps=steps)


def test_every_counterpart_is_a_model_of_the_same_parts():
    for name, parts in COUNTERPARTS.items():
        processor = MODELS[name].processor(8)
        assert (processor.triplets is not None, processor.gate is not None) == (parts.triplets, parts.gate)
        assert processor.uses_adjacency == parts.along_edges
        assert type(processor.aggregator).__name__.lower() == parts.aggregator


def test_a_model_that_dm_clrs_has_not_is_refused(run):
    refused(run("bfs", "rt", "--against", "python"), "no counterpart of 'rt'", "triplet-gmpnn")


@posix
def test_a_python_that_is_not_there_or_lacks_dm_clrs_is_refused(run, tmp_path):
    refused(run(*TINY, "--against", tmp_path / "none"), str(tmp_path / "none"), "No such file")
    refused(run(*TINY, "--against", tmp_path), "cannot run", str(tmp_path))
    bare = executable(tmp_path / "bare", f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    refused(run(*TINY, "--against", bare), str(bare), "has no dm-clrs", "pip install dm-clrs==2.0.3")


@posix
@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("", "ended with code 0"),
        ("raise SystemExit('out of luck')", "out of luck"),
        ("import os; os.kill(os.getpid(), 9)", "killed by signal 9"),
        ("""input(); print('{"error": "RuntimeError: too hot"}')""", "dm-clrs failed: RuntimeError: too hot"),
        ("""input(); print('{"lacks": "No module named jax"}')""", "has no dm-clrs (No module named jax)"),
        ("input(); print('{}'); input()", "ended with code 0"),
    ],
)
def test_where_dm_clrs_ends_early_it_is_told_why(run, tmp_path, program, said):
    refused(run("minimum", "mpnn", *TINY, "--against", stand_in(tmp_path, program)), said)
