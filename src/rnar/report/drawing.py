"""What all figures share: a model's colour, dash and marker, panels of a size, one legend, and files."""

import io
from collections import defaultdict
from collections.abc import Iterable
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from rnar.models import MODELS

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""of Okabe and Ito (2008), which people with any vision tell apart; yellow is left out, for it is faint on white"""
DASHES = ("-", "--", ":", "-.")
MARKERS = "osD^vPX"
FIRST = ("rnar", "triplet-gmpnn", "rt", "g-forgetnet", "linked", "combined", "mpnn", "pgn", "rnar-mpnn")
"""those that are drawn most often have the colours that differ most"""
DOTS, NARROWEST = 150, 4.5
PERCENT = -3, 103  # limits of an axis, with room for markers
LETTERS, LINE = 14, 0.18  # of a legend: letters in an inch, and a line's height in inches


class Stroke(NamedTuple):
    colour: str
    dash: str
    marker: str

    @property
    def looks(self) -> dict[str, Any]:
        """For matplotlib, without the marker."""
        return {"color": self.colour, "linestyle": self.dash}


def nth(k: int, variant: int = 0) -> Stroke:
    """One of 28 that differ; its variants have its colour, and a dash and marker each."""
    dash = k // len(COLOURS) % len(DASHES)
    marker = MARKERS[(k + dash + variant) % len(MARKERS)]
    return Stroke(COLOURS[k % len(COLOURS)], DASHES[(dash + variant) % len(DASHES)], marker)


def strokes(lines: Iterable[tuple[str, str]]) -> dict[str, Stroke]:
    """By label, for lines of (model, label): those of one model are variants of its stroke.

    A model of this package looks the same in every figure; those that are not known here come after them.
    """
    lines = list(dict.fromkeys(lines))
    order = list(dict.fromkeys([*FIRST, *MODELS, *(model for model, _ in lines)]))
    variants: defaultdict[str, count[int]] = defaultdict(count)
    return {label: nth(order.index(model), next(variants[model])) for model, label in lines}


def looks(font: int) -> Any:
    """Of all panels: letters of about that size, a grid, and no frame around."""
    return {
        "axes.titlesize": font + 1, "axes.labelsize": font, "axes.grid": True, "grid.alpha": 0.3,
        "axes.spines.top": False, "axes.spines.right": False, "svg.hashsalt": "rnar",
    }  # fmt: skip


def canvas(panels: int, columns: int, width: float, height: float) -> tuple[Figure, list[Axes]]:
    """A page, and as many panels of this size in inches; what is left of the last row stays empty."""
    columns = min(columns, panels)
    rows = -(-panels // columns)
    page = Figure(figsize=(max(width * columns, NARROWEST), height * rows), dpi=DOTS, layout="constrained")
    grid = list(page.subplots(rows, columns, squeeze=False).flatten())
    for axes in grid[panels:]:
        axes.set_axis_off()
    return page, grid[:panels]


def draw_band(axes: Axes, x: np.ndarray, values: np.ndarray, **looks: Any) -> None:
    """The mean over seeds of values [seeds, T], and the band from the lowest to the highest."""
    axes.plot(x, values.mean(0), **looks)
    if len(values) > 1:
        axes.fill_between(x, values.min(0), values.max(0), color=looks["color"], alpha=0.2, linewidth=0)


def shared_legend(page: Figure, grid: Iterable[Axes]) -> None:
    """One legend for all panels, below them: as many columns as there is room for."""
    handles = {}
    for axes in grid:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    longest = max(map(len, handles), default=0)
    columns = max(1, min(len(handles), int(page.get_figwidth() * LETTERS // (longest + 8))))
    page.legend(handles.values(), handles, loc="outside lower center", ncols=columns, fontsize=8, frameon=False)
    page.set_figheight(page.get_figheight() + LINE * -(-len(handles) // columns))


def saved(page: Figure, format: str) -> bytes:
    """The same bytes from the same data."""
    file, dates = io.BytesIO(), {"svg": "Date", "pdf": "CreationDate"}
    page.savefig(file, format=format, metadata={dates[format]: None} if format in dates else None)
    return file.getvalue()
