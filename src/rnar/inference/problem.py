"""A problem that a network is asked to solve: given by a user, or drawn at random."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rnar.clrs import Sample, find
from rnar.clrs import sample as drawn
from rnar.clrs.own import Own
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
        """A user's own, given as `rnar.trace` takes it."""
        return Problem.of(task, find(task).own(*arguments, **named))

    @staticmethod
    def of(task: str, own: Own) -> Problem:
        """A user's own, as `Algorithm.own` gives it."""
        sample = find(task).solved(own.arguments)
        seen = scaled(sample.task, own.arguments, sample)
        return Problem(sample, seen, names=own.names, lost=several(merged(own.arguments, seen)))

    @staticmethod
    def random(task: str, n: int | None = None, seed: int | None = None, **options: Any) -> Problem:
        """One that is drawn from the distribution of the official sets, or with other options."""
        problem, seed = find(task).problem, 1 if seed is None else seed
        usual = max(problem.smallest, LETTERS if "string" in problem.inputs else NODES)
        sample = drawn(task, n=usual if n is None else n, batch=1, seed=seed, **options).sample(0)
        return Problem(sample, Scaled(sample), f"a random problem, seed {seed}")
