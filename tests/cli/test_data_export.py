"""`rnar data export`: sets in files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import numpy as np
import pytest

import rnar.clrs
from helpers.command import RNAR, refused
from helpers.files import load
from helpers.processes import wait_for
from rnar.clrs import ALGORITHMS


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
    refused(run("data", "export", "bfs", out, "--n", 4, "--samples", 0), "1 to 1,000,000 samples")
    refused(run("data", "export", "bfs", out, "--n", 4, "--samples", 10**11), "1 to 1,000,000 samples")
    refused(run("data", "export", "bfs", out, "--n", 4, "--layout", "xml"), "xml")
    refused(run("data", "export", "kmp_matcher", out, "--n", 8, "--needle", 5), "needle of 5")
    refused(run("data", "export", "bfs", out, "--n", 16000, "--samples", 1_000_000), "GB of memory", "are free")
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
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(lambda: process.poll() is not None or list(tmp_path.iterdir()))
            process.send_signal(sent)
            said, err = process.communicate(timeout=600)
        finally:
            process.kill()
    assert (process.returncode, said) == (code, "")
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []
