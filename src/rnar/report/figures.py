"""Figures of training along the steps: validation, loss, and time (Figure 1 of the paper). A panel for each task."""

import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from pathlib import Path
from statistics import mean
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from rnar.common.files import read
from rnar.report.published import title
from rnar.report.runs import Row
from rnar.report.scores import Group, in_order, shown, steps_of
from rnar.report.strokes import Stroke, strokes

DOTS, NARROWEST = 150, 4.5
PERCENT = -3, 103  # limits of an axis, with room for markers
COLUMNS, WIDTH, HEIGHT = 4, 3.1, 2.5
LETTERS, LINE = 14, 0.18  # of a legend: letters in an inch, and a line's height in inches
UNITS = (("s", 1, 0.0), ("min", 60, 600.0), ("h", 3600, 6 * 3600.0))  # with the seconds from which they are used


def looks(font: int) -> Any:
    """Of all panels: letters of about that size, a grid, and no frame around."""
    return {
        "axes.titlesize": font + 1, "axes.labelsize": font, "axes.grid": True, "grid.alpha": 0.3,
        "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "rnar",
    }  # fmt: skip


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


def curves(rows: Iterable[Row], format: str) -> bytes:
    """Validation along the steps."""
    panels = _panels(rows, lambda line, task: 100 * line["validations"][task])
    return _drawn(panels, "validation score, n = 16 (%)", format, limits=PERCENT)


def wider(rows: Iterable[Row], format: str) -> bytes:
    """The score at a larger size along the steps, and that of the average of the weights, where runs kept one."""
    sizes: set[int] = set()

    def score(of: str) -> Value:
        def value(line: dict[str, Any], task: str) -> float | None:
            if of not in line:
                return None
            sizes.add(line.get("wider_n", 32))  # older runs do not say
            return 100 * line[of][task]

        return value

    panels = _panels(rows, score("wider"), score("wider_average"))
    if len(sizes) > 1:
        several = " and ".join(map(str, sorted(sizes)))
        raise ValueError(f"these runs were tried at n = {several} on the way; a figure shows one size: give fewer runs")
    return _drawn(panels, f"score, n = {sizes.pop()} (%)", format, limits=PERCENT)


def losses(rows: Iterable[Row], format: str) -> bytes:
    """The loss along the steps: the mean since the validation before, of output and hints together."""

    def loss(line: dict[str, Any], task: str) -> float | None:
        parts = line.get("losses", {}).get(task)
        return sum(parts.values()) if parts else None

    return _drawn(_panels(rows, loss), "loss", format, limits=(None, None), scale="log")


def timing(rows: Iterable[Row], measured: Iterable[Path], format: str) -> bytes:
    """The time that steps have taken, validation included; and the pace of dm-clrs, if `rnar bench` measured it."""
    pace = rates(measured)
    panels = _panels(rows, lambda line, task: line["seconds"])
    missing = [task for task, _ in pace if task not in panels]
    if missing:
        raise ValueError(f"dm-clrs was measured on {missing[0]}, of which there is no run to draw")
    longest = max(values.max() for some in panels.values() for curve in some for values in curve.values)
    unit, seconds, _ = [each for each in UNITS if longest >= each[2]][-1]
    panels = _panels(rows, lambda line, task: line["seconds"] / seconds)
    lines: dict[str, list[tuple[str, str, float]]] = {}
    for (task, model), rate in sorted(pace.items(), key=lambda item: in_order(*item[0])):
        about = f"n = {', '.join(map(str, rate.sizes))}, {rate.threads} thread{'s' * (rate.threads > 1)}"
        label = f"{title(model)} in dm-clrs, training alone, {about}"
        lines.setdefault(task, []).append((label, model, rate.seconds / seconds))
    return _drawn(panels, f"wall-clock time ({unit})", format, lines)


def _panels(rows: Iterable[Row], value: Value, of_average: Value | None = None) -> dict[str, list[Curve]]:
    """By task; `of_average` is what is drawn of the average of the weights, where runs kept one."""
    values = {"": value, **({"average of the weights": of_average} if of_average else {})}
    panels: dict[str, list[Curve]] = {}
    for (task, model), some in shown(rows)[0].items():
        for group in some:
            different = [] if group is some[0] else [f"{steps_of(group.runs)} steps", group.unusual]
            for which, value in values.items():
                curve = _curve(group, ", ".join(filter(None, [title(model), *different, which])), value)
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
            curve.steps.append(np.array([step for step, _ in drawn]))
            curve.values.append(np.array([y for _, y in drawn], dtype=float))
    return curve


@rc_context(looks(8))
def _drawn(
    panels: dict[str, list[Curve]],
    y: str,
    format: str,
    straight: Mapping[str, Sequence[tuple[str, str, float]]] = MappingProxyType({}),
    limits: tuple[float | None, float | None] = (0, None),
    scale: Literal["linear", "log"] = "linear",
) -> bytes:
    """All panels with one legend. `straight`: by task lines through the origin, as label, model, and slope."""
    drawn = [(curve.model, curve.label) for some in panels.values() for curve in some]
    looks = strokes(sorted(drawn, key=lambda line: in_order("", line[0])))
    page, grid = canvas(len(panels), COLUMNS, WIDTH, HEIGHT)
    for place, (axes, (task, some)) in enumerate(zip(grid, panels.items(), strict=False)):
        for curve in sorted(some, key=lambda curve: list(looks).index(curve.label)):
            _draw(axes, curve, looks[curve.label])
        for label, model, slope in straight.get(task, []):
            end = max(steps[-1] for curve in some for steps in curve.steps)
            colour = strokes([(model, model)])[model].colour
            axes.plot([0, end], [0, slope * end], ":", color=colour, linewidth=1.8, label=label)
        seeds = ", ".join(dict.fromkeys(str(len(curve.steps)) for curve in some))
        axes.set(title=f"{title(task)}  (seeds: {seeds})", yscale=scale, ylim=limits)
        axes.set_xlim(left=0)
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        if scale == "log":
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_minor_locator(NullLocator())
        axes.tick_params(labelsize=8)
        if place % COLUMNS == 0:
            axes.set_ylabel(y)
        if place + COLUMNS >= len(panels):
            axes.set_xlabel("training steps")
    shared_legend(page, grid)
    return saved(page, format)


def _draw(axes: Axes, curve: Curve, stroke: Stroke) -> None:
    """The mean over seeds and their band, and single seeds where not all have come so far."""
    steps, values = curve.common()
    for own, value in zip(curve.steps, curve.values, strict=True):
        beyond = own >= steps[-1] if len(steps) else own >= 0
        axes.plot(own[beyond], value[beyond], linewidth=0.7, alpha=0.8, **stroke.looks)
    draw_band(axes, steps, values, linewidth=1.6, label=curve.label, **stroke.looks)


def draw_band(axes: Axes, x: np.ndarray, values: np.ndarray, **looks: Any) -> None:
    """The mean over seeds of values [seeds, T], and the band from the lowest to the highest."""
    axes.plot(x, values.mean(0), **looks)
    if len(values) > 1:
        axes.fill_between(x, values.min(0), values.max(0), color=looks["color"], alpha=0.2, linewidth=0)


def shared_legend(page: Figure, grid: Iterable[Axes]) -> None:
    """One legend for all panels, below them: as many columns as there is room for."""
    found = {}
    for axes in grid:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    longest = max(map(len, found), default=0)
    columns = max(1, min(len(found), int(page.get_figwidth() * LETTERS // (longest + 8))))
    page.legend(found.values(), found.keys(), loc="outside lower center", ncols=columns, fontsize=8, frameon=False)
    page.set_figheight(page.get_figheight() + LINE * -(-len(found) // columns))


class Rate(NamedTuple):
    """A training step of dm-clrs, in the mean over some sizes of problems."""

    seconds: float
    sizes: tuple[int, ...]
    threads: int


def rates(paths: Iterable[Path]) -> dict[tuple[str, str], Rate]:
    """By task and model, from files that `rnar bench --against ... --json FILE` wrote.

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
    return {key: Rate(mean(each.values()), tuple(sorted(each)), threads[key]) for key, each in seconds.items()}


def canvas(panels: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """A page, and as many panels of this size in inches; what is left of the last row stays empty."""
    columns = min(columns, panels)
    rows = -(-panels // columns)
    size = max(width * columns, NARROWEST), height * rows
    page = Figure(figsize=size, dpi=DOTS, layout="constrained")
    grid = list(page.subplots(rows, columns, squeeze=False).flatten())
    for axes in grid[panels:]:
        axes.set_axis_off()
    return page, grid[:panels]


def saved(page: Figure, format: str) -> bytes:
    """The same bytes from the same data."""
    file = io.BytesIO()
    dates = {"svg": "Date", "pdf": "CreationDate"}
    page.savefig(file, format=format, metadata={dates[format]: None} if format in dates else None)
    return file.getvalue()
