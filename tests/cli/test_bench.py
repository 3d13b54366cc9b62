"""`rnar bench`: what it tells and writes, dm-clrs beside it, and what is refused."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import pytest
import torch

from helpers.command import refused, runner
from rnar.benchmark.flops import forward_flops
from rnar.clrs import Stream, find
from rnar.models import MODELS

TINY = ("--n", "4", "--batch", "2", "--size", "8", "--rounds", "2", "--threads", "1")


@pytest.fixture
def run(capsys, monkeypatch):
    """Run `rnar bench`: its exit code, and what it wrote to stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("rnar.benchmark.measure.REST", 0.0)

    return runner(capsys, "bench")


def test_the_file_has_all_numbers_and_they_fit_together(run, tmp_path):
    out = tmp_path / "bench.json"
    code, said, err = run("quickselect", "mpnn", *TINY, "--json", out)
    found = json.loads(out.read_text())
    assert (code, err) == (0, "")
    with Stream("quickselect", batch=2, sizes=(4,), ahead=0) as stream:
        batches = [next(stream) for _ in range(3)][1:]  # the first is to warm up
    steps = [int(np.maximum(1, batch.lengths - 1).sum()) for batch in batches]
    network = MODELS["mpnn"].build("quickselect", 8)
    flops = forward_flops(network, batches)
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
    assert found["sizes"] == {"n": 4, "batch": 2, "size": 8, "threads": 1}
    assert found["parameters"] == sum(parameter.numel() for parameter in network.parameters())
    assert 50e6 < found["peak_memory"] < 1e12
    assert found["dm_clrs"] is None and found["versions"]["torch"] == torch.__version__
    assert "quickselect, mpnn without hint reversal, 4 nodes, batch 2" in said
    assert all(word in said for word in ("training", "evaluation", "GFLOP/s", "Peak memory"))


def test_hint_reversal_can_be_left_away(run, tmp_path):
    for flags, reversal in (((), True), (("--without-reversal",), False)):
        out = tmp_path / f"{reversal}.json"
        assert run("bfs", "rnar", *TINY, "--json", out, *flags)[0] == 0
        network = replace(MODELS["rnar"], reversal=reversal).build("bfs", 8)
        found = json.loads(out.read_text())
        assert found["reversal"] is reversal
        assert found["parameters"] == sum(parameter.numel() for parameter in network.parameters())


def test_training_may_be_measured_in_bfloat16(run, tmp_path):
    code, said, err = run("bfs", "rnar", *TINY, "--precision", "bfloat16", "--json", tmp_path / "half.json")
    assert (code, err) == (0, "") and json.loads((tmp_path / "half.json").read_text())["precision"] == "bfloat16"
    assert "1 thread, bfloat16" in " ".join(said.split()) and "GFLOP/s in bfloat16 on this machine" in said


def test_without_a_size_it_is_that_of_training(run, tmp_path):
    assert run("kmp_matcher", "mpnn", *TINY[2:], "--json", tmp_path / "strings.json")[0] == 0
    assert json.loads((tmp_path / "strings.json").read_text())["nodes"] == find("kmp_matcher").problem.training_sizes[0]


def test_what_cannot_be_measured_is_refused(run, tmp_path, monkeypatch):
    refused(run("quikselect"), "no task 'quikselect'", "'quickselect'")
    refused(run("bfs", "rnra"), "no model 'rnra'", "'rnar'")
    refused(run("bfs", "--batch", 0), "batch", "0")
    refused(run("bfs", "--n", 1), "n=1 is too small")
    refused(run("kmp_matcher", "--n", 16), "n=16 is too small")
    refused(run("bfs", "--rounds", 0), "--rounds", "0")
    refused(run("bfs", "--threads", 0), "threads", "0")
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
    # the first answer of each kind is for warming up
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
