"""Figures of scores: score against size, and how well hints are predicted along the steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from rnar.report.drawing import PERCENT, Stroke, canvas, draw_band, looks, nth, saved, shared_legend, strokes
from rnar.report.published import title
from rnar.report.scores import Group, Score, by_task
from rnar.report.trials import Outcome

FEW = 20  # steps that have a marker each
MANY, WINDOWS = 40, 40  # steps from which lines are smoothed, and into how many windows
SPREAD = 0.05  # by which share of n points stand apart at most, so that intervals do not hide each other
COLUMNS, WIDTH, HEIGHT = 3, 4.6, 3.4


def figure(outcomes: Iterable[Outcome], format: str) -> bytes:
    """A panel for each task, with a line for each run; with hints, one more for each run and task, of the largest
    size."""
    tasks = by_task(outcome.score() for outcome in outcomes)
    largest = [group.at(group.sizes[-1]) for groups in tasks.values() for group in groups]
    return _drawn(tasks, [group for group in largest if group.scores[0].hints], format)


def sizes(scores: Iterable[Score], format: str) -> bytes:
    """Score against size, a panel for each task."""
    return _drawn(by_task(scores), [], format)


def hints(scores: Iterable[Score], format: str) -> bytes:
    """How well each hint is predicted along the steps, a panel for each task, model and size."""
    groups = [group for groups in by_task(scores).values() for group in groups]
    return _drawn({}, [group.at(n) for group in groups for n in group.sizes], format)


@rc_context(looks(9))
def _drawn(tasks: dict[str, list[Group]], hints: list[Group], format: str) -> bytes:
    """A panel for the scores of each task, then one for the hints of each of these groups."""
    page, grid = canvas(len(tasks) + len(hints), COLUMNS, WIDTH, HEIGHT)
    drawn = strokes((group.model, group.label) for groups in tasks.values() for group in groups)
    for axes, groups in zip(grid, tasks.values(), strict=False):
        _draw_scores(axes, groups, drawn)
    for axes, group in zip(grid[len(tasks) :], hints, strict=True):
        _draw_hints(axes, group)
    if tasks:
        shared_legend(page, grid[: len(tasks)])
    return saved(page, format)


def _draw_scores(axes: Axes, groups: list[Group], drawn: dict[str, Stroke]) -> None:
    """The scores of one task against n."""
    scores = [score for group in groups for score in group.scores]
    sizes = sorted({score.n for score in scores})
    for group, shift in zip(groups, np.linspace(1 - SPREAD, 1 + SPREAD, len(groups) + 2)[1:-1], strict=True):
        points, stroke = [group.at(n) for n in group.sizes], drawn[group.label]
        n, means = np.array(group.sizes) * shift, np.array([point.mean for point in points], dtype=float)
        bars = np.array([point.bars for point in points]).T
        thin: dict[str, Any] = dict(markersize=4, capsize=2, linewidth=1.2, elinewidth=0.8)
        axes.errorbar(n, means, bars, label=group.label, marker=stroke.marker, **thin, **stroke.looks)
        if len(group.runs) > 1:
            seeds = [(n * shift, value) for n, point in zip(group.sizes, points, strict=True) for value in point.values]
            axes.plot(*zip(*seeds, strict=True), ".", color=stroke.colour, alpha=0.5, markersize=4)
    axes.set_xscale("log", base=2)
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.minorticks_off()
    seen = max(score.largest_seen for score in scores)
    if sizes[0] <= seen < sizes[-1]:
        axes.axvspan(sizes[0] / 1.2, seen * 1.1, color="0.93", zorder=0)
        axes.text(sizes[0] / 1.15, 0, "sizes of training", fontsize=7, color="0.4")
    several = {len(group.runs) > 1 for group in groups}
    bars = [name for name, are in (("95% interval", False), ("standard deviation", True)) if are in several]
    axes.set(title=title(groups[0].task), xlim=(sizes[0] / 1.2, sizes[-1] * 1.2), ylim=PERCENT)
    axes.set(xlabel="size of the problems (n)", ylabel=f"score ± {' or '.join(bars)} (%)")


def _draw_hints(axes: Axes, group: Group) -> None:
    """How well each hint is predicted along the steps, at one size: the mean over seeds, and the band of all seeds.

    Hints that are numbers are left out: they have errors and no accuracy. Those that are sets have an F1, and dashes.
    Of long traces the mean over a window is drawn, and each step faintly behind it.
    """
    first, *_ = group.scores
    names = [name for name, tally in first.hints.items() if not tally.measure.is_error]
    for k, name in enumerate(names):
        values = 100 * np.array([score.hints[name].each for score in group.scores])  # [seeds, T]
        is_set, steps = first.hints[name].measure.name == "F1", np.arange(1, values.shape[1] + 1)
        style: dict[str, Any] = dict(color=nth(k).colour, linestyle="--" if is_set else "-", linewidth=1.4)
        if len(steps) <= FEW:
            style |= dict(marker=nth(k).marker, markersize=4)
        if len(steps) > MANY:
            axes.plot(steps, values.mean(0), color=nth(k).colour, linewidth=0.5, alpha=0.25)
            values = smoothed(values, len(steps) // WINDOWS)
        draw_band(axes, steps, values, label=f"{name} (F1)" if is_set else name, **style)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.set(title=f"{title(group.task)}, n={first.n}\n{group.label}", ylim=PERCENT)
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
