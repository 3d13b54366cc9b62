"""Of two strings."""

from collections.abc import Sequence

import numpy as np

from rnar.clrs import Sample
from rnar.clrs.naming import letters
from rnar.inference.equivalence import DIAGONAL, LEFT, UP

Outputs = dict[str, np.ndarray]


def _match(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    place, first = int(outputs["match"]), int((sample.inputs["string"] == 0).sum())
    if place < first:
        return f"the needle is at place {place} of the haystack"
    return "the needle is not in the haystack"


def _common(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    """What one reads along the arrows of the table, from its end."""
    b, first, key = outputs["b"], int((sample.inputs["string"] == 0).sum()), letters(sample)
    i, j, taken, differ = first - 1, sample.nodes - first - 1, [], 0
    while i >= 0 and j >= 0:
        arrow = int(b[i, first + j])
        if arrow == DIAGONAL:
            taken.append(key[i])
            differ += key[i] != key[first + j]
        elif arrow not in (UP, LEFT):
            return "the arrows of the table lead nowhere"
        i, j = i - (arrow in (DIAGONAL, UP)), j - (arrow in (DIAGONAL, LEFT))
    if not taken:
        return "they have no letter in common"
    said = f"the longest common subsequence is {''.join(reversed(taken))}, {len(taken)} letter{'s' * (len(taken) > 1)}"
    return f"{said}, of which {differ} {'is' if differ == 1 else 'are'} not common" if differ else said


SAYINGS = {"naive_string_matcher": _match, "kmp_matcher": _match, "lcs_length": _common}
