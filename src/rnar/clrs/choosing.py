"""Tasks by wildcard: `mst*`."""

from __future__ import annotations

import difflib
from fnmatch import fnmatchcase

from rnar.clrs import ALGORITHMS, Algorithm, find


def matching(pattern: str) -> list[Algorithm]:
    """The tasks whose names match, in the order of the chapters; at least one, or it is an error."""
    found = [algorithm for name, algorithm in ALGORITHMS.items() if fnmatchcase(name, pattern)]
    if found:
        return found
    start = pattern.rstrip("*")
    if start == pattern:
        return [find(pattern)]  # which says what is near
    starts = {name[: len(start)] for name in ALGORITHMS}
    near = [f"{prefix}*" for prefix in sorted(difflib.get_close_matches(start, starts, n=3))]
    hint = (
        f" (did you mean {' or '.join(map(repr, near))}?)" if near else f"; there are {', '.join(sorted(ALGORITHMS))}"
    )
    raise ValueError(f"no task matches {pattern!r}{hint}")
