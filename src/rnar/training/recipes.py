"""Recipes of training by name: the settings in which each differs from the standard protocol.

To add one, add it here, with a reason beside each setting. It only gives defaults: what a run is given says otherwise.
"""

from typing import Any

RECIPES: dict[str, dict[str, Any]] = {
    "standard": {},  # the protocol of Ibarz et al. (2022), by which published numbers are made
    "steady": dict(
        schedule="cosine",  # falls to zero, so that the last networks are alike, and chance selects less
        average=0.999,  # over about the last thousand steps, which smooths what validation jumps by
    ),
}
