"""Of points in the plane."""

from collections.abc import Sequence

import numpy as np

from rnar.clrs import Sample
from rnar.inference.words.saying import chosen, named

Outputs = dict[str, np.ndarray]


def _crossing(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    return "the segments cross" if int(outputs["intersect"]) == 1 else "the segments do not cross"


def _hull(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    found = chosen(outputs["in_hull"])
    return f"the hull has {named('point', found)}" if found else "no point is on the hull"


SAYINGS = {"segments_intersect": _crossing, "graham_scan": _hull, "jarvis_march": _hull}
