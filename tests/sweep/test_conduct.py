"""One run after the other, whatever happens to them."""

from __future__ import annotations

import asyncio

import pytest

from helpers.sweeping import SMALL_RUN as TINY
from rnar.sweep.conduct import conduct
from rnar.sweep.engine import Allocation
from rnar.sweep.plan import PlannedRun, plan
from rnar.sweep.presets import Part
from rnar.sweep.process import Outcome

DIED, DONE = Outcome("died", "lightning"), Outcome("done")
FIRST, SECOND, THIRD, FOURTH = (f"bfs rnar seed {k}" for k in range(4))


class Scripted:
    """An engine whose runs end as they are told to, and a display that notes what it is told."""

    def __init__(self, script: dict[str, list[Outcome]], parallel: int):
        self.script, self.allocation = script, Allocation(parallel)
        self.now, self.slots, self.most, self.said = 0, set(), 0, []

    async def train(self, run, allocation, slot):
        self.now += 1
        self.slots.add(slot)
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(0)
            outcome = self.script.get(run.name, [DONE]).pop(0)
            if outcome == "Ctrl-C":
                raise KeyboardInterrupt
            return outcome
        finally:
            self.now -= 1

    def started(self, run, step): ...
    def refresh(self): ...

    def retried(self, run, reason):
        self.said.append(("retried", run.name, reason))

    def ended(self, run, outcome):
        self.said.append((outcome.kind, run.name, outcome.message))

    def kinds(self, name):
        return [kind for kind, other, _ in self.said if other == name]


@pytest.fixture
def conducted(tmp_path):
    runs = plan([Part("bfs", "rnar")], range(4), TINY, tmp_path)
    return lambda engine, retries: asyncio.run(conduct(runs, engine, engine.allocation, retries, engine))


def test_a_failure_is_told_and_the_others_go_on(conducted):
    engine = Scripted({SECOND: [Outcome("failed", "no such thing")]}, parallel=2)
    assert conducted(engine, 3) == {SECOND: "no such thing"}
    assert [engine.kinds(name) for name in (FIRST, SECOND, THIRD, FOURTH)] == [["done"], ["failed"], ["done"], ["done"]]
    assert engine.most == 2 and engine.slots == {0, 1}


def test_who_dies_is_begun_again_but_not_forever(conducted):
    engine = Scripted({FIRST: [DIED, DIED, DONE], SECOND: [DIED] * 9}, parallel=1)
    assert conducted(engine, 2) == {SECOND: "lightning"}
    assert engine.kinds(FIRST) == ["retried", "retried", "done"]
    assert engine.kinds(SECOND) == ["retried", "retried", "died"]


def test_deaths_count_anew_for_a_run_that_came_further(conducted, monkeypatch):
    saved = iter([0, 10, 20, 30, 40, 50])
    monkeypatch.setattr(PlannedRun, "saved_step", property(lambda run: next(saved) if run.name == FIRST else 0))
    assert conducted(Scripted({FIRST: [*[DIED] * 5, DONE]}, parallel=1), 1) == {}


def test_whatever_happens_nothing_is_left_running(conducted):
    engine = Scripted({SECOND: ["Ctrl-C"]}, parallel=2)
    with pytest.raises(KeyboardInterrupt):
        conducted(engine, 3)
    assert engine.now == 0
