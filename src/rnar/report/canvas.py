"""A figure of several panels, as a file."""

from __future__ import annotations

import io

from matplotlib.axes import Axes
from matplotlib.figure import Figure

DOTS, NARROWEST = 150, 4.5


def canvas(panels: int, columns: int, width: float, height: float, below: float = 0.0) -> tuple[Figure, list[Axes]]:
    """A page, and as many panels of this size in inches; what is left of the last row stays empty, and room below."""
    columns = min(columns, panels)
    rows = -(-panels // columns)
    size = max(width * columns, NARROWEST), height * rows + below
    page = Figure(figsize=size, dpi=DOTS, layout="constrained")
    grid = list(page.subplots(rows, columns, squeeze=False).flatten())
    for axes in grid[panels:]:
        axes.set_axis_off()
    return page, grid[:panels]


def saved(page: Figure, format: str) -> bytes:
    """The same bytes from the same data."""
    file = io.BytesIO()
    page.savefig(file, format=format, metadata={"Date": None} if format == "svg" else None)
    return file.getvalue()
