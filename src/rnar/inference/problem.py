"""A problem that a network is asked to solve: given by a user, or drawn at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rnar.clrs import Sample, find
from rnar.clrs import sample as drawn
from rnar.common.names import nearest
from rnar.inference.graphs import as_matrix, is_graph
from rnar.inference.scaling import Scaled, merged, scaled
from rnar.inference.words.saying import several

OWN = "your own input"
NODES, LETTERS = 8, 15  # the size of a random problem where none is given


@dataclass(frozen=True)
class Problem:
    """A problem, solved by the algorithm."""

    sample: Sample
    """as it was given"""
    seen: Scaled
    """as the network sees it: with its numbers in the range of training"""
    origin: str = OWN
    """where it comes from, in words"""
    names: tuple[str, ...] = ()
    """of the nodes; empty if they have numbers only"""
    lost: str = ""
    """in which inputs numbers differ and the network sees them as equal, in words"""

    @staticmethod
    def own(task: str, /, *arguments: Any, **named: Any) -> Problem:
        """A user's own: the arguments of the task as `rnar.trace` takes them, or a graph with names."""
        algorithm, names = find(task), ()
        takes = algorithm.problem.takes()
        if takes[0] == "A" and not arguments and is_graph(named):  # a graph as JSON has it, and perhaps a source
            source = {"s": named.pop("s")} if "s" in named else {}
            arguments, named = (named,), source
        named = {_known(name, task, takes): value for name, value in named.items()}
        first = arguments[0] if arguments else named.get(takes[0])
        if takes[0] == "A" and is_graph(first):
            A, names = as_matrix(first, getattr(algorithm.problem, "directed", True))
            given = dict(zip(takes[1:], arguments[1:], strict=False)) | {k: v for k, v in named.items() if k != "A"}
            arguments, named = (A, *arguments[len(takes) :]), {k: _place(v, names) for k, v in given.items()}
        elif len(arguments) == 1 and not named and _are_pairs(first, takes):
            arguments = tuple(np.asarray(first).T)
        own = algorithm.own(*arguments, **named)
        sample = algorithm.solved(own)
        seen = scaled(sample.task, own, sample)
        return Problem(sample, seen, names=tuple(names), lost=several(merged(own, seen)))

    @staticmethod
    def random(task: str, n: int | None = None, seed: int | None = None, **options: Any) -> Problem:
        """One that is drawn from the distribution of the official sets, or with other options."""
        problem, seed = find(task).problem, 1 if seed is None else seed
        usual = max(problem.smallest, LETTERS if "string" in problem.inputs else NODES)
        sample = drawn(task, n=usual if n is None else n, batch=1, seed=seed, **options).sample(0)
        return Problem(sample, Scaled(sample), f"a random problem, seed {seed}")


def _known(name: str, task: str, takes: tuple[str, ...]) -> str:
    """The name of an argument: that of the problem, or that of the benchmark's input (`key`)."""
    inputs = [name for name in find(task).problem.inputs if name != "pos"]
    aliases = dict(zip(inputs, takes, strict=True)) if len(inputs) == len(takes) else {}
    if name in takes or name in aliases:
        return name if name in takes else aliases[name]
    raise ValueError(f"{task} takes {', '.join(takes)}, but was given {name}{nearest(name, takes)}")


def _are_pairs(values: Any, takes: tuple[str, ...]) -> bool:
    """True for three or more points (x, y) or intervals (s, f)."""
    try:
        return takes in (("x", "y"), ("s", "f")) and np.shape(values)[1:] == (2,) and len(values) > 2
    except ValueError:  # lists of several lengths
        return False


def _place(name: Any, names: Sequence[str]) -> Any:
    """The number of a node that is given by its name."""
    if not names or str(name) in names:
        return names.index(str(name)) if names else name
    raise ValueError(f"no node {name!r}{nearest(str(name), names)}; the nodes are {', '.join(names[:12])}")
