"""Networks that ship: how they are made, and that training can go on from them."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

import rnar
from helpers.inference import untrained
from helpers.training import tiny
from rnar.cli.main import main
from rnar.evaluation.evaluate import evaluate
from rnar.inference import pretrained
from rnar.inference.pretrained import copy_run, read_card
from rnar.training import Run, train
from ship_network import probed, ship


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A run with an average of the weights."""
    folder = tmp_path_factory.mktemp("runs") / "run"
    train(tiny(folder, tasks=("segments_intersect",), average=0.9, test_samples=4))
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_it_is_stored_in_half_and_scored_as_it_is_stored(run, tmp_path):
    before = contents(run)
    card = ship(run, tmp_path / "net", samples=40)
    assert contents(run) == before  # nothing is written there
    stored, trained = load_file(tmp_path / "net" / "best.safetensors"), load_file(run / "best.safetensors")
    assert all(torch.equal(stored[name], x.half()) for name, x in trained.items())
    assert card == read_card(tmp_path / "net") and card.tasks == ("segments_intersect",)
    batch = rnar.clrs.official("segments_intersect", "test").part(slice(40))
    solver = rnar.load(tmp_path / "net")
    found = evaluate(solver.reasoner, batch, view=solver.run.model.batch)
    test = card.tests["segments_intersect"]
    assert (test.score, test.samples, test.interval) == (found.score, 40, found.interval())
    assert solver.tests == card.tests and solver.steps == card.step == Run(run).result.best_step
    assert (card.steps, card.seed, card.model, card.which, card.whole) == (6, 0, "rnar", "best", False)
    assert f"score is {test.score:.1%}" not in "".join(solver.solve([0, 1, 0, 1], [0, 1, 1, 0]).notes)


def test_the_scores_of_the_first_samples_are_written_down_one_by_one(run, tmp_path):
    card = ship(run, tmp_path / "net", samples=40)
    solver = rnar.load(tmp_path / "net")
    for probe in card.probes["segments_intersect"]:
        found = evaluate(solver.reasoner, probed("segments_intersect", probe["n"]), view=solver.run.model.batch)
        np.testing.assert_allclose(found.tallies["intersect"].each, probe["scores"])
        assert len(probe["sure"]) == 32 and 0.5 <= min(probe["sure"])


def test_once_more_changes_nothing_and_a_better_one_stays(run, tmp_path):
    said: list[str] = []
    first = ship(run, tmp_path / "net", samples=40)
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "net").iterdir()}
    assert ship(run, tmp_path / "net", samples=40, say=said.append) == first and "has it already" in said[-1]
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "net").iterdir()} == before
    card = json.loads((tmp_path / "net" / "card.json").read_text())
    card["tests"]["segments_intersect"]["score"] = 1.0
    (tmp_path / "net" / "card.json").write_text(json.dumps(card))
    with pytest.raises(ValueError, match=r"has a better network: 100.00% where this one has .*; --force replaces it"):
        ship(run, tmp_path / "net", "average", samples=40)
    assert ship(run, tmp_path / "net", "average", samples=40, force=True).which == "average"


@pytest.mark.parametrize("which", ["best", "last", "average"])
def test_any_network_of_a_run_can_ship(run, tmp_path, which):
    card = ship(run, tmp_path / "net", which, samples=4)
    expected = Run(run).network(which=which).state_dict()
    stored = load_file(tmp_path / "net" / "best.safetensors")
    assert all(torch.equal(stored[name], x.half()) for name, x in expected.items())
    assert card.which == which and card.validation is not None


def test_training_goes_on_from_it(run, tmp_path, capsys):
    card = ship(run, tmp_path / "net", samples=4)
    command = copy_run(tmp_path / "net", tmp_path / "again")
    words = shlex.split(command)
    assert words[:3] == ["rnar", "train", "segments_intersect"] and "--average" in words and "--size" in words
    assert main([*words[1:], "--threads", "1"]) == 0
    lines = Run(tmp_path / "again").metrics
    steps = int(words[words.index("--steps") + 1])
    assert lines[0]["step"] > card.step and lines[-1]["step"] == steps
    assert f"step {steps}" in capsys.readouterr().out
    with pytest.raises(ValueError, match="is not empty; choose another folder"):
        copy_run(tmp_path / "net", tmp_path / "again")
    with pytest.raises(ValueError, match="is no network that ships: it has no card.json"):
        copy_run(run, tmp_path / "other")


def test_the_first_step_of_going_on_starts_from_the_stored_weights(run, tmp_path):
    ship(run, tmp_path / "net", samples=4)
    copy_run(tmp_path / "net", tmp_path / "again")
    state = load_file(tmp_path / "again" / "state.safetensors")
    stored = load_file(tmp_path / "net" / "best.safetensors")
    assert all(torch.equal(state[f"weights/{name}"], x.float()) for name, x in stored.items())


def test_a_network_is_found_by_the_tasks_it_has_learned(tmp_path, monkeypatch):
    for name, tasks in {"minimum": ("minimum",), "few": ("bfs", "minimum")}.items():
        untrained(tmp_path / name, *tasks)
        card = json.loads((pretrained.home() / "minimum" / "card.json").read_text())
        (tmp_path / name / "card.json").write_text(json.dumps({**card, "tasks": tasks}))
    monkeypatch.setattr(pretrained, "home", lambda: tmp_path)
    assert pretrained.names() == ["few", "minimum"]
    assert pretrained.for_task("minimum") == tmp_path / "minimum" and pretrained.for_task("bfs") == tmp_path / "few"
    assert pretrained.for_task("dfs") is None
    with pytest.raises(ValueError, match="no network 'minimun' .did you mean 'minimum'.. ships with rnar"):
        pretrained.folder_of("minimun")


def test_the_tool_of_maintainers_writes_where_it_is_told(run, tmp_path):
    import runpy
    import sys

    tool = Path(__file__).parents[2] / "tools" / "ship_network.py"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(tool), str(run), "--samples", "4", "--threads", "1", "--into", str(tmp_path)])
        runpy.run_path(str(tool), run_name="__main__")
    assert sorted(contents(tmp_path / "segments_intersect")) == ["best.safetensors", "card.json", "config.json"]
