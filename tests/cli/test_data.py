"""The command line: `rnar data ...`."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import rnar.clrs
from helpers.command import refused, runner
from rnar.cli import data_check
from rnar.cli import main as cli
from rnar.cli.distribution import Distribution
from rnar.cli.show.names import classes, distinct, number
from rnar.cli.show.page import Page
from rnar.cli.show.words import in_order, linked_list
from rnar.clrs import ALGORITHMS, splits
from rnar.clrs.npz import arrays_of, write
from rnar.common.files import appearing

RNAR = (sys.executable, "-m", "rnar")


@pytest.fixture
def run(capsys, monkeypatch):
    """Run a command in this process: its exit code, and what it wrote to stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "80")

    return runner(capsys)


# ---- the command line itself


def test_help_names_every_command(run):
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    assert all(name in out and command.summary in out for name, command in cli.COMMANDS.items())


def test_without_a_command_the_help_comes_and_the_exit_code_is_2(run):
    assert run()[::2] == (2, run("--help")[1].rstrip("\n"))
    assert run("data")[::2] == (2, run("data", "--help")[1].rstrip("\n"))


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_a_help(run, name):
    code, out, err = run(*name.split(), "--help")
    assert (code, err) == (0, "")
    assert f"rnar {name}" in out


def test_the_help_and_the_data_commands_import_no_torch():
    program = (
        "import sys; from rnar.cli.main import main; main(['--help']); assert 'numba' not in sys.modules;"
        "main(['data', 'list', 'bfs']); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], stdout=subprocess.DEVNULL).returncode == 0


def test_an_unknown_command_is_refused_with_the_nearest(run):
    refused(run("dta", "list"), "no command 'dta list'", "did you mean 'data list'?", "data export")
    refused(run("data", "shwo", "bfs"), "no command 'data shwo'", "'data show'")
    refused(run("--frobnicate"), "no command '--frobnicate'")


def test_an_unknown_flag_is_refused_with_the_nearest(run):
    refused(run("data", "show", "bfs", "--sed", "3"), "'--sed'", "did you mean '--seed'?")
    refused(run("data", "list", "bfs", "dfs"), "'dfs'")


def test_a_missing_or_malformed_argument_is_refused(run):
    refused(run("data", "show"), "TASK")
    refused(run("data", "show", "bfs", "--n", "many"), "--n", "many")
    refused(run("data", "check", "--split", "tests"), "--split", "tests")


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (ValueError("one\ntwo"), 2, "rnar: one two"),
        (OSError(28, "No space left on device", "x.npz"), 2, "rnar: x.npz: No space left on device"),
        (MemoryError(), 2, "rnar: out of memory"),
        (KeyboardInterrupt(), 130, "rnar: interrupted"),
    ],
)
def test_what_a_command_raises_is_told_in_one_line(run, monkeypatch, error, code, said):
    def fail(pattern: str) -> None:
        raise error

    monkeypatch.setattr("rnar.cli.data_list.matching", fail)
    assert run("data", "list") == (code, "", said)


def test_a_closed_pipe_is_silent():
    process = subprocess.Popen([*RNAR, "data", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout and process.stderr
    process.stdout.close()
    assert process.stderr.read() == ""
    process.stderr.close()
    process.wait()


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_disk_under_stdout_is_told_in_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run([*RNAR, "data", "list"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (2, "rnar: No space left on device\n")


# ---- rnar data list


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_list_has_every_task_with_its_features_and_steps(run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, err = run("data", "list")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= width
    for name, algorithm in ALGORITHMS.items():
        assert name in out and algorithm.chapter in out
        for stage in algorithm.spec:
            for feature in stage:
                assert re.search(rf"\b{feature}\b", out)


def test_the_list_takes_wildcards_and_tells_the_mean_steps(run):
    out = run("data", "list", "mst*")[1]
    assert "mst_kruskal" in out and "mst_prim" in out and "bfs" not in out
    line = next(line for line in out.splitlines() if line.startswith("mst_prim"))
    known = splits.facts()["mst_prim"]
    assert line.split()[-2:] == [f"{known[split]['mean_steps']:.0f}" for split in ("val", "test")]


def test_a_pattern_that_matches_nothing_is_refused_with_the_nearest(run):
    refused(run("data", "list", "mts*"), "'mts*'", "'mst*'")
    refused(run("data", "list", "quikselect"), "'quikselect'", "'quickselect'")
    refused(run("data", "list", "zzz*"), "'zzz*'", "bfs", "quickselect")
    refused(run("data", "check", "mts*"), "'mst*'")


# ---- rnar data show


@pytest.mark.parametrize("n", [4, 9, 30])
@pytest.mark.parametrize("task", ALGORITHMS)
def test_every_run_can_be_shown(run, task, n):
    code, out, err = run("data", "show", task, "--n", n, "--steps", 5)
    sample = rnar.clrs.sample(task, n=n, batch=1, seed=1).sample(0)
    shown = [int(t) for t in re.findall(r"^step (\d+)", out, re.MULTILINE)]
    assert (code, err) == (0, "")
    assert shown == list(range(min(5, sample.steps)))
    assert f"{sample.nodes} nodes, {sample.steps} steps" in out
    assert max(map(len, out.splitlines())) <= 80
    names = {*sample.hints, *sample.outputs}
    assert all(re.search(rf"(?<!\w){name}\b", out) for name in names)
    assert out.count("answer") == len(sample.outputs)
    assert (f"{sample.steps - 5} more" in out) == (sample.steps > 5)


@pytest.mark.parametrize("task", ALGORITHMS)
def test_a_hint_is_marked_where_it_changed_and_only_there(task):
    sample = rnar.clrs.sample(task, n=6, batch=1, seed=2).sample(0)
    screen = io.StringIO()
    Page(sample, Console(width=200, file=screen)).print(sample.steps, "a test")
    _, *steps = re.split(r"^step \d+", screen.getvalue().split("\nanswer")[0], flags=re.MULTILINE)
    for name, hint in sample.hints.items():
        for t, step in enumerate(steps):
            assert re.search(rf"(?<!\w){name}\b", step)
            assert bool(re.search(rf"\*{name}\b", step)) == (t > 0 and bool((hint[t] != hint[t - 1]).any()))


def test_in_colour_what_changed_is_yellow_and_nothing_is_marked():
    sample = rnar.clrs.trace("minimum", [3.0, 1.0, 2.0])
    screen = io.StringIO()
    Page(sample, Console(width=80, file=screen, force_terminal=True, color_system="standard")).print(9, "test")
    assert "\x1b[1;33mmin_h\x1b[0m" in screen.getvalue()
    assert "*" not in screen.getvalue()


def test_a_sort_is_shown_as_its_keys_in_their_present_order(run):
    out = run("data", "show", "insertion_sort", "--input", "[[5, 2, 9, 1]]")[1]
    orders = [re.findall(r"\d", line) for line in out.splitlines() if "pred_h" in line]
    assert ["".join(order) for order in orders] == ["5291", "2591", "2591", "1259"]
    assert "pred: 1 → 2 → 5 → 9" in out


def test_marks_stand_below_the_nodes_that_they_mark(run):
    lines = run("data", "show", "binary_search", "--input", "[[1, 3, 5, 7], 6]")[1].splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("step 0"))
    keys, marks = lines[at + 1], lines[at + 2]
    assert {mark: keys[marks.index(mark)] for mark in ("low", "mid", "high")} == {"low": "1", "mid": "3", "high": "7"}


def test_pointers_sets_and_classes_are_told_as_what_they_mean(run):
    out = run("data", "show", "bfs", "--input", "[[[0, 1, 0], [1, 0, 1], [0, 1, 0]], 0]")[1]
    assert "*reach_h  {0, 1, *2}" in out
    assert "*pi_h     1→0  *2→1" in out
    out = run("data", "show", "dfs", "--input", "[[[0, 1], [0, 0]]]")[1]
    assert "*color    white 1   grey *0" in out
    assert "*s_prev   *1 → 0" in out
    assert "phase build" in run("data", "show", "heapsort")[1]


def test_a_small_table_is_drawn_and_of_a_large_one_the_changes_are_told(run):
    out = run("data", "show", "lcs_length", "--input", '["AT", "TA"]')[1]
    assert re.search(r"b_h +T2 +A3 +c +T2 +A3\s+A0 +↑ +↖ +A0 +· +1\s+T1 +↖ +↖ +T1 +1 +·", out)
    out = run("data", "show", "floyd_warshall", "--n", 16, "--steps", 2)[1]
    sample = rnar.clrs.sample("floyd_warshall", n=16, batch=1, seed=1).sample(0)
    changed = np.argwhere(sample.hints["Pi_h"][1] != sample.hints["Pi_h"][0])
    told = next(line for line in out.splitlines() if line.startswith("*Pi_h"))
    assert told.split()[1::2] == [f"*[{i},{j}]" for i, j in changed]


def test_the_answer_is_told_in_words(run):
    assert "median: node 0 (key 5)" in run("data", "show", "quickselect", "--input", "[[5, 2, 9]]")[1]
    assert "match: node 2 (letter C)" in run("data", "show", "kmp_matcher", "--input", '["ATCG", "CG"]')[1]
    assert "match: no match" in run("data", "show", "naive_string_matcher", "--input", '["ATCG", "AA"]')[1]
    crossing = run("data", "show", "segments_intersect", "--input", "[[0, 2, 0, 2], [0, 2, 2, 0]]")[1]
    assert "intersect: yes" in crossing


def test_seed_sample_size_and_distribution_choose_the_problem(run):
    batch = rnar.clrs.sample("minimum", n=7, batch=3, seed=5, low=10.0, high=20.0)
    out = run("data", "show", "minimum", "--n", 7, "--seed", 5, "--sample", 2, "--low", 10, "--high", 20)[1]
    keys = re.search(r"key +([\d. ]+)", out)
    assert keys and keys[1].split() == [f"{x:.2f}" for x in batch.inputs["key"][2]]
    assert run("data", "show", "bfs", "--p", "1")[1].count("0 – 0  1  2  3  4  5") == 1
    assert run("data", "show", "kmp_matcher", "--needle", "2,2")[1].count("13  14") == 1


def test_what_cannot_be_drawn_is_refused(run):
    refused(run("data", "show", "bsf"), "no task 'bsf'", "'bfs'")
    refused(run("data", "show", "bfs", "--n", 1), "n=1 is too small", "2")
    refused(run("data", "show", "kmp_matcher", "--n", 8, "--needle", 5), "needle of 5", "n of at least 11")
    refused(run("data", "show", "bfs", "--needle", 5), "no option 'needle'", "p=0.5")
    refused(run("data", "show", "bfs", "--p", "0.1;0.9"), "--p", "'0.1;0.9'")
    refused(run("data", "show", "bfs", "--p", "1.5"), "probability")
    refused(run("data", "show", "bfs", "--seed", -1), "seed")
    refused(run("data", "show", "bfs", "--sample", -1), "--sample")
    refused(run("data", "show", "bfs", "--steps", 0), "--steps")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[5, 2", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("{}", "JSON list of the arguments"),
        ("[[5, NaN, 2]]", "finite"),
        ("[[5, 1e999]]", "finite"),
        ("[[5, 1" + "0" * 400 + "]]", "large"),
        ('[["five", 2]]', "numbers"),
        ("[[5]]", "at least 2"),
        ("[[5, 2], 3]", "argument"),
        ("[]", "argument"),
    ],
)
def test_an_input_that_is_no_problem_is_refused(run, text, said):
    refused(run("data", "show", "minimum", "--input", text), said)


def test_an_own_input_is_not_drawn(run):
    refused(run("data", "show", "minimum", "--input", "[[1, 2]]", "--seed", 3), "--seed", "--input")
    refused(run("data", "show", "bfs", "--input", "[[[0, 1], [1, 0]], 5]"), "source", "5")
    refused(run("data", "show", "kmp_matcher", "--input", '["AT", "ATT"]'), "needle", "longer")


@pytest.mark.parametrize("task", ALGORITHMS)
def test_every_class_has_a_name(task):
    for stage in ALGORITHMS[task].spec:
        for name, feature in stage.items():
            if feature.kind == "categorical":
                assert len(set(classes(task, name, feature))) == feature.classes
            elif str(feature) == "graph.mask":
                assert len(set(classes(task, name, feature))) == 2


def test_nodes_with_like_keys_have_different_labels():
    assert distinct(np.array([5.0, 2.0, 5.0])) == ["5#0", "2", "5#2"]
    assert distinct(np.array([0.123, 0.124, 0.5])) == ["0.123", "0.124", "0.500"]
    assert [number(x) for x in (3.0, 0.126, 0.00123, -0.5)] == ["3", "0.13", "0.0012", "-0.50"]


def test_lists_are_read_from_pointers():
    order = np.random.default_rng(0).permutation(9)
    assert in_order(rnar.clrs.chain(order)) == order.tolist()
    assert linked_list(np.array([0, 1, 2])) == []
    assert linked_list(np.array([2, 0, 2, 3])) == [1, 0, 2]
    assert linked_list(np.array([2, 2, 2])) is None
    assert linked_list(np.array([1, 0, 2])) is None


# ---- rnar data export


def load(path: Path) -> dict[str, np.ndarray]:
    with np.load(path, allow_pickle=False) as file:
        return dict(file)


@pytest.mark.parametrize("task", ALGORITHMS)
def test_an_export_loads_back_as_it_was(run, tmp_path, task):
    out = tmp_path / "set.npz"
    code, said, err = run("data", "export", task, out, "--n", 7, "--samples", 5, "--seed", 3)
    batch, found = rnar.clrs.sample(task, n=7, batch=5, seed=3), load(out)
    stages = {"input": batch.inputs, "hint": batch.hints, "output": batch.outputs}
    expected = {f"{stage}/{name}": x for stage, values in stages.items() for name, x in values.items()}
    assert (code, err) == (0, "") and "5 samples" in said
    assert found.keys() == {*expected, "lengths"}
    assert np.array_equal(found["lengths"], batch.lengths)
    for name, values in expected.items():
        assert found[name].dtype == values.dtype
        assert np.array_equal(found[name], values)


@pytest.mark.parametrize("task", ALGORITHMS)
def test_the_layout_of_dm_clrs_is_written_piece_by_piece_as_it_is_at_once(tmp_path, monkeypatch, task):
    monkeypatch.setattr("rnar.clrs.npz.PIECE", 1000)
    batch = rnar.clrs.sample(task, n=7, batch=5, seed=3)
    with open(tmp_path / "set.npz", "wb") as file:
        write(file, arrays_of(batch, "dm-clrs"))
    expected, found = rnar.clrs.to_dm_clrs(batch), load(tmp_path / "set.npz")
    assert found.keys() == expected.keys()
    for name, values in expected.items():
        assert found[name].dtype == values.dtype
        assert np.array_equal(found[name], values)


def test_an_official_set_is_exported_and_twice_gives_the_same_bytes(run, tmp_path):
    for name in ("a.npz", "b.npz"):
        assert run("data", "export", "bfs", "--split", "val", tmp_path / name)[0] == 0
    assert np.array_equal(load(tmp_path / "a.npz")["output/pi"], rnar.clrs.official("bfs", "val").outputs["pi"])
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


def test_an_existing_file_is_replaced_by_force_only(run, tmp_path):
    out = tmp_path / "set.npz"
    out.write_text("mine")
    refused(run("data", "export", "bfs", out, "--n", 4), str(out), "--force")
    assert out.read_text() == "mine"
    assert run("data", "export", "bfs", out, "--n", 4, "--force")[0] == 0
    assert "lengths" in load(out)


def test_what_cannot_be_exported_is_refused_and_nothing_is_written(run, tmp_path):
    out = tmp_path / "set.npz"
    refused(run("data", "export", "bsf", out, "--n", 4), "no task 'bsf'")
    refused(run("data", "export", "bfs", out), "--split", "--n")
    refused(run("data", "export", "bfs", out, "--split", "val", "--n", 4), "--n", "--split val")
    refused(run("data", "export", "bfs", out, "--split", "vall"), "vall")
    refused(run("data", "export", "bfs", out, "--n", 1), "n=1 is too small")
    refused(run("data", "export", "bfs", out, "--n", 4, "--samples", 0), "at least 1 sample")
    refused(run("data", "export", "bfs", out, "--n", 4, "--layout", "xml"), "xml")
    refused(run("data", "export", "kmp_matcher", out, "--n", 8, "--needle", 5), "needle of 5")
    refused(run("data", "export", "bfs", out, "--n", 16000, "--samples", 10_000_000), "out of memory")
    refused(run("data", "export", "bfs", tmp_path / "none" / "set.npz", "--n", 4), "no folder", "none")
    refused(run("data", "export", "bfs", tmp_path, "--n", 4), "not a file")
    refused(run("data", "export", "bfs", os.devnull, "--n", 4, "--force"), "not a file")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs limits on files")
def test_a_full_disk_leaves_nothing_behind(tmp_path):
    import resource

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    command = [*RNAR, "data", "export", "bubble_sort", str(tmp_path / "set.npz"), "--n", "32", "--samples", "100"]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=limit)
    *_, last = done.stderr.splitlines()
    assert (done.returncode, done.stdout) == (2, "")
    assert last == f"rnar: {tmp_path / 'set.npz'}: File too large"
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
def test_an_interrupted_export_leaves_nothing_behind(tmp_path, sent, code):
    out = tmp_path / "set.npz"
    command = [*RNAR, "data", "export", "bubble_sort", str(out), "--n", "64", "--samples", "200", "--layout", "dm-clrs"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(sent)
    said, err = process.communicate()
    assert (process.returncode, said) == (code, "")
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "file"
    path.write_text("old")
    with pytest.raises(RuntimeError), appearing(path) as file:
        file.write(b"half")
        raise RuntimeError
    assert [p.name for p in tmp_path.iterdir()] == ["file"] and path.read_text() == "old"
    with appearing(path) as file:
        file.write(b"new")
        assert path.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["file"] and path.read_text() == "new"


# ---- rnar data check


def test_the_official_sets_are_those_of_the_reference(run):
    code, out, err = run("data", "check", "b*", "--split", "val")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines() if " val " in line] == [
        [name, "val", "ok"] for name in ALGORITHMS if name.startswith("b") and name in splits.facts()
    ]
    assert out.splitlines()[-1].startswith("5 of 5 sets")


def test_a_set_that_differs_is_named_with_its_features_and_the_exit_code_is_1(run, monkeypatch):
    wrong = json.loads(json.dumps(splits.facts()))
    wrong["bfs"]["val"]["sha256"]["hint/pi_h"] = "0"
    monkeypatch.setattr(splits, "facts", lambda: wrong)
    code, out, _ = run("data", "check", "bfs")
    assert code == 1
    assert out.splitlines()[0].split() == "bfs train ok val differs in hint/pi_h test ok".split()
    assert out.splitlines()[1].startswith("2 of 3 sets")


def test_the_check_goes_through_every_set(monkeypatch):
    counted = []
    monkeypatch.setattr(data_check, "differences", lambda task, split, progress: counted.append((task, split)) or [])
    assert data_check.check("mst*") == 0
    assert counted == [(task, split) for task in ("mst_kruskal", "mst_prim") for split in ("train", "val", "test")]


# ---- the flags of distributions


def test_the_flags_are_the_options_of_all_problems_together():
    options = {name for algorithm in ALGORITHMS.values() for name in algorithm.problem.options}
    assert {field.name for field in fields(Distribution)} == options


def test_several_numbers_have_commas_between_them():
    given = Distribution(p="0.1,0.9", needle="1,8", center="0.5,-1", low=0.0).given()
    assert given == {"p": (0.1, 0.9), "needle": (1, 8), "center": (0.5, -1.0), "low": 0.0}
    assert Distribution(p="0.3", needle="3").given() == {"p": 0.3, "needle": 3}
    with pytest.raises(ValueError, match="whole numbers"):
        Distribution(needle="1.5").given()
