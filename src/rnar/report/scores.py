"""The table of scores in long form: a row for each network of a run, size and way of asking it.

All tables and figures of scores are pivots of this one table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean, stdev
from typing import Annotated

import torch
from msgspec import Meta

from rnar.evaluation.measures import Tally
from rnar.nn.heads import HintSource
from rnar.nn.reasoner import Reasoner
from rnar.report.published import MODELS, TASKS, title
from rnar.report.runs import Row, unusual
from rnar.runtime.workers import Precision
from rnar.training.result import Share
from rnar.training.run import NETWORKS, Run, Which

Size = Annotated[int, Meta(ge=1)]
VALIDATION, TEST = 16, 64  # sizes
LARGEST_SEEN = 16  # in training, by the standard protocol


@dataclass(frozen=True)
class Trial:
    """Which network of a run is evaluated, what it is fed as hints, how exactly it computes, and when it is asked."""

    which: Which = "best"
    hard: bool | None = None
    """hints as decisions or as what the logits suggest; None: as it was trained"""
    source: HintSource = "network"
    precision: Precision = "float32"
    after: Share = 1.0
    """the share of an algorithm's steps after which the answer is asked for"""

    def network(self, run: Run, device: str | torch.device) -> Reasoner:
        reasoner = run.network(device, self.which)
        hard = reasoner.hints.hard if self.hard is None else self.hard
        reasoner.hints = replace(reasoner.hints, hard=hard, source=self.source)
        return reasoner

    def __str__(self) -> str:
        """What is unusual about it, in words."""
        network = "" if self.which == "best" else NETWORKS[self.which]
        fed = {"truth": "true hints fed in", "nothing": "no hints fed in", "network": ""}[self.source]
        rounded = "" if self.precision == "float32" else f"products in {self.precision}"
        asked = "" if self.after == 1 else f"asked after {self.after:.0%} of the steps"
        return ", ".join(filter(None, [network, fed, "hard hints" if self.hard else "", rounded, asked]))


@dataclass(frozen=True)
class Score:
    """A row of the table."""

    run: Row
    """task, model, seed, and what the run took"""
    recipe: str
    """the same for runs that differ in nothing but seed and steps"""
    trial: Trial
    """the network, its hints, and how it was asked"""
    n: Size
    score: Share | None
    """None: not yet known"""
    interval: tuple[Share, Share] | None = None
    """95%, if other samples had been drawn"""
    samples: Size | None = None
    largest_seen: Size = LARGEST_SEEN
    """size of training"""
    hints: Mapping[str, Tally] = field(default_factory=dict)
    """how well each is predicted, if that was asked for"""


def table(rows: Iterable[Row]) -> list[Score]:
    """The scores of runs: each network on the test set, and the selected one in validation."""
    scores = []
    for row in rows:
        bounds = None if row.test_low is None or row.test_high is None else (row.test_low, row.test_high)
        for which, score in row.tests.items():
            if score is not None:
                interval = bounds if which == "best" else None
                scores.append(Score(row, row.recipe, Trial(which), TEST, score, interval, row.test_samples))
        scores.append(Score(row, row.recipe, Trial(), VALIDATION, row.validation))
    return scores


def longest(rows: Iterable[Row]) -> list[Row]:
    """Of runs of the same task, model, recipe and seed the longest finished one, and one that is under way if it has
    come further."""
    same: dict[tuple[str, str, str, int], list[Row]] = {}
    for row in sorted(rows, key=lambda row: -row.steps):
        same.setdefault((row.task, row.model, row.recipe, row.seed), []).append(row)
    kept = []
    for some in same.values():
        ends, ahead = ([row for row in some if (row.test_n64 is None) == under_way][:1] for under_way in (False, True))
        kept += ends + [row for row in ahead if not ends or row.steps > ends[0].steps]
    return kept


@dataclass(frozen=True)
class Group:
    """The scores of runs that differ in nothing but seed and steps: one measurement."""

    scores: tuple[Score, ...]

    @property
    def task(self) -> str:
        return self.scores[0].run.task

    @property
    def model(self) -> str:
        return self.scores[0].run.model

    @property
    def runs(self) -> list[Row]:
        """The longest of each seed."""
        in_steps = sorted(self.scores, key=lambda score: (score.run.seed, score.run.steps))
        return list({score.run.seed: score.run for score in in_steps}.values())

    @property
    def unfinished(self) -> list[Row]:
        return self.where(lambda score: score.run.test_n64 is None).runs

    @property
    def sizes(self) -> list[int]:
        return sorted({score.n for score in self.scores})

    def where(self, chosen: Callable[[Score], bool]) -> Group:
        return Group(tuple(filter(chosen, self.scores)))

    def at(self, n: int) -> Group:
        return self.where(lambda score: score.n == n)

    def tested(self, which: Which = "best") -> Group:
        """The tests of one network of each run."""
        return self.where(lambda score: score.n == TEST and score.trial.which == which)

    @property
    def values(self) -> list[float]:
        """In percent."""
        return [100 * score.score for score in self.scores if score.score is not None]

    @property
    def mean(self) -> float | None:
        return mean(self.values) if self.values else None

    @property
    def spread(self) -> str:
        """The standard deviation over seeds, if there are several."""
        return f"{stdev(self.values):.2f}" if len(self.values) > 1 else ""

    @property
    def bars(self) -> tuple[float, float]:
        """How far the error bars reach below and above the mean: the standard deviation, or of one seed the 95%
        interval."""
        if len(self.values) > 1:
            return stdev(self.values), stdev(self.values)
        (value,), interval = self.values, self.scores[0].interval
        return (0.0, 0.0) if interval is None else (value - 100 * interval[0], 100 * interval[1] - value)

    @property
    def unusual(self) -> str:
        """Which settings are not as usual, in words; the steps are told elsewhere."""
        return unusual(self.scores[0].run)

    @property
    def label(self) -> str:
        """In a figure."""
        seeds = [run.seed for run in self.runs]
        which = f"seed {seeds[0]}" if len(seeds) == 1 else f"mean of {len(seeds)} seeds"
        return ", ".join(filter(None, [title(self.model), which, str(self.scores[0].trial)]))


Groups = dict[tuple[str, str], list[Group]]
"""By task and model; the first of several is the one that represents the model."""


def grouped(scores: Iterable[Score]) -> Groups:
    """Runs with other settings never come into one group."""
    parts: dict[tuple[str, str, str], list[Score]] = {}
    for score in sorted(scores, key=lambda score: in_order(score.run.task, score.run.model)):
        parts.setdefault((score.run.task, score.run.model, score.recipe), []).append(score)
    groups: Groups = {}
    for (task, model, _), some in parts.items():
        groups.setdefault((task, model), []).append(Group(tuple(sorted(some, key=lambda score: score.run.seed))))
    return {key: sorted(some, key=_rank) for key, some in groups.items()}


def by_task(scores: Iterable[Score]) -> dict[str, list[Group]]:
    tasks: dict[str, list[Group]] = {}
    for (task, _), groups in grouped(scores).items():
        tasks.setdefault(task, []).extend(groups)
    return tasks


def _rank(group: Group) -> tuple[bool, bool, int, int, int, str]:
    """First what has a test and sees all inputs, then the longest runs, the most usual settings, the most seeds."""
    tested = group.tested().scores
    steps = max(score.run.steps for score in tested or group.scores)
    settings, oddities = group.scores[0].run.settings, [word for word in group.unusual.split(", ") if word]
    return not tested, "without=" in settings, -steps, len(oddities), -len(tested), settings


def in_order(task: str, model: str) -> tuple[int, str, int, str]:
    """As the paper has tasks and models, and then all others by name."""
    return [*TASKS, task].index(task), task, [*MODELS, model].index(model), model


def steps_of(rows: Iterable[Row]) -> str:
    """How many steps runs took: a number, or the range."""
    return span(row.steps for row in rows)


def span(numbers: Iterable[int]) -> str:
    """The lowest and the highest, or the one that all are."""
    some = set(numbers)
    return "–".join(map(str, sorted({min(some), max(some)})))


def sample_counts(scores: Sequence[Score]) -> str:
    """How many samples each score is of, in words: one number if that does not depend on the size."""
    sizes = sorted({score.n for score in scores})
    counts = {n: " or ".join(map(str, sorted({score.samples or 0 for score in scores if score.n == n}))) for n in sizes}
    if len(set(counts.values())) == 1:
        return counts[sizes[0]]
    return ", ".join(f"{count} (n = {n})" for n, count in counts.items())
