"""Tasks by wildcard: `mst*`."""

import difflib
from fnmatch import fnmatchcase

from rnar.clrs import ALGORITHMS, Algorithm, find
from rnar.common.importing import import_module


def matching(pattern: str) -> list[Algorithm]:
    """The tasks whose names match, in the order of the chapters; at least one, or it is an error.

    A user's own are meant only where their module is named: `my_tasks:*`.
    """
    if not set("*?[") & set(pattern):
        return [find(pattern)]  # which says what is near
    module = pattern.rpartition(":")[0]
    if module:
        import_module(module, f"the tasks {pattern!r}")
    known = [name for name in ALGORITHMS if name.rpartition(":")[0] == module]
    found = [ALGORITHMS[name] for name in known if fnmatchcase(name, pattern)]
    if found:
        return found
    start = pattern.rstrip("*")
    starts = {name[: len(start)] for name in known}
    near = [f"{prefix}*" for prefix in sorted(difflib.get_close_matches(start, starts, n=3))]
    meant, there = " or ".join(map(repr, near)), ", ".join(sorted(known)) or "none"
    raise ValueError(f"no task matches {pattern!r}" + (f" (did you mean {meant}?)" if near else f"; there are {there}"))
