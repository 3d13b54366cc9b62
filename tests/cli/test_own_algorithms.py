"""The command line with an algorithm that a user has written in a file of theirs."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import rnar.clrs
from helpers.command import refused, runner
from helpers.own_tasks import SORT, written
from helpers.sweeping import SETTINGS, TINY, runs_in, trained_one_by_one
from helpers.training import small_test
from rnar.clrs import ALGORITHMS, algorithm, graph, node, step
from rnar.clrs.problems.arrays import Numbers
from rnar.training import Run, Settings, testing, train

DOTTED = "pack.age:minimum"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    yield from written(tmp_path_factory.mktemp("own"))


@pytest.fixture(scope="module")
def runs(folder):
    """A run of the user's algorithm, one of ours, and one of both."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(testing, "official", small_test)
        few = {name: value for name, value in SETTINGS.items() if name != "test_samples"}
        for tasks in (SORT, "bfs", ("bfs", SORT, DOTTED)):
            train(Settings(tasks=tasks, model="mpnn", **few))
    return folder / "runs"


@pytest.fixture
def run(capsys, monkeypatch, folder):
    """Run a command in this process and the user's folder: its exit code, and what it wrote to stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(folder)
    return runner(capsys)


def test_the_list_has_it_with_its_features_and_steps(run):
    code, out, err = run("data", "list", SORT)
    assert (code, err) == (0, "")
    assert re.search(rf"^{SORT} +my tasks +16 +64$", out, re.MULTILINE)
    assert "pred_h: node.pointer; i: node.mask_one" in out
    assert SORT in run("data", "list", "my_tasks:*")[1]
    assert SORT not in run("data", "list")[1]


def test_its_runs_are_shown(run):
    code, out, err = run("data", "show", SORT, "--input", "[[3, 1, 2]]")
    assert (code, err) == (0, "")
    assert out.startswith(f"{SORT}  my tasks: 3 nodes, 3 steps; your own input")
    assert "answer    pred: 1 → 2 → 3" in out
    assert "7 nodes" in run("data", "show", "pack.age:seven")[1]


class Odd(Numbers):
    """Its inputs have the names of ours, and are something else."""

    inputs = {"pos": node.scalar, "key": node.categorical(5), "string": node.mask, "A": node.scalar}

    def __init__(self):
        pass

    def own(self, values):
        return (np.array(values),)

    def view(self, values):
        return {"pos": values / 9, "key": values, "string": values > 2, "A": values}


def test_what_has_the_name_of_one_of_our_features_and_is_another_is_shown_as_what_it_is(run):
    hints = dict(pred_h=node.pointer, i=node.mask_one, color=node.categorical(5), phase=graph.categorical(4))

    def odd(trace, values):
        step(trace, np.zeros(4), 2, values, 3)
        return 1

    made = algorithm(problem=Odd(), hints=hints, outputs=dict(b=graph.categorical(2)))(odd)
    code, out, err = run("data", "show", made.name, "--input", "[4, 1, 0, 3]")
    assert (code, err) == (0, "")
    for said in ("phase 3", "color     0 0   1 1   3 3   4 4", "pred_h    1→4  0→4  3→4", "answer    b: 1"):
        assert said in out


def test_its_sets_are_exported(run, tmp_path):
    code, out, err = run("data", "export", SORT, tmp_path / "test.npz", "--split", "test")
    assert (code, err) == (0, "")
    assert f"32 samples of {SORT}, 64 nodes" in out
    with np.load(tmp_path / "test.npz") as arrays:
        keys = np.random.RandomState(3).uniform(0, 1, (32, 64)).astype(np.float32)
        np.testing.assert_array_equal(arrays["input/key"], keys)


def test_the_check_says_that_it_has_no_official_set(run):
    code, out, err = run("data", "check", SORT)
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"{SORT:30} has no official set: its sets are drawn as the official ones are",
        "0 of 0 sets are as dm-clrs 2.0.3 generates them",
    ]


@pytest.mark.parametrize(
    "words",
    [
        ("data", "list", "my_tasks:sort"),
        ("data", "show", "my_tasks:sort"),
        ("data", "check", "my_tasks:sort"),
        ("data", "export", "my_tasks:sort", "out.npz"),
        ("train", "my_tasks:sort"),
        ("sweep", "--tasks", "bfs,my_tasks:sort"),
        ("bench", "my_tasks:sort"),
    ],
)
def test_what_is_not_in_the_module_is_refused_by_every_command(run, words):
    refused(run(*words), "'my_tasks' has no algorithm 'sort'; it has selection_sort")


def test_a_run_is_trained_and_its_test_said_to_be_drawn(run, folder, tmp_path, monkeypatch):
    monkeypatch.setattr(testing, "official", small_test)
    monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(tmp_path)
    code, out, err = run("train", SORT, "--model", "mpnn", *TINY, "--steps", 2, "--seed", 7)
    assert (code, err) == (0, "")
    assert f"testing the selected network on the drawn set of {SORT}" in out
    assert re.search(rf"^{SORT}: \d+.\d+% on 1 samples drawn as official tests are ", out, re.MULTILINE)
    assert "official set" not in out and "official test " not in out
    assert Path("runs/my_tasks.selection_sort/mpnn/seed-7/result.json").is_file()


def test_a_generalist_learns_it_beside_ours(runs):
    path = runs / "bfs+my_tasks.selection_sort+pack.age.minimum" / "mpnn" / "seed-0"
    trained = Run(path)
    assert trained.settings.tasks == ("bfs", SORT, DOTTED)
    assert trained.result and list(trained.result.tests) == ["bfs", SORT, DOTTED]
    network = trained.network()
    for task, output in (("bfs", "pi"), (SORT, "pred"), (DOTTED, "last")):
        batch = trained.model.batch(rnar.clrs.sample(task, n=4, batch=2, seed=0))
        assert list(network(batch).outputs) == [output]
    with pytest.raises(ValueError, match=f"has not learned dfs; it knows bfs, {SORT}, {DOTTED}"):
        network(rnar.clrs.sample("dfs", n=4, batch=2, seed=0))


def test_networks_are_evaluated_on_what_is_drawn(run, runs, tmp_path):
    place = runs / "my_tasks.selection_sort" / "mpnn" / "seed-0"
    code, out, err = run("evaluate", place, "--n", 8, 64, "--samples", 2, "--json", tmp_path / "out.json")
    assert (code, err) == (0, "")
    said = "Problems: drawn as that of n=64 is, with seed 4: n=8; the first 2 drawn as official sets are: n=64."
    assert said in " ".join(out.split())
    found = json.loads((tmp_path / "out.json").read_text())["evaluations"]
    assert [entry["problems"] for entry in found] == [{"official": False, "seed": 4}, {"official": False, "seed": 3}]
    assert "Problems: drawn as official sets are: n=64." in " ".join(run("evaluate", place)[1].split())


def test_a_sweep_trains_it_as_if_alone(run):
    words = ["--tasks", f"{SORT},bfs", "--models", "mpnn", "--seeds", 0, "--steps", 4, "--folder", "swept"]
    code, out, err = run("sweep", *TINY, *words)
    assert (code, err) == (0, "")
    assert "2 runs in swept (2 tasks, 1 model, 1 seed): 2 new" in out and re.search(rf"{SORT} +1 seed", out)
    found = runs_in(Path("swept"))
    assert found.keys() == {"my_tasks.selection_sort/mpnn/seed-0", "bfs/mpnn/seed-0"}
    assert found == trained_one_by_one(f"{SORT},bfs", "mpnn", (0,))


def test_the_report_lists_it_without_a_published_number(run, runs):
    code, out, err = run("report", runs, "--format", "csv")
    assert (code, err) == (0, "")
    lines = [line for line in out.splitlines() if line.startswith((SORT, DOTTED))]
    assert len(lines) == 3
    assert "no official set: tested on samples that are drawn as those are" in run("report", runs)[1].replace("\n", " ")
    table = " ".join(run("report", runs, "--table", 2)[1].split())
    assert f"Runs of {SORT}, {DOTTED} are in no table of the paper; `rnar report` lists them." in table


def test_the_report_needs_no_module_of_a_run_that_others_have_shared(run, runs, tmp_path, monkeypatch):
    assert run("report", runs, "--export", tmp_path)[0] == 0
    (tmp_path / "my_tasks.py").write_text("raise SystemExit('it was imported')")
    for name in [name for name in ALGORITHMS if ":" in name]:
        monkeypatch.delitem(ALGORITHMS, name)
    monkeypatch.chdir(tmp_path)
    code, out, err = run("report", tmp_path, "--tasks", SORT)
    assert (code, err) == (0, "")
    assert out.count(SORT) == 2 and "BFS" not in out
    refused(run("report", tmp_path, "--tasks", "my_tasks:q*"), "no run is of my_tasks:q*; there are runs of", SORT)


@pytest.mark.parametrize(
    "words", [["curves"], ["losses"], ["timing"], ["sizes", "--n", "4", "--samples", "2"], ["hints", "--n", "4"]]
)
def test_figures_are_drawn_of_it(run, runs, tmp_path, words):
    out = tmp_path / "figure.svg"
    assert run("report", runs, "--tasks", "my_tasks:*", "--figure", *words, "--out", out)[::2] == (0, "")
    assert out.stat().st_size > 1000


def test_dm_clrs_cannot_be_measured_on_it(run):
    refused(run("bench", SORT, "triplet-gmpnn", "--against", "python", "--rounds", 1), f"dm-clrs has no {SORT}")


# ---- one more algorithm inside the package


@pytest.fixture
def one_more():
    """As if it stood in one of the package's files."""

    def last_of_all(trace, key):
        step(trace, len(key) - 1)
        return len(key) - 1

    last_of_all.__module__ = "rnar.clrs.algorithms.sorting"
    yield algorithm(problem=Numbers(), hints=dict(i=node.mask_one), outputs=dict(last=node.mask_one))(last_of_all)
    del ALGORITHMS["last_of_all"]


@pytest.mark.usefixtures("one_more")
def test_one_more_algorithm_of_the_package_is_listed_checked_shown_and_planned(run):
    code, out, err = run("data", "list")
    assert (code, err) == (0, "") and re.search(r"^last_of_all +sorting +1 +1$", out, re.MULTILINE)
    code, out, err = run("data", "check", "l*", "--split", "val")
    assert (code, err) == (0, "") and "1 of 1 sets are as dm-clrs" in out
    assert re.search("^last_of_all +has no official set", out, re.MULTILINE)
    assert run("data", "show", "last_of_all")[0] == 0
    code, out, err = run("sweep", *TINY, "--tasks", "last_of_all,bfs", "--steps", 2, "--folder", "none", "--dry-run")
    assert (code, err) == (0, "") and re.search("last_of_all +5 seeds", out)
