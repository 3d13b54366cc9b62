"""How far a rule of two numbers comes on Task Scheduling, which no network needs to execute anything for.

    python benchmarks/task_scheduling_rule.py [--n 64]

One of n tasks, of weight w and deadline d, is selected if w + a d / n > t. The two numbers are fitted on samples of the
same size that are drawn by us, and tried on the official test at n = 64, or on others that are drawn.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

import rnar.clrs
from rnar.clrs import Batch

TASK = "task_scheduling"
SLOPES, BOUNDS = np.linspace(0, 3, 31), np.linspace(0, 3, 121)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--n", type=int, default=64)
    parser.add_argument("--samples", type=int, default=512, help="that the rule is fitted on")
    given = parser.parse_args()
    drawn = rnar.clrs.sample(TASK, given.n, given.samples, seed=1)
    tried = rnar.clrs.official(TASK, "test") if given.n == 64 else rnar.clrs.sample(TASK, given.n, 32, seed=2)
    slope, bound = max(product(SLOPES, BOUNDS), key=lambda rule: f1(drawn, *rule))
    print(f"n={given.n}, {tried.size} samples, F1 in percent")
    print(f"all tasks                       {100 * f1(tried, 0.0, -1.0):.1f}")
    print(f"w + {slope:.1f} d / n > {bound:.3f}           {100 * f1(tried, slope, bound):.1f}")


def f1(batch: Batch, slope: float, bound: float) -> float:
    """Of all entries of all samples together, as the benchmark has it."""
    weight, deadline = batch.inputs["w"], batch.inputs["d"] / batch.nodes
    said, true = weight + slope * deadline > bound, batch.outputs["selected"] == 1
    return float(2 * (said & true).sum() / (said.sum() + true.sum()))


if __name__ == "__main__":
    main()
