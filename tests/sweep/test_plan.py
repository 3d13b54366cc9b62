"""Which runs there are to be, and how far each is."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.sweeping import SMALL_RUN as TINY
from helpers.training import small_test, tiny
from rnar.cli import train as command
from rnar.cli.main import main
from rnar.sweep.plan import PlannedRun, plan, train_arguments
from rnar.sweep.presets import Part
from rnar.training import Settings, testing, train
from rnar.training.learner import Learner


def test_runs_are_where_train_puts_them_and_the_first_seed_comes_first(tmp_path):
    runs = plan([Part("bfs,dfs", "rnar"), Part("dfs", "rnar,mpnn")], [0, 3], TINY, tmp_path)
    assert [run.name for run in runs] == [
        "bfs rnar seed 0", "dfs rnar seed 0", "dfs mpnn seed 0", "bfs rnar seed 3", "dfs rnar seed 3", "dfs mpnn seed 3"
    ]  # fmt: skip
    for run in runs:
        usual = Settings(tasks=(run.task,), model=run.model, seed=run.settings.seed).path
        assert run.settings.path == tmp_path / usual.relative_to("runs")


def test_a_plan_knows_how_far_each_run_is(tmp_path, monkeypatch):
    monkeypatch.setattr(testing, "official", small_test)

    def planned(seed: int, **changes: int) -> PlannedRun:
        return plan([Part("bfs", "rnar")], [seed], {**TINY, **changes}, tmp_path)[0]

    assert (planned(0).standing, planned(0).step, planned(0).saved_step) == ("new", 0, 0)
    result = train(tiny(tmp_path / "bfs/rnar/seed-0"))
    assert (planned(0).standing, planned(0).result) == ("finished", result)
    assert (planned(0, steps=8).standing, planned(0).step, planned(0).saved_step) == ("begun", 6, 6)
    assert planned(0, steps=4).standing == "further"
    (tmp_path / "bfs/rnar/seed-0/result.json").unlink()
    assert planned(0).standing == "begun"
    with pytest.raises(ValueError, match="batch is 3 there and 2 here; choose another --folder"):
        planned(0, batch=2)


def test_a_run_that_patience_ended_goes_on_with_more_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr(testing, "official", small_test)
    monkeypatch.setattr(Learner, "_scores", lambda self, sets: dict.fromkeys(sets, 0.5))  # no better than at first

    def planned(**changes: int) -> PlannedRun:
        return plan([Part("bfs", "rnar")], [0], {**TINY, "steps": 20, **changes}, tmp_path)[0]

    result = train(tiny(tmp_path / "bfs/rnar/seed-0", steps=20, patience=4))
    assert result.early and (planned(patience=4).standing, planned(patience=4).result) == ("finished", result)
    assert planned(patience=4, steps=40).standing == "finished"
    assert (planned(patience=8).standing, planned(patience=8).step) == ("begun", 4)
    assert planned().standing == "begun"


@pytest.mark.parametrize(
    "settings",
    [
        Settings("bfs"),
        Settings(
            "dfs", model="my_models:mine", seed=3, folder=Path("a folder"), allow_code_change=True, tensorboard=True
        ),
        Settings("bfs", sizes=(4, 5), learning_rate=1e-5, clip=float("inf"), random_positions=False, memory=0.25),
        Settings("dfs", start="runs/bfs", schedule="cosine", without=("s", "pos"), average=0.999, patience=100),
        Settings("bfs", precision="bfloat16", test_samples=4, threads=2, device="cpu", selection_samples=0),
    ],
)
@pytest.mark.usefixtures("my_models")
def test_rnar_train_is_given_all_settings_of_a_run(monkeypatch, settings):
    asked: list[Settings] = []
    monkeypatch.setattr(command, "train_network", lambda run, watch: asked.append(run))
    monkeypatch.setattr(command, "lines", lambda *_: [])
    assert main(["train", *train_arguments(settings.resolved())]) == 0
    assert asked == [settings.resolved()]
