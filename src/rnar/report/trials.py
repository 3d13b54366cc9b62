"""Evaluating the networks in run folders."""

import time
from collections.abc import Callable, Iterable, Iterator
from functools import reduce
from pathlib import Path
from typing import NamedTuple

import torch

from rnar.evaluation.evaluate import Evaluation, evaluate
from rnar.evaluation.memory import step_bytes
from rnar.evaluation.sets import ProblemSet
from rnar.nn.reasoner import Reasoner
from rnar.report.runs import Row, Tell, configured
from rnar.report.scores import LARGEST_SEEN, Score, Trial, in_order
from rnar.runtime.memory import all_memory
from rnar.runtime.workers import Workers
from rnar.training.run import BEST, CONFIG, Run


class Outcome(NamedTuple):
    """How a network of a run did on a set of problems."""

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

    @property
    def largest_seen(self) -> int:
        """The largest size of training."""
        return max(self.run.settings.sizes or [LARGEST_SEEN])

    def score(self, row: Row | None = None) -> Score:
        """In the table of scores: one of the runs of a row, or else by itself."""
        recipe, settings, problems = row.recipe if row else str(self.run.path), self.run.settings, self.problems
        row = row or Row(problems.task, settings.name, settings.seed, False, self.step, settings.steps)
        return Score(
            row, recipe, self.trial, problems.n, self.evaluation.score, self.interval, problems.samples,
            self.largest_seen, self.evaluation.hints,
        )  # fmt: skip


def runs_in(paths: Iterable[Path], tell: Tell, refuse: Tell) -> list[Run]:
    """The runs at these folders, and below them, each once. `tell` hears of those below that have no network yet,
    `refuse` of those that cannot be read."""
    runs = {}
    for path in paths:
        folders = configured(path)
        if (path / CONFIG).is_file() or not path.is_dir():
            some = [Run(path)]
        elif any((folder / BEST).is_file() for folder in folders):
            some = _with_networks(folders, tell, refuse)
        else:
            raise ValueError(f"there is no run with a network in {path} or below; `rnar train` makes one")
        runs |= {run.path.resolve(): run for run in some}
    return list(runs.values())


def with_networks(rows: Iterable[Row], tell: Tell, refuse: Tell) -> list[tuple[Run, list[str]]]:
    """The runs of these rows that have a network, and which of their tasks are in the rows."""
    tasks: dict[Path, dict[str, None]] = {}
    for row in sorted(rows, key=lambda row: in_order(row.task, row.model)):
        if row.path is None:
            raise ValueError("this needs the networks of run folders: a CSV has only what came out in the end")
        tasks.setdefault(row.path, {})[row.task] = None
    ready = [(run, list(tasks[run.path])) for run in _with_networks(tasks, tell, refuse)]
    if not ready:
        raise ValueError("no run here has a network yet")
    return ready


def _with_networks(folders: Iterable[Path], tell: Tell, refuse: Tell) -> Iterator[Run]:
    for folder in folders:
        if not (folder / BEST).is_file():
            tell(f"{folder} is left out: it has no {BEST} yet")
            continue
        try:
            yield Run(folder)
        except (ValueError, OSError) as error:
            refuse(f"{folder} is left out: {error}")


def with_sets(
    runs: Iterable[tuple[Run, Iterable[str]]], sets_of: Callable[[Run, str], list[ProblemSet]], refuse: Tell
) -> list[tuple[Run, list[ProblemSet]]]:
    """Runs and tasks with the sets that they are evaluated on: those `sets_of` each run and task.

    A run whose task cannot be imported does not stop the others.
    """
    work, errors = [], {}
    for run, tasks in runs:
        try:
            work.append((run, [problems for task in tasks for problems in sets_of(run, task)]))
        except ValueError as error:
            errors[run.path] = error
    if errors and not work:
        raise next(iter(errors.values()))
    for path, error in errors.items():
        refuse(f"{path} is left out: {error}")
    return work


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
        _check_memory(reasoner, problems)
        start, nodes, parts = time.perf_counter(), 0, []
        for batch in problems.batches():
            nodes, part, batch = batch.nodes, batch.size / problems.samples, batch.beginning(trial.after)
            told = lambda share, part=part: progress(part * share)  # noqa: E731
            view, precision = run.model.batch, trial.precision
            parts.append(evaluate(workers, batch, hints=hints, progress=told, view=view, precision=precision))
        evaluation = reduce(Evaluation.__add__, parts)
        yield Outcome(run, problems, nodes, evaluation, evaluation.interval(), time.perf_counter() - start, trial, step)


def _check_memory(reasoner: Reasoner, problems: ProblemSet) -> None:
    """Raise where not even one sample would fit."""
    needed, there = step_bytes(reasoner, problems.task, problems.length), all_memory()
    if there is not None and needed > there:
        raise ValueError(
            f"{problems.task}: n={problems.n} is too large for this network: a step of one sample needs about "
            f"{needed / 1e9:.0f} GB, and this machine has {there / 1e9:.0f}"
        )
