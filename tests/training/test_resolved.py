"""What is asked for and what it comes to; older runs, which know less."""

from __future__ import annotations

import ast
import json
from dataclasses import fields
from pathlib import Path

import pytest

import rnar
from helpers.training import contents, small_test, tiny
from rnar.cli.train import given, settings_flags
from rnar.models import MODELS, find
from rnar.report.runs import Row, settings_text, unusual
from rnar.training import Run, Settings, testing, train
from rnar.training.settings import HOW, OLDER, refuse_others

MAY_BE_NONE = {"patience", "start", "sizes", "average", "selection_samples", "test_samples", "threads", "memory"}


@pytest.mark.parametrize("model", MODELS)
def test_every_model_comes_to_settings_without_gaps(model):
    resolved = Settings("bfs", model=model).resolved()
    none = {each.name for each in fields(resolved) if getattr(resolved, each.name) is None}
    assert none <= MAY_BE_NONE
    assert resolved.resolved() is resolved
    assert resolved.size == find(model).size


def test_the_command_line_library_is_imported_by_the_command_line_alone():
    house = Path(rnar.__file__).parent
    for path in house.rglob("*.py"):
        names = [
            name
            for node in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(node, (ast.Import, ast.ImportFrom))
            for name in ([each.name for each in node.names] if isinstance(node, ast.Import) else [node.module or ""])
        ]
        assert "cli" in path.relative_to(house).parts or not any(name.startswith("tyro") for name in names), path


def test_flags_give_what_was_written_and_nothing_else():
    flags = settings_flags(hidden=("seed",)).constructor_factory()
    assert issubclass(flags, Settings)
    assert given(flags()) == {}
    some: dict = dict(steps="many", sizes=("4,8",), allow_code_change=True)
    assert given(flags(**some)) == some


# ---- older runs


def older(plain: dict) -> dict:
    """As a run has it that was made before these settings were there."""
    return {name: value for name, value in plain.items() if name not in OLDER}


def test_a_setting_that_an_older_run_does_not_have_is_as_it_was_run(tmp_path):
    settings = tiny(tmp_path / "run", selection_samples=None).resolved()
    plain = older(json.loads(json.dumps(settings.plain())))
    assert plain.keys() == {
        "tasks", "model", "seed", "steps", "batch", "learning_rate", "clip", "sizes", "random_positions", "size",
        "validate_every", "validation_samples",
    }  # fmt: skip
    how = {name: getattr(settings, name) for name in (*HOW, "folder")}
    assert Settings.from_plain(plain, **how) == settings
    refuse_others(plain, settings)


def test_how_networks_are_compared_in_the_end_may_be_chosen_for_a_run_that_is_older(tmp_path):
    plain = older(tiny(tmp_path / "run").resolved().plain())
    refuse_others(plain, tiny(tmp_path / "run", selection_samples=7).resolved())
    for changes in (dict(average=0.9), dict(schedule="cosine"), dict(weight_decay=0.1), dict(without="pos")):
        (name,) = changes
        with pytest.raises(ValueError, match=f"run has a run with other settings: {name} is .* there and .* here"):
            refuse_others(plain, tiny(tmp_path / "run", **changes).resolved())


def test_a_run_from_before_schedules_goes_on_as_it_would_have(tmp_path, monkeypatch):
    monkeypatch.setattr(testing, "official", small_test)
    train(tiny(tmp_path / "whole", steps=4))
    path = tmp_path / "older"
    train(tiny(path, steps=2))
    config = json.loads((path / "config.json").read_text())
    for name in ("schedule", "weight_decay"):
        del config["settings"][name]
    (path / "config.json").write_text(json.dumps(config))
    assert Run(path).settings.schedule == "constant" and Run(path).settings.path == path
    train(tiny(path, steps=4))
    assert contents(path) == contents(tmp_path / "whole")


def row(settings: str) -> Row:
    known = dict.fromkeys((each.name for each in fields(Row)), None) | dict(task="bfs", model="rnar", seed=0)
    return Row(**{**known, "settings": settings})  # pyright: ignore[reportArgumentType]


def test_rows_of_runs_stay_the_same_when_a_setting_is_added(tmp_path):
    plain = Settings("bfs").resolved().plain()
    assert settings_text(plain) == settings_text(older(plain))
    assert unusual(row(settings_text(plain))) == ""


def test_rows_tell_schedules_and_decay_that_are_not_usual():
    plain = Settings("bfs", schedule="cosine", weight_decay=0.01).resolved().plain()
    text = settings_text(plain)
    assert 'schedule="cosine" weight_decay=0.01' in text
    assert unusual(row(text)) == "schedule cosine, weight decay 0.01"
