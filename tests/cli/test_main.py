"""The command line itself: help, errors, exit codes."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version
from unittest.mock import Mock

import pytest

from helpers.command import RNAR, refused
from rnar.cli import main as cli


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


@pytest.mark.parametrize("name", ["evaluate", "solve", "view", "train"])
def test_a_command_that_opens_a_run_says_that_this_imports_its_modules(run, name):
    words = " ".join(run(name, "--help")[1].replace("│", " ").split())
    assert "Opening a run imports the modules of yours that its config names" in words


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
        (
            RuntimeError("[enforce fail at x.cpp:117] err == 0. DefaultCPUAllocator: can't allocate memory: you ..."),
            *(2, "rnar: out of memory: can't allocate memory: you ..."),
        ),
        (KeyboardInterrupt(), 130, "rnar: interrupted"),
    ],
)
def test_what_a_command_raises_is_told_in_one_line(run, monkeypatch, error, code, said):
    monkeypatch.setattr("rnar.cli.data.matching", Mock(side_effect=error))
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


@pytest.mark.parametrize("flag", ["-V", "--version"])
def test_the_version_is_told(run, flag):
    assert run(flag) == (0, f"rnar {version('rnar')}\n", "")
