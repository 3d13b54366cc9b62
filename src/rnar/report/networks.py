"""Figures for which the networks of runs are tried: score against size, and hints along the steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import torch

from rnar.evaluation.sets import problem_sets
from rnar.report.groups import in_order
from rnar.report.rows import Row
from rnar.report.trial_figures import drawn, hints_along_steps, lines, scores_against_size
from rnar.report.trials import Outcome, evaluated
from rnar.training.run import BEST, Run

SIZES, OFFICIAL = (4, 8, 16, 32, 64), (64,)


class Trial(NamedTuple):
    """What networks are tried on, and by what."""

    n: tuple[int, ...]
    samples: int | None
    """of each size; None: as many as the official set has"""
    hints: bool
    device: torch.device
    threads: int | None


def outcomes(
    rows: Iterable[Row], trial: Trial, tell: Callable[[str], None], progress: Callable[[str, float], None]
) -> list[Outcome]:
    """How the best networks of runs do on those of their tasks that are in the rows."""
    found: list[Outcome] = []
    for path, tasks in _ready(rows, tell).items():
        sets = [problems for task in tasks for problems in problem_sets(task, trial.n, trial.samples)]
        told = lambda share, path=path: progress(str(path), share)  # noqa: E731
        found += evaluated(Run(path), sets, trial.hints, trial.device, trial.threads, told)
    return found


def _ready(rows: Iterable[Row], tell: Callable[[str], None]) -> dict[Path, list[str]]:
    """The folders that have a network, and its tasks. Those that have none yet are told."""
    tasks: dict[Path, dict[str, None]] = {}
    for row in sorted(rows, key=lambda row: in_order(row.task, row.model)):
        if row.path is None:
            raise ValueError("this figure needs the networks of run folders: a CSV has only what came out in the end")
        tasks.setdefault(row.path, {})[row.task] = None
    ready = {path: list(some) for path, some in tasks.items() if (path / BEST).is_file()}
    for path in tasks:
        if path not in ready:
            tell(f"{path} is left out: it has no {BEST} yet")
    if not ready:
        raise ValueError("no run here has a network yet")
    return ready


def sizes(found: list[Outcome], format: str) -> bytes:
    """Score against size, a panel for each task."""
    return drawn([scores_against_size(some) for some in lines(found, together=True).values()], format)


def hints(found: list[Outcome], format: str) -> bytes:
    """How well each hint is predicted along the steps, a panel for each task, model and size."""
    every = (line for some in lines(found, together=True).values() for line in some)
    return drawn([hints_along_steps(line.at(n)) for line in every for n in line.sizes], format)
