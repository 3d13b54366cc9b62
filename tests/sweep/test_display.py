"""What is shown of a sweep while it goes on."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from helpers.sweeping import SETTINGS
from helpers.training import small_test
from rnar.sweep.conduct import Display
from rnar.sweep.plan import PlannedRun, plan, summary
from rnar.sweep.presets import Part
from rnar.sweep.process import Outcome
from rnar.training import testing, train


def test_in_a_terminal_there_is_a_bar_for_all_and_one_for_each(tmp_path, monkeypatch):
    monkeypatch.setattr(testing, "official", small_test)
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120, highlight=False)
    runs = plan([Part("bfs", "rnar")], [0, 1], SETTINGS, tmp_path)
    steps = dict.fromkeys(runs, 0)
    shown = Display(console, runs)
    with monkeypatch.context() as patch, shown.bars:
        patch.setattr(PlannedRun, "step", property(steps.__getitem__))
        for run in runs:
            shown.started(run, 0)
        steps[runs[0]] = 2  # of 4
        shown.refresh()
        assert shown.share == pytest.approx(2 / 8)
        shown.bars.refresh()
        result = train(runs[0].settings)
        steps[runs[0]] = 4
        shown.refresh()
        shown.bars.refresh()
        assert shown.share == pytest.approx(4 / 8)
        shown.ended(runs[0], Outcome("done"))
        shown.ended(runs[1], Outcome("failed", "the disk is full"))
        assert shown.share == 1.0
    bars = "all runs.*0 of 2.*bfs rnar seed 0.*step 2 of 4.*bfs rnar seed 1.*step 0 of 4.*bfs rnar seed 0.*test"
    assert re.search(bars, screen.getvalue(), re.DOTALL)
    assert f"1 of 2  bfs rnar seed 0: {result.score:.2%}" in screen.getvalue()
    assert "2 of 2  bfs rnar seed 1: failed: the disk is full" in screen.getvalue()
    assert summary(runs, Path("here")) == "2 runs in here (1 task, 1 model, 2 seeds): 2 new"


def test_the_share_is_of_the_steps_that_were_left(tmp_path, monkeypatch):
    monkeypatch.setattr(testing, "official", small_test)
    train(plan([Part("bfs", "rnar")], [0], SETTINGS, tmp_path)[0].settings)
    further = plan([Part("bfs", "rnar")], [0, 1], {**SETTINGS, "steps": 10}, tmp_path)
    assert [run.step for run in further] == [4, 0]
    log = io.StringIO()
    shown = Display(Console(file=log, highlight=False), further)
    shown.started(further[0], 4)
    assert (shown.total, shown.share) == (16, 0.0)
    shown.ended(further[0], Outcome("failed", "no more"))
    assert shown.share == pytest.approx(6 / 16)
    assert re.fullmatch(
        r"bfs rnar seed 0 goes on from step 4\n1 of 2  bfs rnar seed 0: failed: no more  \(about .* left\)\n",
        log.getvalue(),
    )
