"""The tests at the end of a run: of the selected network, the last one, and the average of the weights.

At n = 64 they may take hours. Their counts are noted after every few samples, so that a process that is stopped or
killed goes on from there.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import numpy as np

from rnar.clrs import official
from rnar.evaluation.evaluate import Evaluation, evaluate
from rnar.evaluation.measures import Measure, Tally, measure_of
from rnar.training.files import TESTS, read_json, write_json
from rnar.training.folder import Folder
from rnar.training.learner import Kept, Learner
from rnar.training.result import Amount, Candidate, Count, Result, Tested
from rnar.training.run import NETWORKS, Which
from rnar.training.watch import Watch

AT_ONCE = 64
"""samples, after which their counts are noted"""

Counts = dict[str, list[list[float]]]
"""the counts of each output at each sample"""


@dataclass
class Notes:
    """The tests of a run so far."""

    step: Count
    """of the run, when it ended"""
    code: dict[str, str]
    """digests of the user's code that computed them"""
    selected: Count
    """the step of the selected network"""
    candidates: tuple[Candidate, ...] = ()
    found: dict[Which, dict[str, Counts]] = field(default_factory=dict)
    """by network and task"""
    seconds: Amount = 0.0
    """of all processes that worked on them"""


class Testing:
    """The tests of a run that has ended."""

    def __init__(self, learner: Learner, folder: Folder, watch: Watch):
        self.learner, self.folder, self.watch = learner, folder, watch
        self.path = folder.path / TESTS
        self._start = time.perf_counter()

    def result(self) -> Result:
        """Try the selected network on the test sets, once; the last one too, and the average of the weights."""
        learner, tests = self.learner, {}
        try:
            selected = self._selected()
            self.folder.keep(selected)
            for which, weights in learner.networks(selected).items():
                with learner.having(weights):
                    tests[which] = {task: self._tested(which, task) for task in learner.settings.tasks}
        except (KeyboardInterrupt, SystemExit):
            self.watch.stopped(learner.step)
            raise
        best, candidates = tests["best"], self.notes.candidates
        result = Result(
            score=sum(test.score for test in best.values()) / len(best),
            tests=best,
            validation=selected.score,
            best_step=selected.step,
            steps=learner.step,
            early=learner.step < learner.settings.steps,
            parameters=learner.parameters,
            seconds=round(learner.seconds, 3),
            test_seconds=round(time.perf_counter() - self._start, 3),
            memory_mb=round(max(learner.memory_mb, learner.workers.peak_memory() / 1e6), 1),
            candidates=candidates,
            selection_samples=learner.selection_samples if candidates else 0,
            last=tests.get("last", best),
            average=tests.get("average"),
        )
        self.folder.finish(result)
        return result

    def _selected(self) -> Kept:
        """The network that was selected before, or is now."""
        step, code, known = self.learner.step, self.folder.code, self._noted()
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

    def _noted(self) -> Notes | None:
        try:
            return msgspec.convert(read_json(self.path, Notes), Notes) if self.path.exists() else None
        except ValueError as error:
            raise ValueError(f"{error}; remove it, and the tests begin anew") from None

    def _note(self) -> None:
        self.notes.seconds = time.perf_counter() - self._start
        write_json(self.path, msgspec.to_builtins(self.notes))

    def _tested(self, which: Which, task: str) -> Tested:
        """The test of a network on a task, from where it was stopped."""
        learner, counts = self.learner, self.notes.found.setdefault(which, {}).setdefault(task, {})
        there = official(task, "test")
        samples = there.part(slice(learner.settings.test_samples))
        outputs = learner.reasoner.heads_of(task).spec.outputs
        measures = {name: measure_of(feature) for name, feature in outputs.items()}
        done = min(_done(counts, measures, there.size, self.path), samples.size)
        told = self.watch.testing(task, NETWORKS[which]) or (lambda share: None)
        told(done / samples.size)
        while done < samples.size:
            some = samples.part(slice(done, done + AT_ONCE))
            progress = lambda share, part=some.size / samples.size: told(share * part)  # noqa: E731
            evaluation = evaluate(learner.workers, some, progress=progress, view=learner.model.batch)
            for name, tally in evaluation.tallies.items():
                counts.setdefault(name, []).extend(tally.counts.tolist())
            done += some.size
            self._note()
        tallies = {name: Tally(measure, np.array(counts[name][:done])) for name, measure in measures.items()}
        return Tested.of(Evaluation(tallies))


def _done(counts: Counts, measures: dict[str, Measure], there: int, path: Path) -> int:
    """How many samples were tried, if their counts make sense."""
    if not counts:
        return 0
    lengths = {len(rows) for rows in counts.values()}
    widths = {name: {len(row) for row in rows} for name, rows in counts.items()}
    if widths != {name: {x.width} for name, x in measures.items()} or len(lengths) > 1 or max(lengths) > there:
        raise ValueError(f"{path} has other tests than the run; remove it, and they begin anew")
    return lengths.pop()
