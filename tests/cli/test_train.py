"""The command line: `rnar train ...`."""

from __future__ import annotations

import io
import math
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from rich.console import Console

from helpers.command import refused, runner
from helpers.processes import wait_for
from helpers.training import contents, small_test, tiny
from rnar.cli import train as command
from rnar.training import Run, Settings, loop, testing, train
from rnar.training.config import read_settings
from rnar.training.live import Live
from rnar.training.settings import SETTINGS
from rnar.training.watch import Beginning

TINY = (
    "--size 8 --batch 2 --sizes 4 --steps 4 --validate-every 2 --validation-samples 2 --selection-samples 3 "
    "--ood-samples 2 --threads 1"
).split()


@pytest.fixture
def run(capsys, monkeypatch, tmp_path):
    """Run a command in this process and an empty folder: its exit code, what it wrote to stdout and stderr."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(testing, "official", small_test)

    return runner(capsys)


def test_a_run_is_told_line_by_line_in_a_log_and_kept_in_its_folder(run):
    code, out, err = run("train", "bfs", *TINY)
    kept = Run("runs/bfs/rnar/seed-0")
    assert (code, err) == (0, "")
    assert kept.result
    first, *lines = out.splitlines()
    parameters = sum(p.numel() for p in kept.network().parameters())
    assert first == f"bfs with rnar, seed 0: {parameters:,} parameters, cpu, threads 1; runs/bfs/rnar/seed-0"
    assert [int(number) for number in re.findall(r"^step (\d+) of 4  ", out, re.MULTILINE)] == [0, 2, 4]
    assert f"bfs: {kept.result.score:.2%} on 4 samples of the official test" in out
    assert lines[-1] == "runs/bfs/rnar/seed-0"
    assert all(f"validation {line['validation']:.2%}" in out for line in kept.metrics)


def test_the_same_command_tells_the_result_at_once(run, monkeypatch):
    told = run("train", "bfs", *TINY)[1].splitlines()
    monkeypatch.setattr(loop, "_train", None)  # nobody may call it
    code, out, _ = run("train", "bfs", *TINY)
    end = next(k for k, line in enumerate(told) if line.startswith("bfs: "))
    assert code == 0 and out.splitlines() == [*told[end:-1], told[-1] + ", which was finished before"]


def test_every_setting_has_a_flag_and_a_help(run):
    code, out, _ = run("train", "--help")
    words = " ".join(out.replace("│", " ").split())
    assert code == 0
    for name in SETTINGS:
        flag = {"start": "from"}.get(name, name).replace("_", "-")
        assert name == "tasks" or f"--{flag}" in words
    assert "Gradients are scaled down to this norm; inf leaves them as they are. (default: 1.0)" in words


def test_settings_come_from_flags(run):
    assert (
        run(
            "train",
            "bfs",
            "minimum",
            *TINY,
            "--seed",
            3,
            "--model",
            "rt",
            "--size",
            16,
            "--clip",
            0.5,
            "--folder",
            "here",
        )[0]
        == 0
    )
    settings = Run("here").settings
    assert (settings.tasks, settings.seed, settings.name) == (("bfs", "minimum"), 3, "rt")
    assert (settings.clip, settings.sizes, settings.learning_rate) == (0.5, (4,), 2.5e-4)


def test_tasks_may_be_named_by_wildcards_and_a_model_by_its_place(run, tmp_path):
    (tmp_path / "my_own.py").write_text(
        "from rnar.models import Model, message_passing\nfrom rnar.nn.aggregators import Max\n"
        "mine = Model('mine', message_passing(Max))\n"
    )
    assert run("train", "b?s", *TINY, "--model", "my_own:mine")[0] == 0
    assert Run("runs/bfs/my_own.mine/seed-0").model.name == "mine"


def test_without_a_task_there_is_an_example(run, monkeypatch):
    asked = []
    monkeypatch.setattr(
        command, "train_network", lambda settings, _: asked.append(settings) or train(tiny(Path("run")))
    )
    code, out, _ = run("train")
    assert code == 0
    assert out.startswith("No task was named; as an example, 200 steps of bfs.")
    assert (asked[0].tasks, asked[0].steps) == (("bfs",), 200)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["bsf"], "no task 'bsf' (did you mean 'bfs'?)"),
        (["bfs", "--stepz", "3"], "'--stepz' (did you mean '--steps'?)"),
        (["bfs", "--batch", "0"], "batch must be a whole number from 1 to 1,000,000, not '0'"),
        (["bfs", "--batch", "many"], "many"),
        (["bfs", "--device", "tpu"], "tpu"),
        (["bfs", "--model", "rnr"], "no model 'rnr' (did you mean 'rnar'?)"),
        (["bfs", "--folder", "file"], "file is a file, so no run can be kept there; choose another --folder"),
        (["kmp_matcher", "--sizes", "4"], "too small for a needle of 8"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_line(run, words, said):
    Path("file").write_text("mine")
    refused(run("train", *words), said)
    assert os.listdir() == ["file"] and Path("file").read_text() == "mine"


def test_another_run_in_the_folder_is_refused_with_the_difference(run):
    run("train", "bfs", *TINY)
    refused(run("train", "bfs", *TINY, "--learning-rate", 0.01), "learning_rate is 0.001 there and 0.01 here")


def test_in_a_terminal_one_line_lives():
    screen = io.StringIO()
    live = Live(Console(file=screen, force_terminal=True, width=120, highlight=False))
    settings = Settings("bfs", steps=100).resolved()
    live.began(Beginning(settings, Path("here"), 10, 1000, "cpu", 2, ["threads was 1 and is 2"]))
    live.reported({"step": 10, "loss": 2.0, "validation": 0.25, "best": 0.5, "best_step": 5})
    time.sleep(0.01)
    live.stepped(20, 1.5)
    words = live.words(live.loss)
    live.testing("bfs", "the last network")(0.25)
    assert (live.doing, live.share) == ("testing the last network on the official set of bfs", 0.25)
    live.stopped(20)
    assert "goes on from step 10 of 100" in screen.getvalue()
    assert "threads was 1 and is 2" in screen.getvalue()
    assert "all is saved at step 20 of 100, and the same command goes on from there" in screen.getvalue()
    assert words.startswith("step  20 of 100  loss 1.5000  best 50.00% at 5  ")
    assert re.search(r"\d+ samples/s  .* left$", words)


@pytest.mark.parametrize("there", [True, False])
def test_without_instructions_for_bfloat16_it_is_said_that_float32_is_faster(there, monkeypatch):
    screen, settings = io.StringIO(), Settings("bfs", precision="bfloat16").resolved()
    monkeypatch.setattr("rnar.training.live.has_bfloat16", lambda device: there)
    Live(Console(file=screen)).began(Beginning(settings, Path("here"), 0, 1000, "cpu", 2, []))
    assert ("there are no instructions for bfloat16 here: it is slower than float32" in screen.getvalue()) != there


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals")
@pytest.mark.parametrize(("sent", "code", "said_last"), [("SIGINT", 130, "rnar: interrupted"), ("SIGTERM", 143, None)])
def test_a_signal_to_all_its_processes_lets_it_save_and_say_how_to_go_on(sent, code, said_last, tmp_path):
    words = [sys.executable, "-m", "rnar", "train", "bfs", *TINY, "--threads", "2", "--folder", str(tmp_path / "run")]
    words[words.index("--steps") + 1] = "100000"
    metrics, pipe = tmp_path / "run" / "metrics.jsonl", subprocess.PIPE
    with subprocess.Popen(words, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        try:
            wait_for(lambda: process.poll() is not None or metrics.exists() and metrics.read_text().count("\n") > 1)
            os.killpg(process.pid, getattr(signal, sent))
            out, err = process.communicate(timeout=600)
        finally:
            process.kill()
    assert process.returncode == code
    assert err.splitlines()[-1:] == ([said_last] if said_last else []) and "Traceback" not in err
    said = re.search(r"stopped; all is saved at step (\d+) of 100000, and the same command goes on from there", out)
    assert said
    steps = [line["step"] for line in Run(tmp_path / "run").metrics]
    assert steps == list(range(0, int(said[1]) + 1, 2))
    assert not list((tmp_path / "run").glob(".*.partial"))


def test_a_full_disk_ends_in_one_line(run, monkeypatch):
    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        code, _, err = run("train", "bfs", *TINY)
    assert (code, err) == (2, f"rnar: {Path('runs/bfs/rnar/seed-0/config.json')}: No space left on device")
    assert run("train", "bfs", *TINY)[0] == 0
    train(tiny(Path("other"), batch=2, sizes=(4,), steps=4, validation_samples=2, selection_samples=3))
    assert contents(Path("runs/bfs/rnar/seed-0")) == contents(Path("other"))


def test_a_run_goes_on_by_its_folder_alone(run):
    run("train", "bfs", *TINY, "--folder", "here")
    steps = Run("here").settings.steps
    assert run("train", "--resume", "here")[1].endswith("here, which was finished before\n")
    assert run("train", "--resume", "here", "--steps", 2 * steps)[0] == 0
    assert Run("here").result.steps == 2 * steps
    refused(run("train", "--resume", "here", "--batch", 9, "--seed", 3), "seed is 0 there, not 3, batch is", "not 9")
    refused(run("train", "dfs", "--resume", "here"), "tasks is ('bfs',) there, not ('dfs',)")
    refused(run("train", "--resume", "here", "--folder", "there"), "--resume and --folder both name")
    refused(run("train", "--resume", "nowhere"), "nowhere is no folder of a run")


def test_settings_are_saved_to_a_file_and_taken_from_it(run):
    """By the names that others have; flags say otherwise than the file, and nothing is trained or lost meanwhile."""
    words = ["--sizes", "4,8", "--lr", "1e-4", "--hidden", 16, "--batch-size", 4, "--clip", "inf", "--without", "s,pos"]
    for name in ("run.toml", "run.json"):
        assert run("train", "bfs", *words, "--seed", 3, "--folder", "here", "--save-config", name)[0] == 0
        assert run("train", "--config", name, "--save-config", "again" + name)[0] == 0
        assert Path(name).read_bytes() == Path("again" + name).read_bytes()
        settings = Settings(**read_settings(Path(name)))
        assert (settings.sizes, settings.learning_rate, settings.size, settings.batch) == ((4, 8), 1e-4, 16, 4)
        assert (settings.tasks, settings.clip, settings.path) == (("bfs",), math.inf, Path("here"))
        refused(run("train", "bfs", "--save-config", name), f"{name} exists already; choose another name")
    assert not Path("here").exists() and not Path("runs").exists()
    Path("small.toml").write_text("task = 'bfs'\nlr = 0.01\nseed = 3\n")
    assert run("train", "--config", "small.toml", *TINY, "--seed", 4)[0] == 0
    kept = Run("runs/bfs/rnar/seed-4")
    assert (kept.settings.learning_rate, kept.settings.size) == (0.01, 8)
    assert "which was finished before" in run("train", "--config", kept.path / "config.json", "--threads", 1)[1]


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.toml", "stepz = 3", "a.toml: there is no setting 'stepz' (did you mean 'steps'?)"),
        ("a.toml", "epochs = 3", "a.toml: there is no setting 'epochs'; say steps"),
        ("a.toml", "steps = 0", "a.toml: steps must be a whole number from 1 to 1,000,000,000, not 0"),
        ("a.toml", "steps 3", "a.toml cannot be read as TOML: "),
        ("a.json", '{"learning_rate": 1e400}', "a.json cannot be read as JSON: Number out of range"),
        ("a.json", '{"steps": 1' + 30 * "0" + "}", "a.json: steps must be a whole number from 1 to"),
        ("a.json", "[]", "a.json must have names and values of settings, as in steps = 500; it has a list"),
        ("a.yaml", "steps: 3", "ends in .json or .toml, not as 'a.yaml' does"),
    ],
)
def test_a_file_that_has_no_settings_is_refused_in_one_line(run, name, text, said):
    Path(name).write_text(text)
    refused(run("train", "bfs", "--config", name), said)
    refused(run("train", "bfs", "--config", "nowhere.toml"), "nowhere.toml: No such file")


def test_a_test_on_all_samples_may_be_asked_of_a_run_that_was_tested_on_some(run):
    run("train", "bfs", *TINY, "--test-samples", 2, "--folder", "here")
    assert Run("here").result.tests["bfs"].samples == 2
    assert run("train", "--resume", "here", "--test-samples", "all")[0] == 0
    assert Run("here").result.tests["bfs"].samples == 4


def test_a_log_without_a_terminal_tells_progress_between_validations_and_in_tests(monkeypatch):
    monkeypatch.setattr("rnar.training.live.QUIET", 0.0)
    screen, settings = io.StringIO(), Settings("bfs", steps=100).resolved()
    live = Live(Console(file=screen))
    live.began(Beginning(settings, Path("here"), 0, 1000, "cpu", 2, []))
    live.stepped(20, 1.5)
    live.testing("bfs", "the last network")(0.25)
    assert "step  20 of 100  loss 1.5000" in screen.getvalue()
    assert "testing the last network on the official set of bfs: 25%" in screen.getvalue()


def test_comparing_and_testing_tell_how_far_they_are_where_output_is_no_terminal(monkeypatch):
    monkeypatch.setattr("rnar.training.live.QUIET", 0.0)
    file = io.StringIO()
    live = Live(Console(file=file, width=200))
    for begin in (lambda: live.selecting(4), lambda: live.testing("bfs", "the last network")):
        begin()(0.5)
        assert file.getvalue().splitlines()[-1].endswith(": 50%")


@pytest.mark.parametrize(
    ("flag", "said"),
    [
        ("--task", "named without a flag, as in rnar train bfs"),
        ("--epochs", "say --steps"),
        ("--hidden-size", "say --size"),
    ],
)
def test_flags_of_other_names_are_told_the_right_one(run, flag, said):
    refused(run("train", flag, "8"), said)


def test_flags_of_before_go_on_working_and_say_their_names_of_now(run, tmp_path):
    out = tmp_path / "saved.json"
    code, _, err = run("train", "bfs", "--wider-n=64", "--wider_samples", "3", "--anyway", "--save-config", out)
    assert code == 0 and err.splitlines() == [
        "rnar: --wider-n is called --ood-n now",
        "rnar: --wider_samples is called --ood-samples now",
        "rnar: --anyway is called --allow-code-change now",
    ]
    saved = read_settings(out)
    assert (saved["ood_n"], saved["ood_samples"], saved["allow_code_change"]) == (64, 3, True)
    code, _, err = run("report", "nothing", "--figure", "wider", "--out", "x.png")
    assert code == 2 and err.startswith("rnar: wider is called ood now\nrnar: there is no nothing")


def test_a_run_that_was_begun_in_python_goes_on_from_the_command_line(run, my_models, tmp_path, monkeypatch):
    monkeypatch.setattr(testing, "official", small_test)
    monkeypatch.syspath_prepend(str(tmp_path))
    import my_models as module  # pyright: ignore[reportMissingImports]

    train(tiny(Path("here"), model=module.mine), quiet=True)
    code, out, err = run("train", "--resume", "here", "--model", "my_models:mine", "--steps", 8)
    assert code == 0 and "goes on from step 6 of 8" in out, err
    assert train(tiny(Path("here"), model=module.mine, steps=8)).steps == 8
    refused(run("train", "--resume", "here", "--model", "mpnn"), "model is 'my_models:mine' there, not 'mpnn'")
