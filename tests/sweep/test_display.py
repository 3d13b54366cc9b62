"""What is shown of a sweep while it goes on."""

from __future__ import annotations

import io
import re

import pytest
from rich.console import Console

from helpers.sweeping import (
    SETTINGS,
)
from rnar.sweep.child import Outcome
from rnar.sweep.display import Display, summary
from rnar.sweep.estimate import Cost
from rnar.sweep.plan import plan
from rnar.sweep.presets import Part


def test_in_a_terminal_there_is_a_bar_for_all_and_one_for_each(tmp_path):
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=120, highlight=False)
    jobs = plan([Part("bfs", "rnar")], [0, 1], SETTINGS, tmp_path)
    with Display(console, jobs, {("bfs", "rnar"): Cost(start=0.0, training=8.0, test=2.0, memory=0)}) as shown:
        for job in jobs:
            shown.started(job)
        shown.told(jobs[0], {"begun": 0})
        shown.told(jobs[0], {"step": 2})  # of 4
        assert shown.share == pytest.approx(4 / 20)
        shown.told(jobs[0], {"tested": 0.5})
        assert shown.share == pytest.approx(9 / 20)
        shown.bar.refresh()
        shown.ended(jobs[0], Outcome("done", value=0.25))
        shown.ended(jobs[1], Outcome("failed", "the disk is full"))
        assert shown.share == 1.0
    assert re.search("all runs.*0 of 2.*bfs rnar seed 0.*test.*bfs rnar seed 1.*starts", screen.getvalue(), re.DOTALL)
    assert "1 of 2  bfs rnar seed 0: 25.00%" in screen.getvalue()
    assert "2 of 2  bfs rnar seed 1: failed: the disk is full" in screen.getvalue()
    assert summary(jobs, "here") == "2 runs in here (1 task, 1 model, 2 seeds): 2 new"
