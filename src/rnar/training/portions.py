"""Portions of samples that are worked through until the time is up."""

import time
from collections.abc import Iterator

FIRST = 4
"""samples, of the first portion where time is short: it tells how many go into the time that is left"""


def portions(done: int, total: int, most: int, seconds: float) -> Iterator[slice]:
    """Yield the next samples to work on, until all are done or there is no time left for another.

    Args:
        done: How many were done before. Where that is none, the first portion is yielded in any case.
        total: How many there are.
        most: How many a portion has at most.
        seconds: How long the caller may take for all portions; inf for as long as it takes.
    """
    begin, size = time.perf_counter(), most if seconds == float("inf") else min(most, FIRST)
    if done and seconds <= 0:
        return
    while done < total:
        start = time.perf_counter()
        yield slice(done, min(done + size, total))
        done, now = done + size, time.perf_counter()
        left = seconds - (now - begin)
        size = int(min(most, 2 * size, left * size / max(now - start, 1e-9)))
        if size < 1:
            return
