"""CLRS-30 as exact, fast and light data: 30 textbook algorithms with their inputs, hints and outputs.

    import rnar.clrs

    rnar.clrs.trace("quickselect", [5.0, 2.0, 9.0])          # your own input, step by step
    rnar.clrs.sample("bfs", n=16, batch=32, seed=0, p=0.3)   # what dm-clrs draws from the same seed
    rnar.clrs.official("heapsort", "test")                   # the official sets, regenerated
    next(rnar.clrs.Stream("quickselect", seed=0))            # the training data of the standard protocol

Values are stored as what they are (see `rnar.clrs.spec`); `to_dm_clrs` gives them in the layout of dm-clrs.
"""

from typing import Any

from rnar.clrs import algorithms as _the_thirty  # noqa: F401  (fills ALGORITHMS)
from rnar.clrs.batch import Batch, Sample, stacked
from rnar.clrs.layouts import to_dm_clrs
from rnar.clrs.mersenne import seeded
from rnar.clrs.problems.problem import Problem
from rnar.clrs.recording import chain, step
from rnar.clrs.registry import ALGORITHMS, Algorithm, algorithm, find
from rnar.clrs.spec import Feature, Spec, edge, graph, node
from rnar.clrs.splits import Split, official
from rnar.clrs.stream import Stream
from rnar.clrs.transforms import order_as_hint, randomise_positions, reverse_pointers
from rnar.common.checking import checked
from rnar.common.compiling import kernel

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Batch",
    "Feature",
    "Problem",
    "Sample",
    "Spec",
    "Split",
    "Stream",
    "algorithm",
    "chain",
    "edge",
    "find",
    "graph",
    "kernel",
    "node",
    "official",
    "order_as_hint",
    "randomise_positions",
    "reverse_pointers",
    "sample",
    "stacked",
    "step",
    "to_dm_clrs",
    "trace",
]


@checked
def trace(task: str, /, *arguments: Any, **named: Any) -> Sample:
    """Run a task on your own input: `trace("dijkstra", A, s=0)`, `trace("kmp_matcher", "ATCGATC", "GAT")`.

    A graph is a matrix, one of networkx, SciPy or PyTorch Geometric, a list of edges (`edges=[("a", "b", 2.0)]`) or a
    dictionary; points and intervals may be pairs.
    """
    return find(task).trace(*arguments, **named)


@checked
def sample(task: str, n: int, batch: int, seed: int, **options: Any) -> Batch:
    """`batch` random problems of size `n`, solved: those which dm-clrs 2.0.3 draws from the same seed.

    `options` set the distribution (`p=0.3`, `p=(0.1, 0.9)`, `needle=(1, 8)`, `low=-1.0`); `find(task).problem.options`
    has those of a task with their defaults, which are those of the official sets.
    """
    return find(task).sample(seeded(seed), n, batch, **options)
