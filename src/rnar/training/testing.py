"""The tests at the end of a run: of the selected network, the last one, and the average of the weights.

At n = 64 they may take hours. What was found is noted after every few samples, so that who is stopped or killed goes on
from there.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from rnar.clrs import official
from rnar.evaluation.evaluate import Evaluation, evaluate
from rnar.evaluation.measures import Measure, Tally, measure_of
from rnar.training.files import TESTS
from rnar.training.folder import Folder
from rnar.training.learner import Kept, Learner
from rnar.training.result import Amount, Candidate, Count, Result, Tested
from rnar.training.run import NETWORKS, Which
from rnar.training.watch import Watch

AT_ONCE = 64
"""samples, after which what was found is noted"""

Counts = dict[str, list[list[float]]]
"""of each output, what was counted of each sample"""


@dataclass
class Notes:
    """What is known of the tests of a run."""

    step: Count
    """of the run, when it ended"""
    code: dict[str, str]
    """of a user, by which it was found"""
    selected: Count
    """the step of the network that was chosen"""
    candidates: tuple[Candidate, ...] = ()
    found: dict[Which, dict[str, Counts]] = field(default_factory=dict)
    """by network and task"""
    seconds: Amount = 0.0
    """that it took"""


def test(learner: Learner, folder: Folder, watch: Watch) -> Result:
    """Try the selected network on the test sets, once; the last one too, and the average of the weights."""
    testing = Testing(learner, folder, watch)
    try:
        return testing.result()
    except (KeyboardInterrupt, SystemExit):
        watch.stopped(learner.step)
        raise


class Testing:
    """The tests of a run that has ended."""

    def __init__(self, learner: Learner, folder: Folder, watch: Watch):
        self.learner, self.folder, self.watch = learner, folder, watch
        self._start = time.perf_counter()

    def result(self) -> Result:
        learner, selected = self.learner, self._selected()
        self.folder.keep(selected)
        found: dict[Which, dict[str, Tested]] = {}
        for which, weights in learner.networks(selected).items():
            with learner.having(weights):
                found[which] = {task: self._tested(which, task) for task in learner.settings.tasks}
        tests, candidates = found["best"], self.notes.candidates
        result = Result(
            score=sum(test.score for test in tests.values()) / len(tests),
            tests=tests,
            validation=selected.score,
            best_step=selected.step,
            steps=learner.step,
            early=learner.step < learner.settings.steps,
            parameters=learner.parameters,
            seconds=round(learner.seconds, 3),
            test_seconds=round(self._seconds, 3),
            memory_mb=round(max(learner.memory_mb, learner.workers.peak_memory() / 1e6), 1),
            candidates=candidates,
            selection_samples=learner.selection_samples if candidates else 0,
            last=found.get("last", tests),
            average=found.get("average"),
        )
        self.folder.finish(result)
        return result

    def _selected(self) -> Kept:
        """The network that was selected before, or is now."""
        step, code = self.learner.step, self.folder.code
        known = self.folder.noted(Notes)
        if known is not None and (known.step, known.code) == (step, code):
            for kept in self.learner.candidates:
                if kept.step == known.selected:
                    self.notes = known
                    self._start -= known.seconds
                    return kept
        self.watch.selecting(len(self.learner.candidates))
        selected, candidates = self.learner.select()
        self.notes = Notes(step, code, selected.step, tuple(candidates))
        self._note()
        return selected

    @property
    def _seconds(self) -> float:
        """of all tests, also those before this process"""
        return time.perf_counter() - self._start

    def _note(self) -> None:
        self.notes.seconds = self._seconds
        self.folder.note(self.notes)

    def _tested(self, which: Which, task: str) -> Tested:
        """The test of a network on a task, from where it was stopped."""
        learner, counts = self.learner, self.notes.found.setdefault(which, {}).setdefault(task, {})
        there = official(task, "test")
        samples = there.part(slice(learner.settings.test_samples))
        measures = {name: measure_of(each) for name, each in learner.reasoner.heads_of(task).spec.outputs.items()}
        done = min(_done(counts, measures, there.size, self.folder.path), samples.size)
        told = self.watch.testing(task, NETWORKS[which]) or (lambda share: None)
        told(done / samples.size)
        while done < samples.size:
            some = samples.part(slice(done, done + AT_ONCE))
            progress = lambda share, part=some.size / samples.size: told(share * part)  # noqa: E731
            found = evaluate(learner.workers, some, progress=progress, view=learner.model.batch)
            for name, tally in found.tallies.items():
                counts.setdefault(name, []).extend(tally.counts.tolist())
            done += some.size
            self._note()
        tallies = {name: Tally(each, np.array(counts[name][:done])) for name, each in measures.items()}
        return Tested.of(Evaluation(tallies))


def _done(counts: Counts, measures: dict[str, Measure], there: int, folder: Path) -> int:
    """How many samples were tried, if what was counted of them makes sense."""
    if not counts:
        return 0
    lengths = {len(each) for each in counts.values()}
    widths = all(len(row) == measures[name].width for name, each in counts.items() if name in measures for row in each)
    if counts.keys() != measures.keys() or len(lengths) > 1 or max(lengths) > there or not widths:
        raise ValueError(f"{folder / TESTS} has other tests than the run; remove it, and they begin anew")
    return lengths.pop()
