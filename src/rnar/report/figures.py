"""Figures of training along the steps: validation, loss, and time (Figure 1 of the paper). A panel for each task."""

import json
from collections.abc import Callable, Iterable
from functools import reduce
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from rnar.common.files import read
from rnar.report.drawing import PERCENT, Stroke, canvas, draw_band, looks, saved, shared_legend, strokes
from rnar.report.published import title
from rnar.report.runs import Row
from rnar.report.scores import Group, by_task, in_order, longest, steps_of, table

COLUMNS, WIDTH, HEIGHT = 4, 3.1, 2.5
UNITS = {"s": (1, 0.0), "min": (60, 600.0), "h": (3600, 6 * 3600.0)}  # with the seconds from which they are used
Value = Callable[[dict[str, Any], str], float | None]
"""what is drawn of a line of the metrics, for a task; None: nothing, as of the loss before the first step"""


class Curve(NamedTuple):
    """The same runs with one seed after the other."""

    model: str
    label: str
    steps: list[np.ndarray]
    values: list[np.ndarray]

    def common(self) -> tuple[np.ndarray, np.ndarray]:
        """The steps that all seeds have reached [T], and their values there [seeds, T]."""
        steps = reduce(np.intersect1d, self.steps)
        return steps, np.array([v[np.isin(s, steps)] for s, v in zip(self.steps, self.values, strict=True)])


Panels = dict[str, list[Curve]]
"""by task"""


def curves(rows: Iterable[Row], format: str) -> bytes:
    """Validation along the steps."""
    panels = panels_of(rows, lambda line, task: 100 * line["validations"][task])
    return _drawn(panels, format, ylabel="validation score, n = 16 (%)", ylim=PERCENT)


def ood(rows: Iterable[Row], format: str) -> bytes:
    """The score at a larger size along the steps, and that of the average of the weights, where runs kept one."""
    rows = list(rows)
    sizes = {line.get("ood_n", 32) for row in rows for line in row.history if "ood" in line}  # older ones: 32
    if len(sizes) > 1:
        several = " and ".join(map(str, sorted(sizes)))
        raise ValueError(f"these runs were tried at n = {several} on the way; a figure shows one size: give fewer runs")

    def score(name: str) -> Value:
        return lambda line, task: 100 * line[name][task] if name in line else None

    panels = panels_of(rows, score("ood"), score("ood_average"))
    return _drawn(panels, format, ylabel=f"score, n = {sizes.pop()} (%)", ylim=PERCENT)


def losses(rows: Iterable[Row], format: str) -> bytes:
    """The loss along the steps: the mean since the validation before, of output and hints together."""
    panels = panels_of(rows, lambda line, task: sum(line.get("losses", {}).get(task, {}).values()) or None)
    return _drawn(panels, format, ylabel="loss", yscale="log")


def timing(rows: Iterable[Row], measured: Iterable[Path], format: str) -> bytes:
    """The time that steps have taken, validation included; and the pace of dm-clrs, if `rnar bench` measured it."""
    pace = rates(measured)
    panels = panels_of(rows, lambda line, task: line["seconds"])
    missing = [task for task, _ in pace if task not in panels]
    if missing:
        raise ValueError(f"dm-clrs was measured on {missing[0]}, of which there is no run to draw")
    longest = max(values.max() for some in panels.values() for curve in some for values in curve.values)
    unit, seconds = [(unit, seconds) for unit, (seconds, least) in UNITS.items() if longest >= least][-1]
    panels = panels_of(rows, lambda line, task: line["seconds"] / seconds)
    lines = {key: rate._replace(seconds=rate.seconds / seconds) for key, rate in pace.items()}
    return _drawn(panels, format, lines, ylabel=f"wall-clock time ({unit})", ylim=(0, None))


def panels_of(rows: Iterable[Row], value: Value, of_average: Value | None = None) -> Panels:
    """By task; `of_average` is what is drawn of the average of the weights, where runs kept one."""
    values = {"": value, **({"average of the weights": of_average} if of_average else {})}
    panels: Panels = {}
    for task, groups in by_task(table(longest(rows))).items():
        models = [group.model for group in groups]
        for place, group in enumerate(groups):
            usual = group.model not in models[:place]
            different = [] if usual else [f"{steps_of(group.runs)} steps", group.unusual]
            for which, value in values.items():
                curve = _curve(group, ", ".join(filter(None, [title(group.model), *different, which])), value)
                if curve.steps:
                    panels.setdefault(task, []).append(curve)
    if not panels:
        raise ValueError("there is nothing to draw yet: no run here has been tried so after its first steps")
    return panels


def _curve(group: Group, label: str, value: Value) -> Curve:
    curve = Curve(group.model, label, [], [])
    for run in group.runs:
        if run.path is None:
            raise ValueError("a figure is drawn of run folders: a CSV has only what came out in the end")
        drawn = [(line["step"], y) for line in run.history if (y := value(line, group.task)) is not None]
        if len(run.history) > 1 and drawn:
            steps, values = zip(*drawn, strict=True)
            curve.steps.append(np.array(steps))
            curve.values.append(np.array(values, dtype=float))
    return curve


class Rate(NamedTuple):
    """A training step of dm-clrs, in the mean over some sizes of problems."""

    seconds: float
    sizes: tuple[int, ...]
    threads: int


Rates = dict[tuple[str, str], Rate]
"""by task and model"""


def rates(paths: Iterable[Path]) -> Rates:
    """From files that `rnar bench --against ... --json FILE` wrote.

    Of measurements at several sizes it is the mean, because training takes its sizes in turn.
    """
    seconds: dict[tuple[str, str], dict[int, float]] = {}
    threads: dict[tuple[str, str], int] = {}
    for path in paths:
        try:
            value = json.loads(read(path))
            theirs, key, n = value["dm_clrs"], (value["task"], value["model"]), int(value["sizes"]["n"])
            threads.setdefault(key, int(value["sizes"]["threads"]))
            taken = theirs and float(theirs["training"]["median"])
        except (ValueError, KeyError, TypeError):
            raise ValueError(f"{path} is not what `rnar bench --json` writes") from None
        if taken is None:
            raise ValueError(f"{path} has no measurement of dm-clrs; `rnar bench` makes one with --against")
        if n in seconds.setdefault(key, {}):
            raise ValueError(f"{path} measures {key[0]} with {key[1]} at n={n} once more; give each size once")
        seconds[key][n] = taken
    keys = sorted(seconds, key=lambda key: in_order(*key))
    return {key: Rate(mean(seconds[key].values()), tuple(sorted(seconds[key])), threads[key]) for key in keys}


@rc_context(looks(8))
def _drawn(panels: Panels, format: str, pace: Rates | None = None, **axis: Any) -> bytes:
    """All panels with one legend; `axis`: properties of the vertical axes."""
    lines = [(curve.model, curve.label) for some in panels.values() for curve in some]
    drawn = strokes(sorted(lines, key=lambda line: in_order("", line[0])))
    page, grid = canvas(len(panels), COLUMNS, WIDTH, HEIGHT)
    label = axis.pop("ylabel")
    for place, (axes, (task, some)) in enumerate(zip(grid, panels.items(), strict=False)):
        for curve in sorted(some, key=lambda curve: list(drawn).index(curve.label)):
            _draw(axes, curve, drawn[curve.label])
        end = max(steps[-1] for curve in some for steps in curve.steps)
        for model, rate in ((model, rate) for (of, model), rate in (pace or {}).items() if of == task):
            about = f"n = {', '.join(map(str, rate.sizes))}, {rate.threads} thread{'s' * (rate.threads > 1)}"
            colour = strokes([(model, model)])[model].colour
            name = f"{title(model)} in dm-clrs, training alone, {about}"
            axes.plot([0, end], [0, rate.seconds * end], ":", color=colour, linewidth=1.8, label=name)
        seeds = ", ".join(dict.fromkeys(str(len(curve.steps)) for curve in some))
        axes.set(title=f"{title(task)}  (seeds: {seeds})", **axis)
        axes.set_xlim(left=0)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        if axes.get_yscale() == "log":
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_locator(NullLocator())
        axes.tick_params(labelsize=8)
        axes.set_ylabel(label if place % COLUMNS == 0 else "")
        axes.set_xlabel("training steps" if place + COLUMNS >= len(panels) else "")
    shared_legend(page, grid)
    return saved(page, format)


def _draw(axes: Axes, curve: Curve, stroke: Stroke) -> None:
    """The mean over seeds and their band, and single seeds where not all have come so far."""
    steps, values = curve.common()
    for own, value in zip(curve.steps, curve.values, strict=True):
        beyond = own >= steps[-1] if len(steps) else own >= 0
        axes.plot(own[beyond], value[beyond], linewidth=0.7, alpha=0.8, **stroke.looks)
    draw_band(axes, steps, values, linewidth=1.6, label=curve.label, **stroke.looks)
