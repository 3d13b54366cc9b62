"""The tests at the end of a run: of the selected network, the last one, and the average of the weights.

At n = 64 they may take hours. Their counts are noted after every few samples, so that a process that is stopped or
killed goes on from there. Where nobody asked for a number of samples, comparing and testing take no longer than
training did: how many samples there is time for is decided once, and noted. All networks are tested on the same.
"""

from __future__ import annotations

import math
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
from rnar.training.portions import portions
from rnar.training.result import Amount, Candidate, Count, Result, Tested
from rnar.training.run import NETWORKS, Which
from rnar.training.watch import Callback

LEAST = 20.0
"""seconds that comparing and testing may take, however short training was"""
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
    compared: Count | None = None
    """on how many samples; older notes do not say"""
    selecting: Amount = 0.0
    """seconds that the comparison took"""
    samples: dict[str, Count] = field(default_factory=dict)
    """for how many of each task there was time"""
    found: dict[Which, dict[str, Counts]] = field(default_factory=dict)
    """by network and task"""
    seconds: Amount = 0.0
    """of all processes that worked on them"""


class Testing:
    """The tests of a run that has ended."""

    def __init__(self, learner: Learner, folder: Folder, callback: Callback):
        self.learner, self.folder, self.callback = learner, folder, callback
        self.path = folder.path / TESTS
        self._start = time.perf_counter()

    def result(self) -> Result:
        """Try the selected network on the test sets, once; the last one too, and the average of the weights."""
        learner, tests = self.learner, {}
        try:
            selected = self._selected()
            self.folder.keep(selected)
            networks, tasks = learner.networks(selected), learner.settings.tasks
            for which, weights in networks.items():
                with learner.having(weights):
                    shares = [len(networks) * (len(tasks) - k) for k in range(len(tasks))]
                    tests[which] = {task: self._tested(which, task, n) for task, n in zip(tasks, shares, strict=True)}
        except (KeyboardInterrupt, SystemExit):
            self.callback.stopped(learner.step)
            raise
        best, candidates, compared = tests["best"], self.notes.candidates, self.notes.compared
        result = Result(
            score=sum(test.score for test in best.values()) / len(best),
            tests=best,
            validation=selected.score,
            best_step=selected.step,
            steps=learner.step,
            early=learner.step < learner.settings.steps,
            parameters=learner.parameters,
            seconds=round(learner.seconds, 3),
            test_seconds=round(self._seconds, 3),
            memory_mb=round(max(learner.memory_mb, learner.workers.peak_memory() / 1e6), 1),
            candidates=candidates,
            selection_samples=(learner.selection_samples if compared is None else compared) if candidates else 0,
            last=tests.get("last", best),
            average=tests.get("average"),
        )
        self.folder.finish(result)
        return result

    @property
    def _seconds(self) -> float:
        """How long comparing and testing have taken so far."""
        return time.perf_counter() - self._start

    @property
    def _limit(self) -> float:
        """How long they may take, if nobody asked for a number of samples."""
        return max(LEAST, self.learner.seconds)

    @property
    def _left(self) -> float:
        """How much of that is left for the tests: at least half of it in all."""
        selecting = self.notes.selecting
        return self._limit - min(selecting, self._limit / 2) - (self._seconds - selecting)

    def _selected(self) -> Kept:
        """The network that was selected before, or is now."""
        step, code, known = self.learner.step, self.folder.code, self._noted()
        if known is not None and (known.step, known.code) == (step, code):
            for kept in self.learner.candidates:
                if kept.step == known.selected:
                    self.notes = known
                    self._start -= known.seconds
                    return kept
        told = self.callback.selecting(len(self.learner.candidates))
        seconds = self._limit / 2 if self.learner.settings.selection_samples is None else math.inf
        selected, candidates, samples = self.learner.select(seconds, told)
        self.notes = Notes(step, code, selected.step, tuple(candidates), samples, self._seconds)
        self._note()
        return selected

    def _noted(self) -> Notes | None:
        try:
            return msgspec.convert(read_json(self.path, Notes), Notes) if self.path.exists() else None
        except ValueError as error:
            raise ValueError(f"{error}; remove it, and the tests begin anew") from None

    def _note(self) -> None:
        self.notes.seconds = self._seconds
        write_json(self.path, msgspec.to_builtins(self.notes))

    def _tested(self, which: Which, task: str, shares: int) -> Tested:
        """The test of a network on a task, from where it was stopped; so many tests share the time that is left."""
        learner, counts = self.learner, self.notes.found.setdefault(which, {}).setdefault(task, {})
        there, asked = official(task, "test"), learner.settings.test_samples
        most = self.notes.samples.get(task) if asked == "auto" else asked
        seconds = self._left / shares if asked == "auto" and most is None else math.inf
        samples = there.part(slice(most))
        outputs = learner.reasoner.heads_of(task).spec.outputs
        measures = {name: measure_of(feature) for name, feature in outputs.items()}
        done = min(_done(counts, measures, there.size, self.path), samples.size)
        told = self.callback.testing(task, NETWORKS[which]) or (lambda share: None)
        told(done / samples.size)
        for portion in portions(done, samples.size, AT_ONCE, seconds):
            some = samples.part(portion)
            progress = lambda share, part=some.size / samples.size: told(share * part)  # noqa: E731
            evaluation = evaluate(learner.workers, some, progress=progress, view=learner.model.batch)
            for name, tally in evaluation.tallies.items():
                counts.setdefault(name, []).extend(tally.counts.tolist())
            done += some.size
            self._note()
        if asked == "auto":
            self.notes.samples[task] = done
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
