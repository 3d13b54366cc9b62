"""Outcomes as a figure: score against size, and how well hints are predicted along the steps."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from rnar.evaluation.runs import Outcome

FORMATS = ("png", "svg", "pdf")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""of Okabe and Ito (2008), which people with any vision tell apart; yellow is left out, for it is faint on white"""
MARKERS, DASHES = "osD^vPX", ("-", "--", ":", "-.")
LARGEST_SEEN = 16  # in training, by the standard protocol
FEW = 20  # steps that have a marker each
COLUMNS, WIDTH, HEIGHT, DOTS = 3, 4.6, 3.4, 150

Panel = Callable[[Axes], None]


def figure(outcomes: Sequence[Outcome], format: str) -> bytes:
    """A panel for each task; with hints, one more for each run and task, of the largest size."""
    panels = [_scores(some) for some in _by_task(outcomes).values()]
    panels += [hints_along_steps(outcome) for outcome in _largest(outcomes) if outcome.evaluation.hints]
    columns = min(COLUMNS, len(panels))
    rows = -(-len(panels) // columns)
    page = Figure(figsize=(WIDTH * columns, HEIGHT * rows), dpi=DOTS, layout="constrained")
    grid = page.subplots(rows, columns, squeeze=False).flatten()
    for axes, draw in zip(grid, panels, strict=False):
        draw(axes)
    for axes in grid[len(panels) :]:
        axes.set_axis_off()
    file = io.BytesIO()
    page.savefig(file, format=format, metadata={"Date": None} if format == "svg" else None)
    return file.getvalue()


def _by_task(outcomes: Sequence[Outcome]) -> dict[str, list[Outcome]]:
    found: dict[str, list[Outcome]] = {}
    for outcome in outcomes:
        found.setdefault(outcome.problems.task, []).append(outcome)
    return found


def _largest(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Of each run and task the outcome at its largest size."""
    found: dict[tuple[Any, str], Outcome] = {}
    for outcome in sorted(outcomes, key=lambda outcome: outcome.problems.n):
        found[outcome.run.path, outcome.problems.task] = outcome
    return [outcome for outcome in outcomes if outcome in found.values()]


def label(outcome: Outcome) -> str:
    return f"{outcome.run.settings.name}, seed {outcome.run.settings.seed}"


def _scores(outcomes: list[Outcome]) -> Panel:
    """The scores of one task against n, a line for each run, with their intervals."""

    def draw(axes: Axes) -> None:
        sizes = sorted({outcome.problems.n for outcome in outcomes})
        runs: dict[Any, list[Outcome]] = {}
        for outcome in outcomes:
            runs.setdefault(outcome.run.path, []).append(outcome)
        for k, (some, colour) in enumerate(zip(runs.values(), cycle(COLOURS), strict=False)):
            some.sort(key=lambda outcome: outcome.problems.n)
            shift = 1 + 0.03 * (k - (len(runs) - 1) / 2)  # so that intervals do not hide each other
            n = np.array([outcome.problems.n for outcome in some]) * shift
            score = 100 * np.array([outcome.evaluation.score for outcome in some])
            low, high = 100 * np.array([outcome.interval for outcome in some]).T
            style: dict[str, Any] = dict(
                color=colour, marker=MARKERS[k % len(MARKERS)], linestyle=DASHES[k // len(COLOURS) % 4]
            )
            axes.errorbar(n, score, [score - low, high - score], capsize=3, label=label(some[0]), **style)
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes, [str(n) for n in sizes])
        axes.minorticks_off()
        seen = max(max(outcome.run.settings.sizes or [LARGEST_SEEN]) for outcome in outcomes)
        if sizes[0] <= seen < sizes[-1]:
            axes.axvspan(sizes[0] / 1.2, seen * 1.1, color="0.93", zorder=0)
            axes.text(sizes[0] / 1.15, 0, "sizes of training", fontsize=7, color="0.4")
        axes.set_xlim(sizes[0] / 1.2, sizes[-1] * 1.2)
        _finish(axes, outcomes[0].problems.task, "size of the problems (n)", "score, with 95% interval (%)")

    return draw


def hints_along_steps(outcome: Outcome) -> Panel:
    """How well each hint of a run is predicted along the steps. Numbers, which have errors only, are left out."""

    def draw(axes: Axes) -> None:
        shares = {k: tally for k, tally in outcome.evaluation.hints.items() if not tally.measure.is_error}
        for k, (name, tally) in enumerate(shares.items()):
            style: dict[str, Any] = dict(
                color=COLOURS[k % len(COLOURS)], linestyle=DASHES[k // len(COLOURS) % len(DASHES)]
            )
            marker = MARKERS[k % len(MARKERS)] if len(tally.each) <= FEW else ""
            steps = np.arange(1, len(tally.each) + 1)
            axes.plot(steps, 100 * tally.each, marker=marker or None, label=name, linewidth=1.3, markersize=4, **style)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        title = f"{outcome.problems.task}, n={outcome.problems.n}\n{label(outcome)}"
        _finish(axes, title, "step", "accuracy or F1 of hints (%)")

    return draw


def _finish(axes: Axes, title: str, x: str, y: str) -> None:
    axes.set(title=title, xlabel=x, ylabel=y, ylim=(-3, 103))
    axes.title.set_fontsize(10)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(fontsize=7, frameon=False, loc="upper left", bbox_to_anchor=(1, 1), borderaxespad=0)
