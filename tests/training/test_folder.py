"""A run's folder: going on, taking further, leaving alone what is somebody else's, trouble while it is written."""

from __future__ import annotations

import errno
import importlib
import json
import math
import os
import shutil
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.numpy import load_file

from helpers.training import contents, tiny
from rnar.common.lock import locked
from rnar.models import find
from rnar.nn.reasoner import old_name
from rnar.runtime import Workers
from rnar.training import Callback, Run, Settings, loop, train
from rnar.training import folder as training_folder
from rnar.training.files import pack, unpack
from rnar.training.stopping import SIGNALS


def test_a_finished_run_is_told_and_not_touched(small, tmp_path, monkeypatch):
    settings = tiny(tmp_path / "run")
    result = train(settings)
    before = {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in settings.path.iterdir()}
    monkeypatch.setattr(loop, "_train", None)  # nobody may call it
    assert train(settings) == result
    assert before == {path.name: (path.read_bytes(), path.stat().st_mtime_ns) for path in settings.path.iterdir()}


def test_taking_a_run_further_equals_a_longer_run_from_the_start(small, tmp_path):
    short = train(tiny(tmp_path / "run"))
    train(tiny(tmp_path / "run", steps=10))
    train(tiny(tmp_path / "longer", steps=10))
    assert contents(tmp_path / "run") == contents(tmp_path / "longer")
    assert Run(tmp_path / "run").settings.steps == 10
    kept = json.loads((tmp_path / "run" / "result-6.json").read_text())
    assert kept["steps"] == 6 and kept["score"] == short.score
    with pytest.raises(ValueError, match="a run of 10 steps, not 6: it can be taken further, not back"):
        train(tiny(tmp_path / "run"))


def test_a_network_that_learns_by_the_length_of_its_training_is_not_taken_further(small, tmp_path):
    train(tiny(tmp_path / "run", model="g-forgetnet", steps=4))
    before = contents(tmp_path / "run")
    with pytest.raises(ValueError, match="4 steps, and g-forgetnet learns by how much of them is done"):
        train(tiny(tmp_path / "run", model="g-forgetnet", steps=6))
    assert contents(tmp_path / "run") == before


def test_a_folder_with_other_settings_is_refused_with_the_difference(small, tmp_path):
    train(tiny(tmp_path / "run"))
    before = contents(tmp_path / "run")
    with pytest.raises(ValueError, match="other settings: seed is 0 there and 1 here, batch is 3 there and 4 here; ch"):
        train(tiny(tmp_path / "run", seed=1, batch=4))
    with pytest.raises(ValueError, match="model is 'rnar' there and 'mpnn' here"):
        train(tiny(tmp_path / "run", model="mpnn"))
    assert contents(tmp_path / "run") == before


def test_a_run_in_bfloat16_goes_on_in_no_other_precision_and_as_if_nothing_had_come_between(small, tmp_path):
    train(tiny(tmp_path / "whole", precision="bfloat16"))
    train(tiny(tmp_path / "parts", precision="bfloat16", steps=4))
    with pytest.raises(ValueError, match="precision is 'bfloat16' there and 'float32' here"):
        train(tiny(tmp_path / "parts"))
    train(tiny(tmp_path / "parts", precision="bfloat16"))
    train(tiny(tmp_path / "single"))
    networks = [Run(tmp_path / name).network(which="last") for name in ("whole", "parts", "single")]
    whole, parts, single = (network.state_dict() for network in networks)
    assert all(torch.equal(whole[name], parts[name]) for name in whole)
    assert any(not torch.equal(whole[name], single[name]) for name in whole)


def test_another_number_of_threads_is_noted_and_no_other_run(small, tmp_path):
    class First(Callback):
        def began(self, beginning) -> None:
            self.changes = beginning.changes

    watch = First()
    train(tiny(tmp_path / "run"))
    train(tiny(tmp_path / "run", steps=8, threads=2), watch)
    assert watch.changes == ["threads was 1 and is 2"]
    noted = Run(tmp_path / "run").config["environments"]
    assert [(each["from_step"], each["threads"]) for each in noted] == [(0, 1), (6, 2)]


def test_what_is_somebody_elses_is_left_alone(small, tmp_path):
    file, folder = tmp_path / "file", tmp_path / "folder"
    file.write_text("mine")
    folder.mkdir()
    (folder / "thesis.tex").write_text("mine")
    with pytest.raises(ValueError, match="file is a file, so no run can be kept there"):
        train(tiny(file))
    with pytest.raises(ValueError, match="is no folder of a run: it has thesis.tex and no config.json"):
        train(tiny(folder))
    assert file.read_text() == "mine" and [path.name for path in folder.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize("name", ["state.safetensors", "best.safetensors", "metrics.jsonl", "config.json"])
def test_a_file_that_is_damaged_is_named_and_kept(small, tmp_path, name):
    train(tiny(tmp_path / "run"))
    path = tmp_path / "run" / name
    damaged = b"mine\n" if name == "metrics.jsonl" else path.read_bytes()[:-7]
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match=f"{name} is damaged or not of a run"):
        train(tiny(tmp_path / "run", steps=8))
    assert path.read_bytes() == damaged


def test_the_state_of_another_run_is_named(small, tmp_path):
    train(tiny(tmp_path / "run"))
    train(tiny(tmp_path / "other", seed=1))
    train(tiny(tmp_path / "wide", size=9))
    for other, said in [("other", "not of this run.*seed is 1, not 0"), ("wide", "does not fit .* in other shapes")]:
        os.replace(tmp_path / other / "state.safetensors", tmp_path / "run" / "state.safetensors")
        with pytest.raises(ValueError, match=f"state.safetensors .*{said}"):
            train(tiny(tmp_path / "run", steps=8))


def test_two_processes_do_not_train_in_one_folder(small, tmp_path):
    (tmp_path / "run").mkdir()
    with locked(tmp_path / "run" / ".lock"), pytest.raises(ValueError, match="another process trains in .*run"):
        train(tiny(tmp_path / "run"))
    train(tiny(tmp_path / "run"))


@pytest.mark.parametrize("which", range(2, 9))
def test_a_full_disk_leaves_the_last_good_state(small, uninterrupted, tmp_path, monkeypatch, which):
    """Whichever file is being written when it happens."""
    monkeypatch.setattr(training_folder, "SAVE_EVERY", 0.0)
    monkeypatch.setattr(training_folder, "SAVE_SHARE", math.inf)
    written, fsync = [], os.fsync

    def full(number: int) -> None:
        written.append(number)
        if len(written) == which:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        fsync(number)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OSError, match="No space left") as caught:
            train(tiny(tmp_path / "run"))
    assert Path(caught.value.filename).parent == tmp_path / "run"
    assert not list((tmp_path / "run").glob(".*.partial"))
    train(tiny(tmp_path / "run"))
    assert contents(tmp_path / "run") == uninterrupted


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs a user whom permissions bind")
def test_a_folder_that_may_not_be_written_is_named(small, tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError) as caught:
        train(tiny(tmp_path / "run"))
    assert caught.value.filename == str(tmp_path / "run")


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_ends_the_step_saves_and_the_same_call_goes_on(small, uninterrupted, tmp_path, number):
    class Impatient(Callback):
        stopped_at: int | None = None

        def stepped(self, step: int, loss: float) -> None:
            if step == 3:
                signal.raise_signal(number)

        def stopped(self, step: int) -> None:
            self.stopped_at = step

    def terminated(*_: object) -> None:
        raise KeyboardInterrupt

    watch, before = Impatient(), signal.signal(number, terminated)
    try:
        with pytest.raises(KeyboardInterrupt):
            train(tiny(tmp_path / "run"), watch)
        assert signal.getsignal(number) is terminated
    finally:
        signal.signal(number, before)
    assert watch.stopped_at == 3  # the step at hand was finished first
    assert not (tmp_path / "run" / "result.json").exists()
    train(tiny(tmp_path / "run"))
    assert contents(tmp_path / "run") == uninterrupted


def test_a_run_of_the_first_version_goes_on_and_ends_with_the_same_weights(small, tmp_path):
    """Its folder was made before the engine was redesigned; see tests/golden/README.md."""
    golden = Path(__file__).parents[1] / "golden" / "run"
    shutil.copytree(golden, tmp_path / "run", ignore=shutil.ignore_patterns("after-*"))
    settings = Settings(
        "quickselect", size=8, batch=3, sizes=(4, 5), steps=8, validate_every=2, validation_samples=4, test_samples=2,
        selection_samples=4, ood_samples=0, threads=1, folder=tmp_path / "run",
    )  # fmt: skip
    result = train(settings)
    assert result.steps == 8 and (tmp_path / "run" / "result-4.json").exists()
    expected, found = load_file(golden / "after-8-steps.safetensors"), Run(tmp_path / "run").network(which="last")
    # Last bits differ between machines and versions, and Adam makes steps of full length of gradients that are nothing
    # else: all of the one bias of a decoder of pointers, to which no probability is sensitive.
    pairs = [
        (tensor - torch.from_numpy(expected[old_name(name)])).abs().flatten()
        for name, tensor in found.state_dict().items()
    ]
    apart = torch.cat(pairs)
    assert apart.max() < 5e-3 and (apart < 1e-5).float().mean() > 0.95


OWN = """
import rnar
class Mine(rnar.Aggregator):
    ordered = False
    def forward(self, messages, edges=None):
        return messages.sum(dim=1)
mine = rnar.Model("mine", lambda size: rnar.MessagePassing(size, Mine(size)))
"""


def test_a_run_of_other_code_is_refused_unless_it_is_wanted(small, tmp_path, monkeypatch):
    """Neither is an old score told as that of new code, nor do old weights go on under it."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(text: str) -> None:
        (tmp_path / "edited_models.py").write_text(text)
        sys.modules.pop("edited_models", None)
        importlib.invalidate_caches()

    write(OWN)
    settings = tiny(tmp_path / "run", model="edited_models:mine")
    result = train(settings)
    write(OWN.replace("sum", "mean"))
    before = contents(tmp_path / "run")
    for more in (6, 8):
        with pytest.raises(ValueError, match="a run of other code: edited_models changed since.* --allow-code-change"):
            train(replace(settings, steps=more))
    assert contents(tmp_path / "run") == before
    assert train(replace(settings, allow_code_change=True)) == result
    train(replace(settings, allow_code_change=True, steps=8))
    noted = Run(tmp_path / "run").config["environments"]
    assert [each["from_step"] for each in noted] == [0, 6] and noted[0]["code"] != noted[1]["code"]
    train(replace(settings, steps=10))  # the code of the last steps is that of now


def test_so_is_a_run_of_another_recipe_of_the_same_name(small, tmp_path):
    """A model that was given from Python, and is none of a module's."""
    model = replace(find("mpnn"), name="own")
    train(tiny(tmp_path / "run", model=model))
    train(tiny(tmp_path / "run", model=replace(model, differs="In its words.")))
    with pytest.raises(ValueError, match="a run of other code: the model's settings changed since"):
        train(tiny(tmp_path / "run", model=replace(model, reversal=True)))


def test_a_finished_run_stays_as_it_is_until_a_state_beyond_it_is_safe(small, tmp_path, monkeypatch):
    train(tiny(tmp_path / "run"))
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left")

    with monkeypatch.context() as patch:
        patch.setattr(training_folder, "write", fail)
        with pytest.raises(OSError, match="No space left"):
            train(tiny(tmp_path / "run", steps=8))
    after = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir()}
    assert {name: content for name, content in after.items() if name != "metrics.jsonl"} == {
        name: content for name, content in before.items() if name != "metrics.jsonl"
    }
    train(tiny(tmp_path / "run", steps=8))
    assert Run(tmp_path / "run").result.steps == 8 and (tmp_path / "run" / "result-6.json").exists()


def test_a_result_of_fewer_steps_is_not_that_of_the_run(small, tmp_path):
    """A process that was killed between noting the new number of steps and setting the result aside."""
    train(tiny(tmp_path / "run"))
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    config["settings"]["steps"] = 8
    (tmp_path / "run" / "config.json").write_text(json.dumps(config))
    assert Run(tmp_path / "run").result is None
    assert train(tiny(tmp_path / "run", steps=8)).steps == 8
    assert (tmp_path / "run" / "result-6.json").exists()


def test_a_run_whose_state_is_missing_is_not_begun_anew(small, tmp_path):
    train(tiny(tmp_path / "run"))
    (tmp_path / "run" / "state.safetensors").unlink()
    with pytest.raises(ValueError, match="state.safetensors is missing, so that this run, which came to step 6, cann"):
        train(tiny(tmp_path / "run", steps=8))
    assert (tmp_path / "run" / "result.json").exists()


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("weights/", lambda x: x.fill_(math.nan), "it has with NaN or infinity "),
        ("candidate/", lambda x: x.fill_(math.inf), "it has with NaN or infinity "),
        ("adam/exp_avg/", lambda x: x.fill_(math.nan), "it has with NaN or infinity "),
        ("adam/exp_avg_sq/", lambda x: x.flatten()[:1], "it has in other shapes "),
        ("adam/step/", lambda x: x.expand(3).clone(), "it has in other shapes "),
    ],
)
def test_a_state_that_cannot_be_is_refused_with_its_name(small, tmp_path, name, change, said):
    train(tiny(tmp_path / "run"))
    path = tmp_path / "run" / "state.safetensors"
    tensors, notes = unpack(path.read_bytes(), path)
    which = next(key for key, x in tensors.items() if key.startswith(name) and (x.dim() > 1 or "step" in name))
    before = pack({**tensors, which: change(tensors[which])}, notes)
    path.write_bytes(before)
    with pytest.raises(ValueError, match=f"state.safetensors does not fit the run's network: {said}"):
        train(tiny(tmp_path / "run", steps=8))
    assert path.read_bytes() == before


def test_a_network_with_nan_is_not_loaded(small, tmp_path):
    train(tiny(tmp_path / "run"))
    path = tmp_path / "run" / "best.safetensors"
    tensors, notes = unpack(path.read_bytes(), path)
    path.write_bytes(pack({name: x * math.nan for name, x in tensors.items()}, notes))
    with pytest.raises(ValueError, match="best.safetensors does not fit .* it has with NaN or infinity .* and .* more"):
        Run(tmp_path / "run").network()


@pytest.mark.parametrize("name", ["metrics.jsonl", "state.safetensors", "config.json"])
def test_nothing_is_written_through_a_link_out_of_the_folder(small, tmp_path, name):
    train(tiny(tmp_path / "run"))
    path, outside = tmp_path / "run" / name, tmp_path / "outside"
    path.rename(outside)
    path.symlink_to(outside)
    before = outside.read_bytes()
    with pytest.raises(ValueError, match=f"{name} is a link, and a run writes into no file outside of its folder"):
        train(tiny(tmp_path / "run", steps=8))
    assert outside.read_bytes() == before


def test_nothing_is_added_to_a_hard_link(small, tmp_path):
    train(tiny(tmp_path / "run"))
    outside = tmp_path / "outside"
    os.link(tmp_path / "run" / "metrics.jsonl", outside)
    before = outside.read_bytes()
    with pytest.raises(ValueError, match="metrics.jsonl is a hard link, and a run writes into no file outside"):
        train(tiny(tmp_path / "run", steps=8))
    assert outside.read_bytes() == before


def test_the_folder_itself_may_be_a_link(small, tmp_path, uninterrupted):
    (tmp_path / "link").symlink_to(tmp_path / "run")
    with pytest.raises(ValueError, match="link is a link to .*run, which is not there; make it, or choose another"):
        train(tiny(tmp_path / "link"))
    (tmp_path / "run").mkdir()
    train(tiny(tmp_path / "link"))
    assert contents(tmp_path / "run") == uninterrupted


def test_training_that_diverges_says_when_and_keeps_the_best_network(small, tmp_path):
    with pytest.raises(ValueError, match=r"diverged at step \d+: the norm .* is \w+; the best network so far, of step"):
        train(tiny(tmp_path / "run", learning_rate=1e30, clip=math.inf, model="mpnn"))
    assert Run(tmp_path / "run").network()


def test_a_run_whose_memory_ends_goes_on_as_if_nothing_had_come_between(small, tmp_path, uninterrupted, monkeypatch):
    def allocate(self, *_):
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes.")

    for name in ("backward", "map"):  # in a step, and in a validation
        with monkeypatch.context() as patch:
            patch.setattr(Workers, name, allocate)
            with pytest.raises(RuntimeError, match="allocate memory"):
                train(tiny(tmp_path / "run"))
    train(tiny(tmp_path / "run"))
    assert contents(tmp_path / "run") == uninterrupted


def test_settings_alone_bind_nobody(small, tmp_path, uninterrupted):
    """A run that was killed before it learned anything is begun anew with others; a file of somebody else's stays."""
    train(tiny(tmp_path / "other", seed=3))
    (tmp_path / "run").mkdir()
    shutil.copy(tmp_path / "other" / "config.json", tmp_path / "run")
    train(tiny(tmp_path / "run"))
    assert contents(tmp_path / "run") == uninterrupted and Run(tmp_path / "run").settings.seed == 0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "config.json").write_text('{"mine": 3}')
    with pytest.raises(ValueError, match="config.json is damaged or not of a run"):
        train(tiny(tmp_path / "mine"))
    assert (tmp_path / "mine" / "config.json").read_text() == '{"mine": 3}'
