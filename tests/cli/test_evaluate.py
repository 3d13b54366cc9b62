"""`rnar evaluate`: tables, files and figures of runs."""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import rnar.clrs
from helpers.command import refused, runner
from helpers.training import small_test, tiny
from rnar.cli.main import main
from rnar.evaluation.evaluate import evaluate
from rnar.evaluation.sets import SEED, problem_set
from rnar.report.trials import runs_in
from rnar.runtime.workers import Workers
from rnar.training import Run, testing, train


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """A folder with three runs below it: two of one task, and one of two tasks."""
    folder = tmp_path_factory.mktemp("runs")
    train(tiny(folder / "bfs" / "rnar", model="rnar"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(testing, "official", small_test)
        train(tiny(folder / "bfs" / "mpnn", model="mpnn", seed=3, steps=2))
        train(
            tiny(folder / "both", model="mpnn", tasks=("segments_intersect", "find_maximum_subarray_kadane"), steps=2)
        )
    return folder


@pytest.fixture
def run(capsys, monkeypatch):
    """Run the command in this process: its exit code, and what it wrote to stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "80")

    return runner(capsys, "evaluate")


def lines_of(out: str, model: str) -> list[list[str]]:
    return [line.split() for line in out.splitlines() if line.split()[:1] == [model]]


def test_the_official_score_is_the_one_that_training_reported(run, runs, tmp_path):
    code, out, err = run(runs / "bfs" / "rnar", "--threads", 1, "--json", tmp_path / "out.json")
    reported = Run(runs / "bfs" / "rnar").result
    assert (code, err) == (0, "") and reported is not None
    (found,) = json.loads((tmp_path / "out.json").read_text())["evaluations"]
    test = reported.tests["bfs"]
    assert (found["score"], tuple(found["interval"]), found["exact"]) == (test.score, test.interval, test.exact)
    assert found["problems"] == {"official": True, "seed": 3} and (found["n"], found["samples"]) == (64, 32)
    low, high = test.interval
    shown = ["0", "64", "32", f"{100 * test.score:.2f}", f"{100 * low:.2f}", "to", f"{100 * high:.2f}"]
    assert lines_of(out, "rnar,") == [["rnar,", "step", str(reported.best_step), *shown, f"{100 * test.exact:.2f}"]]


def test_all_runs_below_a_folder_come_in_one_table_each_once(run, runs):
    code, out, err = run(runs, runs / "both", "--n", 6, "--samples", 5)
    assert code == 0 and "segments_intersect always has 4 nodes" in err
    assert out.count("95% interval") == 1 and max(map(len, out.splitlines())) <= 80
    assert [line[3:6] for line in lines_of(out, "rnar,")] == [["0", "6", "5"]]
    sizes = [line[3:6] for line in lines_of(out, "mpnn,")]
    assert sorted(sizes) == [["0", "4", "5"], ["0", "6", "5"], ["3", "6", "5"]]
    assert [line.split()[0] for line in out.splitlines() if line.strip() in rnar.clrs.ALGORITHMS] == [
        "bfs",
        "segments_intersect",
        "find_maximum_subarray_kadane",
    ]
    assert re.search(r"^    start +\d", out, re.MULTILINE) and f"seed {SEED}" in out


def test_larger_problems_may_have_fewer_samples(run, runs):
    out = run(runs / "bfs" / "rnar", "--n", 4, 6, "--samples", 5, 2)[1]
    assert [line[4:6] for line in lines_of(out, "rnar,")] == [["4", "5"], ["6", "2"]]


def test_numbers_are_whole_where_it_is_narrow(run, runs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "56")
    out = run(runs / "bfs" / "rnar", "--n", 4, "--samples", 5)[1]
    assert "…" not in out and max(map(len, out.splitlines())) <= 56
    (line,) = [line for line in out.splitlines() if " to " in line]
    assert len(re.findall(r"\d+\.\d\d", line)) == 4


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_files_say_in_which_precision_it_was_computed(run, runs, tmp_path, precision):
    files = tmp_path / "out.json", tmp_path / "out.csv"
    few = ("--n", 4, "--samples", 2, "--precision", precision, "--json", files[0], "--csv", files[1])
    assert run(runs / "bfs" / "rnar", *few)[0] == 0
    assert [each["precision"] for each in json.loads(files[0].read_text())["evaluations"]] == [precision]
    with open(files[1], newline="") as file:
        assert {line["precision"] for line in csv.DictReader(file)} == {precision}


def test_json_and_csv_hold_what_an_evaluation_in_python_gives(run, runs, tmp_path):
    files = tmp_path / "out.json", tmp_path / "out.csv"
    flags = ("--n", 5, 7, "--samples", 6, "--hints", "--json", files[0], "--csv", files[1])
    code, out, err = run(runs / "bfs" / "rnar", *flags)
    assert (code, err) == (0, "")
    opened, expected = Run(runs / "bfs" / "rnar"), {}
    for n in (5, 7):
        batch = opened.model.batch(rnar.clrs.sample("bfs", n, 6, SEED))
        expected[n] = evaluate(Workers(opened.network()), batch, hints=True)
    stored = json.loads(files[0].read_text())
    assert stored["versions"]["rnar"]
    for entry in stored["evaluations"]:
        evaluation = expected[entry["n"]]
        assert entry["outputs"] == pytest.approx(evaluation.outputs)
        assert entry["problems"] == {"official": False, "seed": SEED}
        assert (entry["task"], entry["model"], entry["seed"], entry["nodes"]) == ("bfs", "rnar", 0, entry["n"])
        for name, tally in evaluation.hints.items():
            assert entry["hints"][name]["steps"] == pytest.approx(tally.each.tolist())
            assert entry["hints"][name]["all"] == pytest.approx(tally.score)
    with open(files[1], newline="") as file:
        lines = list(csv.DictReader(file))
    for n, evaluation in expected.items():
        some = [line for line in lines if line["n"] == str(n)]
        (score,) = [line for line in some if line["what"] == "score"]
        bounds = (float(score["low"]), float(score["high"]))
        assert (float(score["value"]), bounds) == (evaluation.score, evaluation.interval())
        along = [float(line["value"]) for line in some if line["name"] == "pi_h"]
        assert along == pytest.approx(evaluation.hints["pi_h"].each.tolist())
    assert out.count("hints of bfs") == 2 and "pi_h_reversed" in out and "step 1" in out


def test_hints_that_change_are_told_apart_by_step_and_by_node(run, runs, tmp_path):
    file = tmp_path / "out.json"
    flags = ("--n", 6, "--samples", 5, "--by-node", "--hints-from", "truth", "--json", file)
    code, out, err = run(runs / "bfs" / "rnar", *flags)
    assert (code, err) == (0, "") and max(map(len, out.splitlines())) <= 80
    assert re.search(r"^pi_h +that change .*\n +all  .*\n +all, if copied ", out, re.MULTILINE)
    assert "changes of hints by step, bfs" in out and "changes of hints by node, bfs" in out
    opened = Run(runs / "bfs" / "rnar")
    network, batch = opened.network(), opened.model.batch(rnar.clrs.sample("bfs", 6, 5, SEED))
    network.hints = replace(network.hints, source="truth")
    expected = evaluate(network, batch, hints=True).changes
    stored = json.loads(file.read_text())["evaluations"][0]["changes"]
    assert stored.keys() == expected.keys()
    for name, changes in expected.items():
        for which in ("changed", "all", "copied"):
            shares = stored[name][which]
            assert shares["all"] == pytest.approx(float(getattr(changes.total, which)))
            for found, right in (("steps", changes.by_step), ("nodes", changes.by_node)):
                numbers = [math.nan if x is None else x for x in shares[found]]
                assert numbers == pytest.approx(getattr(right, which).tolist(), nan_ok=True)
    assert "by node" not in run(runs / "bfs" / "rnar", "--n", 4, "--samples", 2, "--hints")[1]


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_figure_is_an_image_of_its_kind(run, runs, tmp_path, suffix):
    path = tmp_path / f"out.{suffix}"
    flags = ("--n", 4, 6, "--samples", 4, "--hints", "--figure", path)
    assert run(runs / "bfs", *flags)[0] == 0
    content = path.read_bytes()
    assert len(content) > 10_000
    if suffix == "png":
        assert content.startswith(b"\x89PNG")
        width, height = np.frombuffer(content[16:24], ">u4")
        assert 600 < width < 5000 and 300 < height < 5000
    elif suffix == "svg":
        assert xml.etree.ElementTree.fromstring(content).tag.endswith("svg")
        drawn = content.decode()
        assert all(f"<!-- {text} -->" in drawn for text in ("BFS", "step", "pi_h", "RNAR, seed 0", "MPNN, seed 3"))
    else:
        assert content.startswith(b"%PDF") and b"%%EOF" in content[-20:]
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_lines_of_many_steps_have_no_marks(run, runs, tmp_path, monkeypatch):
    marks = []
    for few in (20, 0):
        monkeypatch.setattr("rnar.report.score_figures.FEW", few)
        path = tmp_path / f"{few}.svg"
        assert run(runs / "bfs", "--n", 4, "--samples", 2, "--hints", "--figure", path)[0] == 0
        assert "<!-- pi_h -->" in path.read_text()
        marks.append(path.read_text().count("<use "))
    assert marks[1] < marks[0]


def test_files_are_written_also_if_nobody_reads_what_is_printed(run, runs, tmp_path, monkeypatch):
    def closed(*_: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("rnar.cli.evaluate.table", closed)
    assert run(runs / "bfs", "--n", 4, "--samples", 2, "--json", tmp_path / "out.json")[0] != 0
    assert json.loads((tmp_path / "out.json").read_text())


def test_numbers_are_told_as_errors_and_not_drawn_as_accuracies(run, runs, tmp_path):
    path = tmp_path / "out.svg"
    out = run(runs / "both", "--n", 4, "--samples", 3, "--hints", "--figure", path)[1]
    assert re.search(r"^best_sum +squared error", out, re.MULTILINE)
    assert "<!-- best_low -->" in path.read_text() and "<!-- best_sum -->" not in path.read_text()


def test_a_run_without_a_network_is_refused_by_name_and_skipped_below_a_folder(run, runs, tmp_path):
    shutil.copytree(runs / "bfs", tmp_path / "bfs")
    (tmp_path / "bfs" / "mpnn" / "best.safetensors").unlink()
    code, out, err = run(tmp_path, "--n", 4, "--samples", 2)
    assert code == 0 and "bfs/mpnn is left out" in err and "mpnn" not in out
    refused(run(tmp_path / "bfs" / "mpnn", "--n", 4), "best.safetensors")


def test_what_is_no_run_is_refused(run, tmp_path):
    refused(run(), "which runs?")
    refused(run(tmp_path), "no run", str(tmp_path), "rnar train")
    refused(run(tmp_path / "none"), "there is no folder", "none")
    (tmp_path / "config.json").write_text("{}")
    refused(run(tmp_path), "config.json", "settings")


def test_fewer_samples_than_the_official_set_has_are_its_first():
    few, all_of_them = problem_set("bfs", None, 3), rnar.clrs.official("bfs", "test")
    (batch,) = few.batches()
    assert few.official and str(few) == "the first 3 of the official test set" and batch.size == 3
    assert all((x == all_of_them.inputs[name][:3]).all() for name, x in batch.inputs.items())
    assert not problem_set("bfs", 64, 33).official and problem_set("bfs", 64, 32) == problem_set("bfs")


def test_sizes_samples_and_threads_that_make_no_sense_are_refused(run, runs):
    one = runs / "bfs" / "rnar"
    refused(run(one, "--n", 0), "n=0", "smallest")
    refused(run(one, "--n", 8, "--samples", 0), "1 to 1,000,000 samples")
    refused(run(one, "--samples", 0), "1 to 1,000,000 samples")
    refused(run(one, "--n", 4, 8, 9, "--samples", 3, 5), "2 times for 3 sizes")
    refused(run(one, "--n", 16000, "--samples", 1), "n=16000 is too large", "GB")
    refused(run(one, "--n", "many"), "--n", "many")
    refused(run(one, "--threads", 0), "threads must be 1 to 256, not 0")
    refused(run(one, "--threads", 100_000), "threads must be 1 to 256, not 100000")
    refused(run(one, "--device", "abacus"), "--device", "abacus")
    refused(run(runs / "both", "--n", 8, 1), "find_maximum_subarray_kadane", "n=1")


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without GPU")
def test_a_device_that_is_not_there_is_refused(run, runs):
    refused(run(runs / "bfs", "--device", "cuda"), "no device 'cuda' here", "cpu")


def test_existing_files_are_replaced_by_force_only_and_nothing_is_computed_in_vain(run, runs, tmp_path, monkeypatch):
    path, few = tmp_path / "out.json", ("--n", 4, "--samples", 2)
    path.write_text("mine")
    with monkeypatch.context() as patch:
        patch.setattr(Run, "network", lambda *_: pytest.fail("computed in vain"))
        for flag in ("--json", "--csv"):
            refused(run(runs / "bfs", *few, flag, path), str(path), "--force")
        refused(run(runs / "bfs", *few, "--json", tmp_path / "none" / "out.json"), "no folder")
        refused(run(runs / "bfs", *few, "--figure", tmp_path / "out.bmp"), "out.bmp", ".png, .svg, .pdf")
        same = ("--json", tmp_path / "new", "--csv", tmp_path / "new")
        refused(run(runs / "bfs", *few, *same), "different names")
    assert path.read_text() == "mine" and len(list(tmp_path.iterdir())) == 1
    assert run(runs / "bfs" / "mpnn", *few, "--json", path, "--force")[0] == 0
    assert json.loads(path.read_text())["evaluations"][0]["n"] == 4


INTERRUPTED = """
import os, signal, sys
import rnar.cli.main, rnar.report.trials as runs

real, times = runs.evaluate, iter([1])

def evaluate(workers, batch, progress, **named):
    def told(share):
        if batch.task != "segments_intersect" and next(times, 0):
            os.kill(os.getpid(), signal.SIGINT)
    return real(workers, batch, progress=told, **named)

runs.evaluate = evaluate
sys.exit(rnar.cli.main.main(sys.argv[1:]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_ctrl_c_ends_it_at_once_and_leaves_no_file(runs, tmp_path):
    argv = ["evaluate", str(runs / "both"), "--n", "600", "--samples", "32", "--json", str(tmp_path / "out.json")]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *argv],
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr.splitlines()[-1] == "rnar: interrupted"
    assert list(tmp_path.iterdir()) == []


def test_runs_are_found_once_however_they_are_named(runs, monkeypatch):
    monkeypatch.chdir(runs)
    found = runs_in([Path("bfs"), runs / "bfs" / "mpnn", Path("both")], pytest.fail, pytest.fail)
    assert [run.path.resolve().relative_to(runs.resolve()) for run in found] == [
        Path("bfs/mpnn"),
        Path("bfs/rnar"),
        Path("both"),
    ]


def test_the_worst_samples_have_pages(run, runs, tmp_path):
    pages = tmp_path / "pages"
    code, out, _ = run(runs / "bfs" / "rnar", "--n", 6, "--samples", 8, "--worst", 2, "--pages", pages, "--threads", 1)
    made = sorted(path.name for path in pages.iterdir())
    assert code == 0 and made == [f"bfs-rnar-seed-0-n6-worst-{k}.html" for k in (1, 2)]
    shown = out.replace("\n", "")
    assert all(str(pages / name) in shown for name in made)
    text = (pages / made[0]).read_text("utf-8")
    assert "rnar, seed 0" in text and re.search(r"sample \d+, drawn as that of n=64", text)
    again = run(runs / "bfs" / "rnar", "--n", 6, "--samples", 8, "--worst", 2, "--pages", pages, "--threads", 1)
    refused(again, "exists already; --force replaces it")  # before anything was evaluated
    refused(run(runs, "--worst", 0), "--worst 0")
    refused(run(runs, "--worst", 1, "--pages", pages / made[0]), "is a file; give a folder")


def test_a_run_that_cannot_be_tried_does_not_hide_the_others(run, runs, tmp_path):
    """One whose model is not known here, one whose files are damaged, one whose weights do not fit."""
    shutil.copytree(runs / "bfs" / "rnar", tmp_path / "good")
    for name in ("unknown", "damaged", "unfit"):
        shutil.copytree(runs / "bfs" / "rnar", tmp_path / name)
    config = json.loads((tmp_path / "unknown" / "config.json").read_text())
    config["settings"]["model"] = "mine"
    (tmp_path / "unknown" / "config.json").write_text(json.dumps(config))
    (tmp_path / "damaged" / "config.json").write_text("{")
    config["settings"] |= {"model": "rnar", "size": 9}
    (tmp_path / "unfit" / "config.json").write_text(json.dumps(config))
    code, out, err = run(tmp_path, "--n", 5, "--samples", 2)
    assert code == 1 and len(lines_of(out, "rnar,")) == 1
    said = err.splitlines()
    assert [line.startswith(f"rnar: {tmp_path / name} is left out: ") for line, name in zip(
        said, ("damaged", "unknown", "unfit"), strict=True)] == [True] * 3  # fmt: skip
    assert "there is no model 'mine' here" in err and "is not JSON" in err and "does not fit the run's network" in err


def test_a_network_is_tried_on_samples_that_were_exported(run, runs, tmp_path):
    """As on the same samples drawn anew; a file of another task, layout or content is refused."""
    file, other, dense = (tmp_path / f"{name}.npz" for name in ("bfs", "other", "dense"))
    main(["data", "export", "bfs", str(file), "--split", "test"])
    main(["data", "export", "dfs", str(other), "--n", "4"])
    main(["data", "export", "bfs", str(dense), "--n", "4", "--layout", "dm-clrs"])
    one = runs / "bfs" / "rnar"
    code, out, err = run(one, "--data", file, "--json", tmp_path / "file.json")
    assert code == 0 and "those in" in out
    run(one, "--json", tmp_path / "test.json")
    found, expected = (
        json.loads((tmp_path / name).read_text())["evaluations"][0] for name in ("file.json", "test.json")
    )
    assert found["score"] == expected["score"] and found["samples"] == 32 and found["problems"] == {"file": str(file)}
    refused(run(one, "--data", other), "has no samples of bfs in the layout rnar")
    refused(run(one, "--data", dense), "input/")
    refused(run(one, "--data", file, "--n", 4), "--data has its samples and sizes")
    refused(run(one, "--data", tmp_path / "nothing.npz"), "nothing.npz: No such file")
    (tmp_path / "text.npz").write_text("hello")
    refused(run(one, "--data", tmp_path / "text.npz"), "text.npz is no file that `rnar data export` writes")
    with np.load(file) as arrays:
        np.savez(tmp_path / "wrong.npz", **{**arrays, "output/pi": arrays["output/pi"] + 64})
    refused(run(one, "--data", tmp_path / "wrong.npz"), "output/pi has values from 64 to ")


def test_sizes_may_stand_between_commas(run, runs):
    code, one, _ = run(runs / "bfs", "--n", "4,8", "--samples", 2)
    assert code == 0 and one == run(runs / "bfs", "--sizes", 4, 8, "--samples", 2)[1]
    refused(run(runs / "bfs", "--n", "4,x"), "--n takes whole numbers, as in 16 64 or 16,64, not '4,x'")
