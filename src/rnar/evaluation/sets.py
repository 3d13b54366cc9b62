"""What a network is tried on: the test set of a task, or more samples, or other sizes."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from rnar.clrs import Batch, find, official
from rnar.clrs.exported import read as exported_samples
from rnar.clrs.mersenne import seeded
from rnar.clrs.splits import is_official, size_of

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
    of_test: bool
    """True if they are the test set of the task, or its first samples"""
    file: str = ""
    """where they were exported to, if they are neither"""

    @property
    def official(self) -> bool:
        """True if everybody has the same samples."""
        return self.of_test and is_official(self.task)

    @property
    def length(self) -> int:
        """What the sampler takes for n."""
        return self.n if self.file else find(self.task).problem.length(self.n)

    def batches(self) -> Iterator[Batch]:
        """All samples, some at a time."""
        if self.file:
            yield exported_samples(Path(self.file), self.task)
            return
        if self.of_test:
            yield official(self.task, "test").part(slice(self.samples))
            return
        rng, many = seeded(self.seed), at_once(self.n)
        for start in range(0, self.samples, many):
            yield find(self.task).sample(rng, self.length, min(many, self.samples - start))

    def __str__(self) -> str:
        if self.file:
            return f"those in {self.file}"
        if not self.of_test:
            return f"drawn as that of n=64 is, with seed {self.seed}"
        whole = self.samples == size_of(self.task, "test").samples
        if not self.official:
            return "drawn as official sets are" if whole else f"the first {self.samples} drawn as official sets are"
        return "the official test set" if whole else f"the first {self.samples} of the official test set"


def at_once(n: int) -> int:
    """How many samples of size `n` are in memory at a time: 32 of 128, so that the longest runs take half a gigabyte.

    Which samples are drawn does not depend on it.
    """
    return max(1, min(MOST_AT_ONCE, 32 * 128**3 // n**3))


def problem_sets(task: str, sizes: Sequence[int] = (), samples: Sequence[int] = ()) -> list[ProblemSet]:
    """The sets of these sizes, each once; of no size, the test set.

    Args:
        task: What they are of.
        sizes: How large the problems of each set are.
        samples: How many each has: one number for all, or one for each size; of no number, as many as the test set.
    """
    sizes, counts = sizes or [OFFICIAL], samples or [None]
    if len(counts) not in (1, len(sizes)):
        raise ValueError(
            f"how many samples is said {len(counts)} times for {len(sizes)} sizes; say it once for all, or for each"
        )
    counts = list(counts) * len(sizes) if len(counts) == 1 else counts
    if find(task).problem.only_size:
        return [problem_set(task, None, counts[0])]
    return [problem_set(task, n, count) for n, count in dict(zip(sizes, counts, strict=True)).items()]


def exported(task: str, file: Path) -> ProblemSet:
    """The samples of a task in a file that `rnar data export` wrote."""
    batch = exported_samples(file, task)
    return ProblemSet(task, batch.nodes, batch.size, 0, False, str(file))


def problem_set(task: str, n: int | None = None, samples: int | None = None) -> ProblemSet:
    """The test set, or its first samples, where nothing else is asked for."""
    known, algorithm = size_of(task, "test"), find(task)
    size = algorithm.problem.only_size or (OFFICIAL if n is None else n)
    count = known.samples if samples is None else samples
    algorithm.check(algorithm.problem.length(size), count, {})
    if count <= known.samples and n in (None, OFFICIAL):
        return ProblemSet(task, size, count, known.seed, True)
    return ProblemSet(task, size, count, SEED, False)
