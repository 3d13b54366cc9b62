"""Evaluation alone, by turns with dm-clrs: at n=64 a training step of theirs would not fit into memory.

    python benchmarks/evaluation_against.py PYTHON --task quickselect --models rnar triplet-gmpnn --n 64 --batch 4

PYTHON has dm-clrs (pip install dm-clrs==2.0.3). Medians over rounds, and the ratio of each round.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from statistics import median

import torch

from rnar.benchmark.measure import Ours
from rnar.benchmark.reference import reference
from rnar.models import find


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("python")
    parser.add_argument("--task", default="quickselect")
    parser.add_argument("--models", nargs="+", default=["rnar", "triplet-gmpnn"])
    parser.add_argument("--n", type=int, default=64)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--precision", default="float32", choices=["float32", "bfloat16"], help="of ours")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    for name in asked.models:
        model = find(name)
        plain = replace(model, reversal=False)  # which dm-clrs does not have
        ours = Ours(asked.task, plain, asked.n, asked.batch, rounds=asked.rounds, precision=asked.precision)
        with reference(asked.python, model, asked.task, "cpu", **ours.sizes) as theirs:
            ours.evaluate(0)
            theirs.ask("evaluation")
            pairs = [(ours.evaluate(k), theirs.ask("evaluation")["seconds"]) for k in range(1, asked.rounds + 1)]
        mine, other = (median(column) for column in zip(*pairs, strict=True))
        ratios = ", ".join(f"{b / a:.2f}" for a, b in pairs)
        what = f"{asked.task} n={asked.n} batch {asked.batch} {name} {asked.precision}"
        print(f"{what}: {mine:.3f} s, dm-clrs {other:.2f} s, {other / mine:.2f} times ({ratios})", flush=True)


if __name__ == "__main__":
    main()
