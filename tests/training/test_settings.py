"""Settings: what is not given, what is refused, where a run is kept."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
import torch

from helpers.training import tiny
from rnar.clrs import ALGORITHMS
from rnar.models import MODELS, Model, find, message_passing
from rnar.nn.aggregators import Max
from rnar.training import Settings, train
from rnar.training.config import read_settings
from rnar.training.run import read_metrics
from rnar.training.settings import SETTINGS


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
    assert Settings.from_plain(plain, folder=settings.path) == settings


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
        (dict(seed=-1), "seed must be a whole number from 0 to 9,223,372,036,854,775,807, not -1"),
        (dict(steps=0), "steps must be a whole number from 1 to 1,000,000,000, not 0"),
        (dict(batch=0), "batch must be a whole number from 1 to 1,000,000, not 0"),
        (dict(threads=0), "threads must be"),
        (dict(steps=10**30), "steps must be .* to 1,000,000,000, not 10000"),
        (dict(seed=10**5000), "seed must be .*, not a number of 16610 bits"),
        (dict(learning_rate="1e400"), "learning_rate must be a number above 0, and finite, not '1e400'"),
        (dict(learning_rate=10**400), "learning_rate must be a number above 0, and finite, not a number of 1329 bits"),
        (dict(model=message_passing), "model must be a name or a Model, not message_passing"),
        (dict(learning_rate=0.0), "learning_rate must be a number above 0"),
        (dict(learning_rate=math.inf), "learning_rate must be a number above 0, and finite, not inf"),
        (dict(learning_rate=math.nan), "learning_rate must be a number above 0"),
        (dict(clip=-1.0), "clip must be a number above 0"),
        (dict(sizes=()), "sizes must be one or several, each a whole number from 1 to"),
        (dict(sizes=(1,)), "n=1 is too small"),
        (dict(precision="float16"), "precision must be bfloat16 or float32, not 'float16'"),
        (dict(steps=5), "steps=5 is not a multiple of validate_every=2"),
        (dict(device="tpu"), "device must be auto, cpu, cuda or mps, not 'tpu'"),
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


def test_a_run_from_before_there_were_settings_for_the_test_is_read():
    plain = tiny(Path("run")).resolved().plain()
    del plain["test_samples"]
    assert Settings.from_plain(plain).test_samples == "auto"


def test_text_and_numpy_are_read_as_numbers():
    settings = Settings("bfs,dfs", sizes="4,8", learning_rate="1e-4", steps="100", test_samples="all", folder="here")
    same = dict(sizes=(4, 8), learning_rate=1e-4, steps=100, test_samples=None, folder=Path("here"))
    assert settings == Settings(("bfs", "dfs"), **same)
    assert Settings("bfs", sizes=np.array([4, 8]), seed=np.int64(3)) == Settings("bfs", sizes=(4, 8), seed=3)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("hidden_size", "say size"),
        ("epochs", "say steps"),
        ("stepz", "did you mean 'steps'.*; there are tasks, model"),
    ],
)
def test_a_setting_of_another_name_is_told_its_own(name, said):
    with pytest.raises(ValueError, match=f"there is no setting '{name}'.*{said}"):
        Settings("bfs", **{name: 3})


def test_settings_are_known_by_the_names_that_others_have():
    settings = Settings(task="bfs", lr=1e-4, batch_size=8, hidden=64)
    assert settings == Settings("bfs", learning_rate=1e-4, batch=8, size=64)
    assert replace(settings, steps=50).steps == 50 and pickle.loads(pickle.dumps(settings)) == settings


def test_names_of_before_go_on_working_with_a_warning(tmp_path):
    with pytest.warns(DeprecationWarning, match="wider_n is called ood_n now") as warned:
        settings = Settings("bfs", wider_n=64)
    assert settings == Settings("bfs", ood_n=64) and warned[0].filename == __file__
    with pytest.warns(DeprecationWarning, match="anyway is called allow_code_change now"):
        assert settings.anyway is False
    with pytest.warns(DeprecationWarning) as warned, pytest.raises(ValueError, match="ood_samples must be"):
        train("bfs", wider_samples=-1)
    assert warned[0].filename == __file__
    file = tmp_path / "older.toml"
    file.write_text("wider_samples = 4\n")
    assert read_settings(file) == {"ood_samples": 4}


def test_metrics_of_before_are_read_by_the_names_of_now(tmp_path):
    line = dict(step=1, loss=None, losses={}, validation=0.5, validations={}, best=0.5, best_step=1, seconds=1.0)
    line |= dict(memory_mb=1.0, wider={"bfs": 0.5}, wider_n=64, wider_average={"bfs": 0.6})
    (tmp_path / "metrics.jsonl").write_text(json.dumps(line) + "\n")
    (read,) = read_metrics(tmp_path / "metrics.jsonl")
    assert (read["ood"], read["ood_n"], read["ood_average"]) == ({"bfs": 0.5}, 64, {"bfs": 0.6})


def test_help_tells_what_each_field_and_argument_means():
    for documented in (Settings, Model):
        for each in fields(documented):
            assert f"\n    {each.name}: " in documented.__doc__, each.name
    for name in (*SETTINGS, "callback", "quiet"):
        assert f"    {name}: " in train.__doc__


def test_train_takes_tasks_and_settings_by_the_names_that_others_have(tmp_path):
    with pytest.raises(ValueError, match="batch must be .*, not 0"):
        train("bfs", batch_size=0)
    with pytest.raises(ValueError, match="two of lr, learning_rate are the same setting"):
        train("bfs", lr=0.1, learning_rate=0.2)
    with pytest.raises(ValueError, match="learning_rate must be .*, not -1"):
        train(tiny(tmp_path / "run"), lr=-1)
