"""What runs did along their steps: validation, and the time it took (Figure 1 of the paper). A panel for each task."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from rnar.report.canvas import canvas, saved
from rnar.report.groups import Group, Groups, in_order
from rnar.report.published import MODELS, TASKS
from rnar.report.rates import Rate
from rnar.report.rows import Row
from rnar.report.trial_figures import COLOURS
from rnar.training.run import METRICS, read_metrics

COLUMNS, WIDTH, HEIGHT, LEGEND = 4, 3.1, 2.5, 0.5
UNITS = (("s", 1, 0.0), ("min", 60, 600.0), ("h", 3600, 6 * 3600.0))  # with the seconds from which they are used

Value = Callable[[dict[str, Any], str], float]
"""what is drawn of a line of the metrics, for a task"""


class Curve(NamedTuple):
    """The same runs with one seed after the other."""

    label: str
    steps: list[np.ndarray]
    values: list[np.ndarray]

    def common(self) -> tuple[np.ndarray, np.ndarray]:
        """The steps that all seeds have reached [T], and their values there [seeds, T]."""
        steps = self.steps[0]
        for other in self.steps[1:]:
            steps = np.intersect1d(steps, other)
        return steps, np.array([v[np.isin(s, steps)] for s, v in zip(self.steps, self.values, strict=True)])


def curves(groups: Groups, format: str) -> bytes:
    """Validation along the steps."""
    panels = _panels(groups, lambda line, task: 100 * line["validations"][task])
    return _drawn(panels, "validation score, n = 16 (%)", format, {}, (-3, 103))


def timing(groups: Groups, rates: dict[tuple[str, str], Rate], format: str) -> bytes:
    """The time that a number of steps has taken, validation included; and the rate of dm-clrs, if measured."""
    panels = _panels(groups, lambda line, task: line["seconds"])
    missing = [task for task, _ in rates if task not in panels]
    if missing:
        raise ValueError(f"dm-clrs was measured on {missing[0]}, of which there is no run to draw")
    longest = max(values.max() for some in panels.values() for curve in some for values in curve.values)
    unit, seconds, _ = [each for each in UNITS if longest >= each[2]][-1]
    scaled = {
        task: [curve._replace(values=[values / seconds for values in curve.values]) for curve in some]
        for task, some in panels.items()
    }
    lines: dict[str, list[tuple[str, str, float]]] = {}
    for (task, model), rate in sorted(rates.items(), key=lambda item: in_order(*item[0])):
        about = f"n = {', '.join(map(str, rate.sizes))}, {rate.threads} thread{'s' * (rate.threads > 1)}"
        name = MODELS.get(model, model)
        lines.setdefault(task, []).append((f"{name} in dm-clrs, training alone, {about}", name, rate.seconds / seconds))
    return _drawn(scaled, f"wall-clock time ({unit})", format, lines)


def _panels(groups: Groups, value: Value) -> dict[str, list[Curve]]:
    found: dict[str, list[Curve]] = {}
    for (task, model), some in groups.items():
        for group in some:
            curve = _curve(group, _label(model, group, group is some[0]), task, value)
            if curve.steps:
                found.setdefault(task, []).append(curve)
    if not found:
        raise ValueError("there is nothing to draw yet: no run here has been validated after its first steps")
    return found


def _label(model: str, group: Group, first: bool) -> str:
    """Other settings than those of a task's first runs are told."""
    name = MODELS.get(model, model)
    return name if first else ", ".join(filter(None, [name, f"{group.planned} steps", group.unusual]))


def _curve(group: Group, label: str, task: str, value: Value) -> Curve:
    curve = Curve(label, [], [])
    for row in group.rows:
        lines = read_metrics(_folder(row) / METRICS)
        if len(lines) > 1:
            curve.steps.append(np.array([line["step"] for line in lines]))
            curve.values.append(np.array([value(line, task) for line in lines], dtype=float))
    return curve


def _folder(row: Row) -> Path:
    if row.path is None:
        raise ValueError("a figure is drawn of run folders: a CSV has only what came out in the end")
    return row.path


def _drawn(
    panels: dict[str, list[Curve]],
    y: str,
    format: str,
    straight: dict[str, list[tuple[str, str, float]]],
    limits: tuple[float, float] | None = None,
) -> bytes:
    """All panels with one legend. `straight`: by task lines through the origin, as label, whose colour, and slope."""
    labels = list(dict.fromkeys(curve.label for some in panels.values() for curve in some))
    labels = sorted(labels, key=lambda label: list(MODELS.values()).index(label) if label in MODELS.values() else 99)
    page, grid = canvas(len(panels), COLUMNS, WIDTH, HEIGHT, LEGEND)
    for place, (axes, (task, some)) in enumerate(zip(grid, panels.items(), strict=False)):
        for curve in sorted(some, key=lambda curve: labels.index(curve.label)):
            _draw(axes, curve, **_style(labels.index(curve.label)))
        for label, model, slope in straight.get(task, []):
            end = max(steps[-1] for curve in some for steps in curve.steps)
            colour = COLOURS[labels.index(model) % len(COLOURS)] if model in labels else "0.3"
            axes.plot([0, end], [0, slope * end], ":", color=colour, linewidth=1.8, label=label)
        seeds = ", ".join(dict.fromkeys(str(len(curve.steps)) for curve in some))
        _finish(axes, f"{TASKS.get(task, task)}  (seeds: {seeds})", place, y, len(panels), limits)
    _legend(page, grid)
    return saved(page, format)


def _style(place: int) -> dict[str, Any]:
    return dict(color=COLOURS[place % len(COLOURS)], linestyle=("-", "--", "-.")[place % 3])


def _draw(axes: Axes, curve: Curve, **style: Any) -> None:
    """The mean over seeds, all between the lowest and the highest, and what single seeds did beyond the last."""
    steps, values = curve.common()
    for own, value in zip(curve.steps, curve.values, strict=True):
        beyond = own >= steps[-1]
        axes.plot(own[beyond], value[beyond], linewidth=0.7, alpha=0.8, **style)
    if len(values) > 1:
        axes.fill_between(steps, values.min(0), values.max(0), color=style["color"], alpha=0.2, linewidth=0)
    axes.plot(steps, values.mean(0), linewidth=1.6, label=curve.label, **style)


def _finish(axes: Axes, title: str, place: int, y: str, panels: int, limits: tuple[float, float] | None) -> None:
    axes.set_title(title, fontsize=9)
    axes.set_xlim(left=0)
    axes.set_ylim(*(limits or (0, None)))
    axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
    axes.tick_params(labelsize=8)
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    if place % COLUMNS == 0:
        axes.set_ylabel(y, fontsize=8)
    if place + COLUMNS >= panels:
        axes.set_xlabel("training steps", fontsize=8)


def _legend(page: Figure, grid: Iterable[Axes]) -> None:
    found = {}
    for axes in grid:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    columns = 2 if len(found) == 4 else 3
    page.legend(found.values(), found.keys(), loc="outside lower center", ncols=columns, fontsize=8, frameon=False)
