"""Training: what is in a run folder, and that it is right."""

from __future__ import annotations

import errno
import json
import math
import os
import signal
import sys
import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import rnar.clrs
from helpers.training import contents, small_test, tiny
from rnar.clrs import ALGORITHMS, Stream, official
from rnar.clrs import find as find_task
from rnar.common.lock import locked
from rnar.engine.workers import Workers
from rnar.evaluation.evaluate import evaluate
from rnar.models import MODELS, Model, find, message_passing
from rnar.nn.aggregators import Max
from rnar.nn.reasoner import scores
from rnar.training import Resolved, Run, Settings, Watch, loop, train
from rnar.training import files as training_files
from rnar.training import folder as training_folder
from rnar.training.data import VALIDATION_SEED, training_data, validation_set


@pytest.fixture
def small(monkeypatch):
    """The test at the end takes no time."""
    monkeypatch.setattr(loop, "official", small_test)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run that is done, tested on the official set. Not to be changed."""
    folder = tmp_path_factory.mktemp("train") / "finished"
    result = train(tiny(folder))
    return Run(folder), result


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """What a small run leaves behind if nothing goes wrong."""
    folder = tmp_path_factory.mktemp("train") / "uninterrupted"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loop, "official", small_test)
        train(tiny(folder))
    return contents(folder)


# ---- settings


@pytest.mark.parametrize("model", MODELS)
def test_what_is_not_given_is_as_the_models_paper_has_it_and_then_as_the_protocol_has_it(model):
    settings = Settings("bfs", model=model).resolved()
    own = {"steps": 10_000, "batch": 32, "learning_rate": 1e-3, "clip": 1.0, "sizes": None, "random_positions": True}
    own["validate_every"] = 80 if model == "rt" else 50
    if model == "rt":
        own |= dict(steps=80_000, batch=4, learning_rate=2.5e-4, clip=math.inf, sizes=(16,), random_positions=False)
    assert {name: getattr(settings, name) for name in own} == own
    assert settings.size == find(model).size
    assert settings.seed == 0


def test_what_is_given_is_taken():
    settings = Settings("bfs", model="rt", steps=160, clip=2.0, random_positions=True, sizes=(4,)).resolved()
    assert (settings.steps, settings.clip, settings.random_positions, settings.sizes) == (160, 2.0, True, (4,))
    assert settings.batch == 4


@pytest.mark.parametrize("model", ["rnar", "rt"])
def test_settings_survive_json(model):
    settings = Settings(("bfs", "dfs"), model=model, seed=3).resolved()
    plain = json.loads(json.dumps(settings.plain(), allow_nan=False))
    assert Resolved.from_plain(plain, path=settings.path) == settings


def test_each_run_has_a_folder_of_its_own():
    def path(*tasks: str, **more: object) -> str:
        return Settings(tasks, **more).path.as_posix()  # pyright: ignore[reportArgumentType]

    assert path("bfs") == "runs/bfs/rnar/seed-0"
    assert path("bfs", "dfs", model="mpnn", seed=7) == "runs/bfs+dfs/mpnn/seed-7"
    assert path("bfs", model="my_models:mine") == "runs/bfs/my_models.mine/seed-0"
    assert len(Path(path(*ALGORITHMS)).parts[1]) < 100
    assert path(*ALGORITHMS) != path(*reversed(ALGORITHMS))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (dict(tasks=()), "which task"),
        (dict(tasks=("bsf",)), "no task 'bsf' .did you mean 'bfs'"),
        (dict(tasks=("bfs", "bfs")), "bfs is named twice"),
        (dict(model="rnr"), "no model 'rnr'"),
        (dict(seed=-1), "seed must be a whole number of at least 0, not -1"),
        (dict(steps=0), "steps must be a whole number of at least 1, not 0"),
        (dict(batch=0), "batch must be a whole number of at least 1, not 0"),
        (dict(threads=0), "threads must be"),
        (dict(learning_rate=0.0), "learning_rate must be above 0"),
        (dict(learning_rate=math.inf), "learning_rate must be above 0 and finite, not inf"),
        (dict(learning_rate=math.nan), "learning_rate must be above 0"),
        (dict(clip=-1.0), "clip must be above 0"),
        (dict(sizes=()), "at least one size"),
        (dict(sizes=(1,)), "n=1 is too small"),
        (dict(steps=5), "steps=5 is not a multiple of validate_every=2"),
        (dict(device="tpu"), "no device 'tpu'; choose from auto, cpu"),
        (dict(model=Model("mine", message_passing(Max), training={"lr": 1})), "'mine' sets 'lr'"),
    ],
)
def test_settings_that_make_no_sense_are_refused_and_leave_no_folder(tmp_path, changes, said):
    with pytest.raises(ValueError, match=said):
        train(tiny(tmp_path / "run", **changes))
    assert not (tmp_path / "run").exists()


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_a_device_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(ValueError, match="there is no device 'cuda' here; there is cpu"):
        train(tiny(tmp_path / "run", device="cuda"))


# ---- data


def test_training_data_are_those_of_the_standard_protocol():
    with training_data(Settings("bfs", seed=4).resolved(), "bfs") as ours, Stream("bfs", 4) as theirs:
        assert ours.state == theirs.state
        assert next(ours).hints.keys() == {"reach_h", "pi_h", "pi_h_reversed"}


@pytest.mark.parametrize("task", ALGORITHMS)
def test_the_relational_transformer_learns_from_problems_like_the_official_ones(task):
    theirs = official(task, "val")
    with training_data(Settings(task, model="rt").resolved(), task) as stream:
        ours = next(stream)
        assert find_task(task).problem.complete(stream.state["options"]) == find_task(task).problem.options
    pos = {x.tobytes() for x in theirs.inputs["pos"]}
    assert ours.nodes == theirs.nodes and ours.size == 4
    assert {x.tobytes() for x in ours.inputs["pos"]} <= pos


@pytest.mark.parametrize("task", ["bfs", "kmp_matcher"])
def test_validation_is_on_the_same_samples_in_every_run(task):
    one, other = (validation_set(Settings(task, seed=seed).resolved(), task) for seed in (0, 1))
    sizes = (20,) if task == "kmp_matcher" else (16,)
    expected = next(Stream(task, VALIDATION_SEED, 128, sizes, ahead=0))
    assert one.size == 128
    for name, array in expected.inputs.items():
        assert np.array_equal(one.inputs[name], array) and np.array_equal(other.inputs[name], array)


# ---- the run folder


def test_the_reported_score_is_that_of_the_best_network_on_the_official_set(finished):
    run, result = finished
    batch = run.model.batch(official("bfs", "test"))
    with torch.no_grad():
        expected = scores(run.model.spec("bfs"), run.network().eval()(batch).outputs, batch.outputs)
    assert result.score == pytest.approx(expected["score"], abs=1e-6)
    assert result.tests["bfs"].outputs == pytest.approx({"pi": expected["pi"]}, abs=1e-6)
    low, high = result.tests["bfs"].interval
    assert low <= result.score <= high and low < high
    assert result.tests["bfs"].samples == 32


def test_fewer_samples_to_test_on_are_the_first_of_the_official_ones(small, tmp_path):
    result = train(tiny(tmp_path / "run", test_samples=2))
    run = Run(tmp_path / "run")
    expected = evaluate(Workers(run.network(), 1), run.model.batch(small_test("bfs", "test").part(slice(2))))
    assert (result.tests["bfs"].samples, result.score) == (2, pytest.approx(expected.score))


def test_a_run_from_before_there_were_settings_for_the_test_is_read():
    plain = tiny(Path("run")).resolved().plain()
    del plain["test_samples"]
    assert Resolved.from_plain(plain).test_samples is None


def test_the_best_network_is_the_earliest_that_did_best_in_validation(finished):
    run, result = finished
    found = [line["validation"] for line in run.metrics]
    assert [line["step"] for line in run.metrics] == [0, 2, 4, 6]
    assert result.validation == max(found)
    assert result.best_step == 2 * found.index(max(found))
    batch = validation_set(run.settings, "bfs")
    with torch.no_grad():
        again = scores(run.model.spec("bfs"), run.network().eval()(batch).outputs, batch.outputs)["score"]
    assert again == pytest.approx(result.validation, abs=1e-6)


def test_the_folder_says_all_about_the_run(finished):
    run, result = finished
    assert sorted(p.name for p in run.path.iterdir() if p.name[0] != ".") == [
        "best.safetensors", "config.json", "metrics.jsonl", "result.json", "state.safetensors"
    ]  # fmt: skip
    assert run.settings == replace(tiny(run.path).resolved(), threads=None, wider_samples=32)
    (environment,) = run.config["environments"]
    assert environment["torch"] == torch.__version__ and environment["threads"] == 1
    assert run.config["data"]["bfs"]["sizes"] == [4, 5]
    assert run.result == result
    assert result.parameters == sum(p.numel() for p in run.network().parameters())
    assert result.steps == 6 and result.seconds > 0 and result.memory_mb > 10


def test_the_metrics_are_the_means_since_the_line_before(small, tmp_path):
    class Losses(Watch):
        found: list[float] = []

        def stepped(self, step: int, loss: float) -> None:
            self.found.append(loss)

    train(tiny(tmp_path / "run"), Losses())
    first, *lines = Run(tmp_path / "run").metrics
    pairs = np.array(Losses.found).reshape(3, 2).mean(axis=1)
    assert first["loss"] is None and first["losses"] == {}
    assert [line["loss"] for line in lines] == pytest.approx(pairs.tolist())
    assert [sum(line["losses"]["bfs"].values()) for line in lines] == pytest.approx(pairs.tolist())
    assert lines[0]["losses"]["bfs"].keys() == {"pi", "reach_h", "pi_h", "pi_h_reversed"}


def test_a_step_is_adams_on_clipped_gradients_of_the_next_batch(small, tmp_path):
    """Written out once more, with PyTorch's own unfused optimiser.

    Adam's moments are compared everywhere. The weights are where gradients are more than rounding errors, which Adam
    blows up to steps of full length: the bias of a pointer's logits changes nothing, for example.
    """
    settings = tiny(tmp_path / "run", steps=2, clip=0.1, learning_rate=0.01).resolved()
    train(settings)
    reasoner = settings.recipe.build("bfs", 8, seed=0).train()
    optimiser = torch.optim.Adam(reasoner.parameters(), 0.01, foreach=False)
    with training_data(settings, "bfs") as stream:
        for _ in range(2):
            reasoner.zero_grad()
            reasoner.backward(next(stream))
            torch.nn.utils.clip_grad_norm_(reasoner.parameters(), 0.1)
            optimiser.step()
    state, _ = training_files.unpack((tmp_path / "run" / "state.safetensors").read_bytes(), Path("state"))
    meant = 0
    for name, parameter in reasoner.named_parameters():
        kept = optimiser.state[parameter]
        for moment in ("exp_avg", "exp_avg_sq"):
            torch.testing.assert_close(state[f"adam/{moment}/{name}"], kept[moment], rtol=1e-3, atol=1e-7)
        real = kept["exp_avg_sq"].sqrt() > 1e-6  # of gradients whose norm is 0.1
        meant += int(real.sum())
        torch.testing.assert_close(state[f"weights/{name}"][real], parameter.detach()[real], rtol=1e-3, atol=1e-4)
    assert meant > 0.5 * sum(p.numel() for p in reasoner.parameters())


def test_a_generalist_learns_validates_and_is_tested_on_each_task(small, tmp_path):
    tasks = ("bfs", "minimum")
    result = train(tiny(tmp_path / "run", tasks=tasks))
    run = Run(tmp_path / "run")
    assert result.tests.keys() == set(tasks)
    assert result.score == pytest.approx(np.mean([test.score for test in result.tests.values()]))
    for line in run.metrics[1:]:
        assert line["losses"].keys() == line["validations"].keys() == set(tasks)
        assert line["validation"] == pytest.approx(np.mean(list(line["validations"].values())))
    state, notes = training_files.unpack((run.path / "state.safetensors").read_bytes(), run.path)
    updates = {name: int(tensor) for name, tensor in state.items() if name.startswith("adam/step/")}
    assert {n for name, n in updates.items() if ".processor." not in f".{name[10:]}"} == {6}
    assert max(updates.values()) == 12  # the processor learns from both
    assert [notes["streams"][task]["next"] for task in tasks] == [6, 6]


def test_the_penalty_of_g_forgetnet_grows_with_training(small, tmp_path, monkeypatch):
    told = []
    processor = type(find("g-forgetnet").processor(8))
    monkeypatch.setattr(processor, "progress", lambda self, fraction: told.append(fraction))
    train(tiny(tmp_path / "run", model="g-forgetnet", steps=4))
    assert told == [0.0, 0.25, 0.5, 0.75]


def test_a_model_of_yours_is_trained_as_it_is(small, tmp_path):
    mine = Model("mine", message_passing(Max), size=8)
    result = train(tiny(tmp_path / "run", model=mine, size=None))
    assert Run(tmp_path / "run", mine).network().processor.size == 8
    assert train(tiny(tmp_path / "run", model=mine)) == result
    with pytest.raises(ValueError, match="no model 'mine' here"):
        Run(tmp_path / "run")


def test_random_networks_learn_the_same_from_the_same_seed_only(small, tmp_path):
    runs = [("a", 0), ("b", 0), ("c", 1)]
    for name, seed in runs:
        train(tiny(tmp_path / name, seed=seed, model="rnar-janossy-1"))
    a, b, c = (contents(tmp_path / name) for name, _ in runs)
    assert a == b
    assert a["state"] != c["state"]


# ---- what is no run


def test_what_is_no_run_is_refused(tmp_path, finished):
    run, _ = finished
    with pytest.raises(ValueError, match="is no folder of a run: it has no config.json"):
        Run(tmp_path)
    config = tmp_path / "config.json"
    for text, said in [("{", "not JSON"), ("[]", "does not have settings"), ('{"settings": 3}', "does not have")]:
        config.write_text(text)
        with pytest.raises(ValueError, match=f"config.json is damaged or not of a run.*{said}"):
            Run(tmp_path)
    config.write_text((run.path / "config.json").read_text())
    with pytest.raises(ValueError, match="has no best.safetensors"):
        Run(tmp_path).network()


def test_weights_that_do_not_fit_are_named(tmp_path, finished):
    run, _ = finished
    weights, _ = training_files.unpack((run.path / "best.safetensors").read_bytes(), run.path)
    (tmp_path / "config.json").write_text((run.path / "config.json").read_text())
    best = tmp_path / "best.safetensors"

    def refused(changed: dict[str, torch.Tensor]) -> str:
        best.write_bytes(training_files.pack(changed, {}))
        with pytest.raises(ValueError) as caught:
            Run(tmp_path).network()
        assert str(caught.value).startswith(f"{best} does not fit the run's network: it ")
        return str(caught.value)

    one, *_ = weights
    assert refused({name: x for name, x in weights.items() if name != one}).endswith(f"it lacks {one}")
    assert refused({**weights, "more": torch.zeros(1)}).endswith("it has besides more")
    assert f"it has in other shapes {one} (1, 2) for" in refused({**weights, one: torch.zeros(1, 2)})
    best.write_bytes((run.path / "best.safetensors").read_bytes()[:-1])
    with pytest.raises(ValueError, match="best.safetensors is damaged or not of a run"):
        Run(tmp_path).network()


# ---- going on


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


def test_another_number_of_threads_is_noted_and_no_other_run(small, tmp_path):
    class First(Watch):
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


# ---- trouble


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


def test_gradients_that_are_no_numbers_end_training_before_the_weights_are_spoiled(small, tmp_path):
    with pytest.raises(ValueError, match="no numbers any more at step [1-9]"):
        train(tiny(tmp_path / "run", learning_rate=1e30, steps=20))
    state, _ = training_files.unpack((tmp_path / "run" / "state.safetensors").read_bytes(), tmp_path)
    assert all(torch.isfinite(tensor).all() for tensor in state.values())


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_step_saves_and_the_same_call_goes_on(small, uninterrupted, tmp_path, number):
    class Impatient(Watch):
        stopped_at: int | None = None

        def stepped(self, step: int, loss: float) -> None:
            if step == 3:
                signal.raise_signal(number)

        def stopped(self, step: int) -> None:
            self.stopped_at = step

    def terminated(*_: object) -> None:
        raise KeyboardInterrupt

    watch, before = Impatient(), signal.signal(signal.SIGTERM, terminated)
    try:
        with pytest.raises(KeyboardInterrupt):
            train(tiny(tmp_path / "run"), watch)
        assert signal.getsignal(signal.SIGTERM) is terminated
    finally:
        signal.signal(signal.SIGTERM, before)
    assert watch.stopped_at == 4  # the step at hand was finished first
    assert not (tmp_path / "run" / "result.json").exists()
    train(tiny(tmp_path / "run"))
    assert contents(tmp_path / "run") == uninterrupted


def test_training_in_a_thread_leaves_signals_alone(small, tmp_path):
    found = []
    thread = threading.Thread(target=lambda: found.append(train(tiny(tmp_path / "run"))))
    thread.start()
    thread.join()
    assert found[0].steps == 6


def test_without_tensorboard_that_is_said(small, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard.writer", None)
    with pytest.raises(ValueError, match=r"TensorBoard is not installed here; pip install 'rnar\[tensorboard\]'"):
        train(tiny(tmp_path / "run", tensorboard=True))
    assert not (tmp_path / "run").exists()


def test_events_for_tensorboard_are_the_metrics(small, tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    train(tiny(tmp_path / "run", tensorboard=True))
    events = EventAccumulator(str(tmp_path / "run" / "tensorboard")).Reload()
    metrics = Run(tmp_path / "run").metrics
    for name in ("validation", "best", "loss"):
        found = {event.step: event.value for event in events.Scalars(name)}
        assert found == pytest.approx({line["step"]: line[name] for line in metrics if line[name] is not None})


def test_the_python_way_of_the_readme(small, tmp_path):
    result = train(tiny(tmp_path / "run", model=find("mpnn")))
    assert rnar.clrs.official("bfs", "test").size == 32 and 0 <= result.score <= 1
