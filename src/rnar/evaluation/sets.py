"""What a network is tried on: the official test set of a task, or more samples, or other sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from rnar.clrs import Batch, find, official
from rnar.clrs.mersenne import seeded
from rnar.clrs.problems.points import Segments
from rnar.clrs.problems.strings import HaystackAndNeedle
from rnar.clrs.splits import size_of

OFFICIAL = 64
SEED = 4  # the official sets have 1, 2 and 3
MOST_AT_ONCE = 1024  # samples that are drawn at a time


class ProblemSet(NamedTuple):
    """Samples of one task and one size, drawn as the official test set is."""

    task: str
    n: int
    """as the official sets count: of a string matcher the haystack alone"""
    samples: int
    seed: int
    official: bool

    @property
    def length(self) -> int:
        return length_of(self.task, self.n)

    def batches(self) -> Iterator[Batch]:
        """All samples, some at a time."""
        if self.official:
            yield official(self.task, "test").part(slice(self.samples))
            return
        rng, many = seeded(self.seed), at_once(self.n)
        for start in range(0, self.samples, many):
            yield find(self.task).sample(rng, self.length, min(many, self.samples - start))

    def __str__(self) -> str:
        if not self.official:
            return f"drawn as that of n=64 is, with seed {self.seed}"
        whole = self.samples == size_of(self.task, "test").samples
        return "the official test set" if whole else f"the first {self.samples} of the official test set"


def at_once(n: int) -> int:
    """How many samples of size `n` are in memory at a time: 32 of 128, so that the longest runs take half a gigabyte.

    Which samples are drawn does not depend on it.
    """
    return max(1, min(MOST_AT_ONCE, 32 * 128**3 // n**3))


def problem_sets(task: str, sizes: tuple[int, ...], samples: int | None) -> list[ProblemSet]:
    """The sets of these sizes, each once; of no size, the official one. Each has as many samples as that by default."""
    if has_one_size(task):
        return [problem_set(task, None, samples)]
    return [problem_set(task, n, samples) for n in dict.fromkeys(sizes or [OFFICIAL])]


def problem_set(task: str, n: int | None = None, samples: int | None = None) -> ProblemSet:
    """The official set, or its first samples, where nothing else is asked for."""
    known, size = size_of(task, "test"), 4 if has_one_size(task) else OFFICIAL if n is None else n
    count = known.samples if samples is None else samples
    find(task).check(length_of(task, size), count, {})
    if count <= known.samples and n in (None, OFFICIAL):
        return ProblemSet(task, size, count, known.seed, True)
    return ProblemSet(task, size, count, SEED, False)


def has_one_size(task: str) -> bool:
    """Do all its problems have the same size, whichever is asked for?"""
    return isinstance(find(task).problem, Segments)


def length_of(task: str, n: int) -> int:
    """What the sampler calls n: where a needle is searched, it comes on top of the haystack."""
    return n + n // 4 if isinstance(find(task).problem, HaystackAndNeedle) else n
