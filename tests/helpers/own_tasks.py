"""Algorithms of a user's own, in files of a folder of theirs."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from rnar.clrs import ALGORITHMS

TUTORIAL = (Path(__file__).parents[2] / "docs" / "tutorials" / "algorithm.md").read_text("utf-8")
SORT = "my_tasks:selection_sort"

TWICE = '''
import numpy as np
from rnar.clrs import Problem, algorithm, node, step
from rnar.clrs.problems.problem import positions, vector


class Twice(Problem):
    """n numbers, and the same n once more, with a bit of noise."""

    inputs = {"pos": node.scalar, "key": node.scalar}
    options = {"noise": 0.5}
    training = {"noise": 0.25}

    def length(self, n):
        return 2 * n

    def draw(self, rng, n, batch, *, noise):
        once = np.arange(batch * (n // 2), dtype=float).reshape(batch, n // 2)
        return (np.concatenate([once, once + noise], axis=1),)

    def view(self, key):
        return {"pos": positions(key.shape[1], key), "key": key}

    def own(self, key):
        return (vector("key", key),)


class Seven(Twice):
    """Always seven numbers."""

    only_size = 7

    def length(self, n):
        return n

    def draw(self, rng, n, batch, *, noise):
        return (np.full((batch, 7), noise),)


@algorithm(problem=Twice(), hints=dict(i=node.mask_one), outputs=dict(last=node.mask_one), multiplier=2)
def minimum(trace, key):
    step(trace, 0)
    step(trace, len(key) - 1)
    return len(key) - 1


@algorithm(problem=Seven(), hints=dict(i=node.mask_one), outputs=dict(last=node.mask_one))
def seven(trace, key):
    step(trace, 0)
    return len(key) - 1


alias = minimum
'''
"""`minimum` has the name of one of ours, and problems that have twice the size that they are asked for."""


def written(folder: Path) -> Iterator[Path]:
    """A folder with the algorithm of the docs in my_tasks.py, and TWICE in pack/age.py; all is forgotten afterwards."""
    (snippet,) = [code for code in re.findall(r"```python\n(.*?)```", TUTORIAL, re.DOTALL) if "@algorithm" in code]
    (folder / "my_tasks.py").write_text(re.sub(r"^print.*$", "", snippet, flags=re.MULTILINE))
    (folder / "pack").mkdir()
    (folder / "pack" / "age.py").write_text(TWICE)
    known, path = dict(ALGORITHMS), list(sys.path)
    yield folder
    ALGORITHMS.clear()
    ALGORITHMS.update(known)
    sys.path[:] = path
    for name in ("my_tasks", "pack", "pack.age"):
        sys.modules.pop(name, None)
