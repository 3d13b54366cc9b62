"""The learning rate over training, and the decay of weights."""

from __future__ import annotations

import math
import signal
import sys

import pytest
import torch

from helpers.command import refused, runner
from helpers.training import contents, small_test, tiny
from rnar.runtime import backward
from rnar.training import Callback, Run, Settings, files, testing, train
from rnar.training.data import training_data
from rnar.training.schedules import SCHEDULES, factor, find, name_of


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(testing, "official", small_test)


def one(done: float) -> float:
    return 1.0


def halved(done: float) -> float:
    return 0.5 if done >= 0.5 else 1.0


def half_a_number(done: float) -> float:
    return math.nan if done else 1.0


@pytest.mark.parametrize("name", SCHEDULES)
def test_a_schedule_begins_at_one_and_is_never_negative(name):
    assert factor(name, 0.0) == 1.0
    assert all(factor(name, k / 100) >= 0 for k in range(101))


@pytest.mark.parametrize(("schedule", "decay"), [("cosine", 0.0), ("constant", 0.5), (halved, 0.1)])
def test_a_step_is_that_of_pytorchs_own_optimiser_and_scheduler(tmp_path, schedule, decay):
    """Weights are compared where gradients are more than rounding errors, which Adam blows up to full steps."""
    given = dict(steps=4, clip=0.1, learning_rate=0.01, schedule=schedule, weight_decay=decay, model="mpnn")
    settings = tiny(tmp_path / "run", **given).resolved()
    train(settings)
    reasoner = settings.architecture.build("bfs", 8, seed=0).train()
    optimiser = torch.optim.AdamW(reasoner.parameters(), 0.01, weight_decay=decay, foreach=False)
    schedulers = {
        "cosine": lambda: torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=4),
        "constant": lambda: torch.optim.lr_scheduler.ConstantLR(optimiser, 1.0),
        halved: lambda: torch.optim.lr_scheduler.MultiStepLR(optimiser, [2], gamma=0.5),
    }
    scheduler = schedulers[schedule]()
    with training_data(settings, "bfs") as stream:
        for _ in range(4):
            reasoner.zero_grad()
            backward(reasoner, next(stream))
            torch.nn.utils.clip_grad_norm_(reasoner.parameters(), 0.1)
            optimiser.step()
            scheduler.step()
    state, _ = files.unpack((settings.path / "state.safetensors").read_bytes(), settings.path)
    compared = 0
    for name, parameter in reasoner.named_parameters():
        real = optimiser.state[parameter]["exp_avg_sq"].sqrt() > 1e-6
        compared += int(real.sum())
        torch.testing.assert_close(state[f"weights/{name}"][real], parameter.detach()[real], rtol=1e-3, atol=1e-4)
    assert compared > 0.5 * sum(p.numel() for p in reasoner.parameters())


def test_a_schedule_of_ones_own_that_is_always_one_changes_no_bit(tmp_path):
    train(tiny(tmp_path / "usual", steps=4))
    train(tiny(tmp_path / "own", steps=4, schedule=one))
    assert contents(tmp_path / "usual") == contents(tmp_path / "own")
    assert Run(tmp_path / "own").settings.schedule == f"{__name__}:one"


def test_a_run_with_a_schedule_goes_on_where_it_was_stopped(tmp_path):
    class Impatient(Callback):
        def stepped(self, step: int, loss: float) -> None:
            if step == 3:
                signal.raise_signal(signal.SIGINT)

    train(tiny(tmp_path / "whole", schedule=halved))
    with pytest.raises(KeyboardInterrupt):
        train(tiny(tmp_path / "run", schedule=halved), Impatient())
    train(tiny(tmp_path / "run", schedule=halved))
    assert contents(tmp_path / "run") == contents(tmp_path / "whole")


def test_a_run_whose_schedule_goes_by_its_length_is_not_taken_further(tmp_path):
    train(tiny(tmp_path / "run", steps=4, schedule="cosine"))
    before = contents(tmp_path / "run")
    with pytest.raises(
        ValueError, match="a run of 4 steps, and with the schedule cosine it learns by how much of them"
    ):
        train(tiny(tmp_path / "run", steps=6, schedule="cosine"))
    assert contents(tmp_path / "run") == before


def test_one_in_a_file_is_found_by_its_place_and_kept_by_that_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "my_rates.py").write_text("NUMBER = 3\n\ndef falling(done):\n    return 1 - done\n")
    train(tiny(tmp_path / "run", schedule="my_rates:falling", steps=2))
    assert find("my_rates:falling")(0.25) == 0.75
    assert Run(tmp_path / "run").settings.schedule == name_of(find("my_rates:falling")) == "my_rates:falling"
    with pytest.raises(ValueError, match="'my_rates' has no schedule 'rising'; it has falling"):
        find("my_rates:rising")
    with pytest.raises(ValueError, match="'my_rates' has no schedule 'NUMBER'; it has falling"):
        find("my_rates:NUMBER")


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            dict(schedule="cosin"),
            "no schedule 'cosin' .did you mean 'cosine'..; there are constant, cosine, and module",
        ),
        (dict(schedule="nowhere:rate"), "cannot import 'nowhere' for the schedule 'nowhere:rate'"),
        (
            dict(schedule="my-rates:rate"),
            "does not name a schedule in a module, as my_schedules:warmup",
        ),
        (dict(schedule=lambda done: 1.0), "remembers its schedule by name, and this one has none; .* with def"),
        (dict(schedule=3), "the schedule 3 is 3; it must be a function"),
        (dict(weight_decay=-0.1), "weight_decay must be a number of at least 0, and finite, not -0.1"),
        (dict(weight_decay=math.nan), "weight_decay must be a number of at least 0, and finite, not nan"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(tmp_path, changes, said):
    with pytest.raises(ValueError, match=said):
        train(tiny(tmp_path / "run", **changes))
    assert not (tmp_path / "run").exists()


def test_a_factor_that_is_no_number_ends_training_with_a_line_that_says_when(tmp_path):
    with pytest.raises(ValueError, match=r"half_a_number gives nan after 50% of training; the learning rate is mul"):
        train(tiny(tmp_path / "run", steps=2, schedule=half_a_number))


def test_an_unknown_schedule_is_one_line_on_the_command_line(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    run = runner(capsys, "train", "bfs")
    refused(run("--schedule", "cosin"), "no schedule 'cosin' (did you mean 'cosine'?)")
    refused(run("--weight-decay", "-1"), "weight_decay must be a number of at least 0, and finite, not '-1'")


def test_a_schedule_of_a_models_paper_is_the_default_of_that_model():
    from dataclasses import replace

    from rnar.models import find as find_model

    model = replace(find_model("mpnn"), name="mine", training=dict(schedule="cosine", weight_decay=0.1))
    resolved = Settings("bfs", model=model).resolved()
    assert (resolved.schedule, resolved.weight_decay) == ("cosine", 0.1)
    assert Settings("bfs", model=model, schedule="constant").resolved().schedule == "constant"
