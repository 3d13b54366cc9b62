"""Outcomes as a figure: score against size, and how well hints are predicted along the steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from rnar.report.figures import canvas, draw_band, looks, saved, shared_legend
from rnar.report.published import title
from rnar.report.scored import Scored
from rnar.report.strokes import Stroke, nth, strokes
from rnar.report.trial_lines import Line, lines
from rnar.report.trials import Outcome

FEW = 20  # steps that have a marker each
MANY, WINDOWS = 40, 40  # steps from which lines are smoothed, and into how many windows
SPREAD = 0.05  # by which share of n points stand apart at most, so that intervals do not hide each other
COLUMNS, WIDTH, HEIGHT, LIMITS = 3, 4.6, 3.4, (-3, 103)


def figure(outcomes: Sequence[Outcome], format: str) -> bytes:
    """A panel for each task; with hints, one more for each run and task, of the largest size."""
    found = lines(map(Scored.of, outcomes))
    largest = [line.at(line.sizes[-1]) for some in found.values() for line in some]
    with_hints = [line for line in largest if line.scores[0].hints]
    return _drawn(list(found.values()), with_hints, format)


def sizes(scores: Sequence[Scored], format: str) -> bytes:
    """Score against size, a panel for each task."""
    return _drawn(list(lines(scores, together=True).values()), [], format)


def hints(outcomes: Sequence[Outcome], format: str) -> bytes:
    """How well each hint is predicted along the steps, a panel for each task, model and size."""
    every = (line for some in lines(map(Scored.of, outcomes), together=True).values() for line in some)
    return _drawn([], [line.at(n) for line in every for n in line.sizes], format)


@rc_context(looks(9))
def _drawn(tasks: list[list[Line]], hints: list[Line], format: str) -> bytes:
    """A panel for the scores of each task, then one for the hints of each of these lines."""
    page, grid = canvas(len(tasks) + len(hints), COLUMNS, WIDTH, HEIGHT)
    drawn = strokes((line.model, line.label) for some in tasks for line in some)
    for axes, some in zip(grid, tasks, strict=False):
        draw_scores(axes, some, drawn)
    for axes, line in zip(grid[len(tasks) :], hints, strict=True):
        draw_hints(axes, line)
    if tasks:
        shared_legend(page, grid[: len(tasks)])
    return saved(page, format)


def draw_scores(axes: Axes, some: list[Line], drawn: dict[str, Stroke]) -> None:
    """The scores of one task against n."""
    sizes = sorted({n for line in some for n in line.sizes})
    for line, shift in zip(some, np.linspace(1 - SPREAD, 1 + SPREAD, len(some) + 2)[1:-1], strict=True):
        score, below, above = 100 * np.array([line.at(n).score() for n in line.sizes]).T
        n, bars, stroke = np.array(line.sizes) * shift, [below, above], drawn[line.label]
        thin: dict[str, Any] = dict(markersize=4, capsize=2, linewidth=1.2, elinewidth=0.8)
        axes.errorbar(n, score, bars, label=line.label, marker=stroke.marker, **thin, **stroke.looks)
        if len(line.seeds) > 1:
            each = [(one.n * shift, 100 * one.score) for one in line.scores]
            axes.plot(*zip(*each, strict=True), ".", color=stroke.colour, alpha=0.5, markersize=4)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.minorticks_off()
    seen = max(one.seen for line in some for one in line.scores)
    if sizes[0] <= seen < sizes[-1]:
        axes.axvspan(sizes[0] / 1.2, seen * 1.1, color="0.93", zorder=0)
        axes.text(sizes[0] / 1.15, 0, "sizes of training", fontsize=7, color="0.4")
    counts = {len(line.seeds) > 1 for line in some}
    bars = [name for name, are in (("95% interval", False), ("standard error", True)) if are in counts]
    axes.set(title=title(some[0].scores[0].task), xlim=(sizes[0] / 1.2, sizes[-1] * 1.2), ylim=LIMITS)
    axes.set(xlabel="size of the problems (n)", ylabel=f"score ± {' or '.join(bars)} (%)")


def draw_hints(axes: Axes, line: Line) -> None:
    """How well each hint is predicted along the steps, at one size: the mean over seeds, and the band of all seeds.

    Hints that are numbers are left out: they have errors and no accuracy. Those that are sets have an F1, and dashes.
    Of long traces the mean over a window is drawn, and each step faintly behind it.
    """
    first, *_ = line.scores
    names = [name for name, tally in first.hints.items() if not tally.measure.is_error]
    for k, name in enumerate(names):
        each = 100 * np.array([one.hints[name].each for one in line.scores])  # [seeds, T]
        is_set, steps = first.hints[name].measure.name == "F1", np.arange(1, each.shape[1] + 1)
        style: dict[str, Any] = dict(color=nth(k).colour, linestyle="--" if is_set else "-", linewidth=1.4)
        if len(steps) <= FEW:
            style |= dict(marker=nth(k).marker, markersize=4)
        if len(steps) > MANY:
            axes.plot(steps, each.mean(0), color=nth(k).colour, linewidth=0.5, alpha=0.25)
            each = smoothed(each, len(steps) // WINDOWS)
        draw_band(axes, steps, each, label=f"{name} (F1)" if is_set else name, **style)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(title=f"{title(first.task)}, n={first.n}\n{line.label}", ylim=LIMITS)
    axes.set(xlabel="step", ylabel="accuracy of hints, or F1 (%)")
    if names:  # beside the panel, as there are many
        axes.legend(loc="upper left", bbox_to_anchor=(1, 1), borderaxespad=0, frameon=False, fontsize=7)


def smoothed(values: np.ndarray, width: int) -> np.ndarray:
    """The mean of each place's neighbours, so many on either side [..., T]; what is not a number does not count."""
    there = np.isfinite(values)
    window = np.ones(2 * width + 1)

    def summed(x: np.ndarray) -> np.ndarray:
        return np.apply_along_axis(lambda row: np.convolve(row, window, mode="same"), -1, x)

    with np.errstate(invalid="ignore"):
        return summed(np.where(there, values, 0.0)) / summed(there.astype(float))
