"""Of tables that dynamic programming fills: what they say of the whole problem."""

from collections.abc import Callable, Sequence

import numpy as np

from rnar.clrs import Sample
from rnar.inference.equivalence import length_of, way_back
from rnar.inference.words.saying import Outputs, exact, several

LONGEST = 200  # letters of a formula
PAIRS = 6  # paths that are told


def _parentheses(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    """Matrix i has p[i - 1] rows and p[i] columns; s[i, j] is the last matrix of the left part of i..j."""
    p, s = sample.inputs["p"].astype(float), outputs["s"]
    work = 0.0

    def product(i: int, j: int, k: int) -> None:
        nonlocal work
        work += p[i - 1] * p[k] * p[j]

    said = _tree(1, len(p) - 1, lambda i, j: int(s[i, j]), lambda i: f"M{i}", product)
    return (
        f"{said}, with {exact(work)} multiplications" if said else "no order: it splits where there is nothing to split"
    )


def _tree(
    i: int, j: int, split: Callable[[int, int], int], leaf: Callable[[int], str], each: Callable[[int, int, int], None]
) -> str:
    """The formula of i..j; empty if a split lies outside of its range."""
    if i == j:
        return leaf(i)
    k = split(i, j)
    if not i <= k < j:
        return ""
    each(i, j, k)
    left, right = _tree(i, k, split, leaf, each), _tree(k + 1, j, split, leaf, each)
    said = f"({left} {right})" if left and right else ""
    return said if len(said) <= LONGEST else f"{said[:LONGEST]}…"


def _search_tree(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    """root[i, j] is the root of the keys i..j-1."""
    p, q, root = sample.inputs["p"].astype(float), sample.inputs["q"].astype(float), outputs["root"]

    def tree(i: int, j: int) -> tuple[str, float]:
        """A formula, and the expected cost; NaN if a root lies outside of its range."""
        if i == j:
            return "", q[i]
        r = int(root[i, j])
        if not i <= r < j:
            return "?", np.nan
        (left, below), (right, above) = tree(i, r), tree(r + 1, j)
        cost = below + above + p[i:j].sum() + q[i : j + 1].sum()
        return (f"{r}({left or '–'} {right or '–'})" if left or right else str(r)), cost

    said, cost = tree(0, sample.nodes - 1)
    said = said if len(said) <= LONGEST else f"{said[:LONGEST]}…"
    if np.isnan(cost):
        return f"no tree: {said}, a root lies outside of its range"
    return f"the tree {said}, of cost {exact(cost)}"


def _all_paths(sample: Sample, outputs: Outputs, names: Sequence[str]) -> str:
    """Pi[i, j] is the node before j on the way from i; some ways are told, and who has none."""
    A, Pi, n = sample.inputs["A"], outputs["Pi"], sample.nodes
    ways, none = [], []
    for i in range(n):
        for j in range(i + 1, n):
            way = way_back(Pi[i], i, j)
            length = length_of(A, way)
            if way[-1] != i or length is None:
                none.append(f"{names[i]} to {names[j]}")
            else:
                ways.append(f"{'→'.join(names[v] for v in reversed(way))} ({exact(length)})")
    longest_first = sorted(ways, key=lambda way: -way.count("→"))
    said = [several(longest_first, PAIRS)] if ways else []
    return "; ".join([*said, *([f"no path from {several(none, PAIRS)}"] if none else [])])


SAYINGS = {"matrix_chain_order": _parentheses, "optimal_bst": _search_tree, "floyd_warshall": _all_paths}
