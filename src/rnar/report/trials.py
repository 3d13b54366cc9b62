"""Evaluating what training has left in folders."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import NamedTuple, Protocol

import torch

from rnar.engine.memory import all_memory
from rnar.engine.workers import Workers
from rnar.evaluation.evaluate import Evaluation, evaluate
from rnar.evaluation.memory import step_bytes
from rnar.evaluation.sets import ProblemSet
from rnar.nn.reasoner import HintSource, Precision, Reasoner
from rnar.report.groups import in_order
from rnar.report.rows import Row
from rnar.training.run import BEST, CONFIG, NETWORKS, Run, Which

Tell = Callable[[str], None]


class Trial(NamedTuple):
    """Which network of a run is tried, what it is fed as hints, how exactly it computes, and when it is asked."""

    which: Which = "best"
    hard: bool | None = None
    """hints as decisions or as what the logits suggest; None: as it was trained"""
    source: HintSource = "network"
    precision: Precision = "float32"
    after: float = 1.0
    """the share of an algorithm's steps after which the answer is asked for"""

    def network(self, run: Run, device: str | torch.device) -> Reasoner:
        reasoner = run.network(device, self.which)
        hard = reasoner.feeding.hard if self.hard is None else self.hard
        reasoner.feeding = replace(reasoner.feeding, hard=hard, source=self.source)
        return reasoner

    def __str__(self) -> str:
        """What is unusual about it, in words."""
        said = "" if self.which == "best" else NETWORKS[self.which]
        fed = {"truth": "true hints fed in", "nothing": "no hints fed in", "network": ""}[self.source]
        rounded = "" if self.precision == "float32" else f"products in {self.precision}"
        asked = "" if self.after == 1 else f"asked after {self.after:.0%} of the steps"
        return ", ".join(filter(None, [said, fed, "hard hints" if self.hard else "", rounded, asked]))


class Sized(Protocol):
    """So many samples of one size."""

    @property
    def n(self) -> int: ...
    @property
    def samples(self) -> int: ...


class Outcome(NamedTuple):
    """How the best network of a run did on a set of problems."""

    run: Run
    problems: ProblemSet
    nodes: int
    """how many a problem has"""
    evaluation: Evaluation
    interval: tuple[float, float]
    seconds: float
    trial: Trial
    step: int
    """of training, after which the network was so"""


def unusual(trials: Iterable[Trial]) -> list[str]:
    """What is unusual about how all were tried, in a sentence; nothing if it is as ever."""
    each = dict.fromkeys(str(trial._replace(source="network", after=1.0)) for trial in trials)
    said = ", or with ".join(filter(None, each))
    return [f"{'With' if len(each) == 1 else 'Some with'} {said}."] if said else []


def counted(sets: Iterable[Sized]) -> str:
    """How many samples each score is of, in words: one number if that does not depend on the size."""
    each: dict[int, set[int]] = {}
    for one in sorted(sets, key=lambda one: one.n):
        each.setdefault(one.n, set()).add(one.samples)
    words = {n: " or ".join(map(str, sorted(some))) for n, some in each.items()}
    if len(set(words.values())) == 1:
        return words.popitem()[1]
    return ", ".join(f"{count} (n = {n})" for n, count in words.items())


def runs_in(paths: Iterable[Path], tell: Tell, refuse: Tell) -> list[Run]:
    """The runs at these folders, and below them, each once. `tell` hears of those below that have no network yet,
    `refuse` of those that cannot be read."""
    found = {}
    for path in paths:
        if (path / CONFIG).is_file() or not path.is_dir():
            found[path.resolve()] = Run(path)
            continue
        ready = list(_with_best(sorted(config.parent for config in path.rglob(CONFIG)), tell))
        if not ready:
            raise ValueError(f"there is no run with a network in {path} or below; `rnar train` makes one")
        found.update({run.path.resolve(): run for run in _readable(ready, refuse)})
    return list(found.values())


def _readable(folders: Iterable[Path], refuse: Tell) -> Iterator[Run]:
    for folder in folders:
        try:
            yield Run(folder)
        except (ValueError, OSError) as error:
            refuse(f"{folder} is left out: {error}")


def with_networks(rows: Iterable[Row], tell: Tell, refuse: Tell) -> list[tuple[Run, list[str]]]:
    """The runs of these rows that have a network, and which of their tasks are in the rows."""
    tasks: dict[Path, dict[str, None]] = {}
    for row in sorted(rows, key=lambda row: in_order(row.task, row.model)):
        if row.path is None:
            raise ValueError("this needs the networks of run folders: a CSV has only what came out in the end")
        tasks.setdefault(row.path, {})[row.task] = None
    ready = [(run, list(tasks[run.path])) for run in _readable(_with_best(tasks, tell), refuse)]
    if not ready:
        raise ValueError("no run here has a network yet")
    return ready


def _with_best(folders: Iterable[Path], tell: Tell) -> Iterator[Path]:
    for folder in folders:
        if (folder / BEST).is_file():
            yield folder
        else:
            tell(f"{folder} is left out: it has no {BEST} yet")


def evaluated(
    run: Run,
    sets: Iterable[ProblemSet],
    hints: bool = False,
    device: str | torch.device = "cpu",
    threads: int | None = None,
    progress: Callable[[float], None] = lambda share: None,
    trial: Trial = Trial(),  # noqa: B008 (it cannot change)
) -> Iterator[Outcome]:
    """Try a network of a run on sets of its tasks. `progress` is told which share of a set is done."""
    reasoner, step = trial.network(run, device), run.step_of(trial.which)
    workers = Workers(reasoner, threads)
    for problems in sets:
        check_memory(reasoner, problems)
        start, nodes, parts = time.perf_counter(), 0, []
        for batch in problems.batches():
            nodes, part, batch = batch.nodes, batch.size / problems.samples, batch.beginning(trial.after)
            told = lambda share, part=part: progress(part * share)  # noqa: E731
            view, precision = run.model.batch, trial.precision
            parts.append(evaluate(workers, batch, hints=hints, progress=told, view=view, precision=precision))
        evaluation = reduce(Evaluation.__add__, parts)
        yield Outcome(run, problems, nodes, evaluation, evaluation.interval(), time.perf_counter() - start, trial, step)


def check_memory(reasoner: Reasoner, problems: ProblemSet) -> None:
    """Raise where not even one sample would fit."""
    needed, there = step_bytes(reasoner, problems.task, problems.length), all_memory()
    if there is not None and needed > there:
        raise ValueError(
            f"{problems.task}: n={problems.n} is too large for this network: a step of one sample needs about "
            f"{needed / 1e9:.0f} GB, and this machine has {there / 1e9:.0f}"
        )
