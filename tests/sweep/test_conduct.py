"""One run after the other, whatever happens to them."""

from __future__ import annotations

import pytest

from helpers.sweeping import SMALL_RUN as TINY
from rnar.sweep.child import Outcome
from rnar.sweep.conduct import Event, conduct
from rnar.sweep.plan import Job, plan
from rnar.sweep.presets import Part


class Scripted:
    """An engine whose jobs end as they are told to."""

    def __init__(self, script: dict[str, list[Outcome]], begins: dict[str, list[int]] | None = None):
        self.script, self.begins = script, begins or {}
        self.now: list[Job] = []
        self.most, self.stopped, self.said = 0, False, []

    def start(self, job):
        self.now.append(job)
        self.most = max(self.most, len(self.now))

    def events(self):
        job = self.now.pop(0)
        steps = self.begins.get(job.name)
        yield Event(job, {"begun": steps.pop(0) if steps else 0})
        yield Event(job, outcome=self.script.get(job.name, [Outcome("done", value=0.5)]).pop(0))

    def stop(self):
        self.stopped = True

    def started(self, job): ...
    def told(self, job, message): ...
    def waited(self): ...

    def retried(self, job, words):
        self.said.append(("retried", job.name, words))

    def ended(self, job, outcome):
        self.said.append((outcome.kind, job.name, outcome.words))


@pytest.fixture
def jobs(tmp_path):
    return plan([Part("bfs", "rnar")], range(4), TINY, tmp_path)


DIED, DONE = Outcome("died", "lightning"), Outcome("done", value=1.0)


def test_a_failure_is_told_and_the_others_go_on(jobs):
    engine = Scripted({"bfs rnar seed 1": [Outcome("failed", "no such thing")]})
    assert conduct(jobs, engine, 2, 3, engine) == {"bfs rnar seed 1": "no such thing"}
    assert [kind for kind, _, _ in engine.said] == ["done", "failed", "done", "done"]
    assert engine.most == 2 and engine.stopped


def test_who_dies_is_begun_again_but_not_forever(jobs):
    engine = Scripted({"bfs rnar seed 0": [DIED, DIED, DONE], "bfs rnar seed 1": [DIED] * 9})
    assert conduct(jobs, engine, 1, 2, engine) == {"bfs rnar seed 1": "lightning"}
    assert [kind for kind, name, _ in engine.said if name == "bfs rnar seed 0"] == ["retried", "retried", "done"]
    assert [kind for kind, name, _ in engine.said if name == "bfs rnar seed 1"] == ["retried", "retried", "died"]


def test_deaths_count_anew_for_a_run_that_came_further(jobs):
    engine = Scripted({"bfs rnar seed 0": [*[DIED] * 5, DONE]}, {"bfs rnar seed 0": [0, 10, 20, 30, 40, 50]})
    assert conduct(jobs, engine, 1, 1, engine) == {}


def test_whatever_happens_nothing_is_left_running(jobs):
    engine = Scripted({})
    engine.events = lambda: (_ for _ in ()).throw(KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        conduct(jobs, engine, 2, 3, engine)
    assert engine.stopped
