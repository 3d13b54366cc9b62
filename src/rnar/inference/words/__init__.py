"""An answer in words of its problem: "the median is 5.0", "no path to node 7"."""

from collections.abc import Callable, Sequence

import numpy as np

from rnar.clrs import Sample
from rnar.inference.words import arrays, graphs, points, strings, tables
from rnar.inference.words.of_any import of_any

Outputs = dict[str, np.ndarray]

SAYINGS: dict[str, Callable[[Sample, Outputs, Sequence[str]], str]] = {
    **arrays.SAYINGS,
    **graphs.SAYINGS,
    **points.SAYINGS,
    **strings.SAYINGS,
    **tables.SAYINGS,
}
"""by task; each takes a problem, outputs in stored form, which may make no sense, and what the nodes are called"""


def say(sample: Sample, outputs: Outputs, names: Sequence[str] = ()) -> str:
    """An answer to a problem, the algorithm's or a network's, in a sentence."""
    saying = SAYINGS.get(sample.task)
    if saying is None:
        return of_any(sample, outputs, names)
    return saying(sample, outputs, names or [str(i) for i in range(sample.nodes)])
