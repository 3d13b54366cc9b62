"""How a model is drawn: one colour, dash and marker for it in all figures."""

from collections import defaultdict
from collections.abc import Iterable
from itertools import count
from typing import Any, NamedTuple

from rnar.models import MODELS

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""of Okabe and Ito (2008), which people with any vision tell apart; yellow is left out, for it is faint on white"""
DASHES = ("-", "--", ":", "-.")
MARKERS = "osD^vPX"
FIRST = ("rnar", "triplet-gmpnn", "rt", "g-forgetnet", "linked", "combined", "mpnn", "pgn", "rnar-mpnn")
"""those that are drawn most often have the colours that differ most"""


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
