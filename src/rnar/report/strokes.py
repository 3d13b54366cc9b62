"""How a model is drawn: one colour, dash and marker for it in all figures."""

from collections.abc import Iterable
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


def nth(k: int) -> Stroke:
    """One of 28 that differ."""
    dash = k // len(COLOURS) % len(DASHES)
    return Stroke(COLOURS[k % len(COLOURS)], DASHES[dash], MARKERS[(k + dash) % len(MARKERS)])


def strokes(lines: Iterable[tuple[str, str]]) -> dict[str, Stroke]:
    """By label, for lines of (model, label): those of one model have its colour, and a dash and marker each.

    A model of this package looks the same in every figure; those that are not known here come after them.
    """
    lines = list(lines)
    order = list(dict.fromkeys([*FIRST, *MODELS, *(model for model, _ in lines)]))
    found: dict[str, Stroke] = {}
    variants: dict[str, int] = {}
    for model, label in dict.fromkeys(lines):
        own, number = nth(order.index(model)), variants.setdefault(model, 0)
        dash = DASHES[(DASHES.index(own.dash) + number) % len(DASHES)]
        marker = MARKERS[(MARKERS.index(own.marker) + number) % len(MARKERS)]
        found[label] = Stroke(own.colour, dash, marker)
        variants[model] += 1
    return found
