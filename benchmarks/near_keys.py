"""Where a network that sorts goes wrong: at which gaps between keys, at which ranks, and by how many ranks.

    python benchmarks/near_keys.py RUN --n 16 64 --samples 16 --network average

A node's predecessor in order is right, or off by some ranks. A network that compares keys is wrong where two keys
nearly touch, and right at wide gaps. One that counts (how many keys are smaller) is wrong at any gap, by a rank or
two, once there are more keys than it has seen.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch

import rnar
from rnar.nn.kinds import kind_of

GAPS = (0.0, 0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 1.0)


def predecessors(run: rnar.Run, network: str, n: int, samples: int, seed: int) -> tuple[np.ndarray, ...]:
    """The keys [B, n], the true predecessors and the predicted ones, of a task whose output is `pred`."""
    reasoner = run.network(which=network).eval()
    (task,) = run.settings.tasks
    batch = run.model.batch(rnar.sample(task, n=n, batch=samples, seed=seed))
    with torch.no_grad():
        logits = reasoner(batch, hints=False).outputs["pred"]
    predicted = kind_of(reasoner.heads_of(task).spec.outputs["pred"]).decide(logits).numpy()
    return batch.inputs["key"], batch.outputs["pred"].astype(int), predicted.astype(int)


def nearest_gaps(key: np.ndarray) -> np.ndarray:
    """The gap between each key and the one next to it in order, on either side: [B, n]."""
    order = np.argsort(key, axis=1)
    gaps = np.diff(np.take_along_axis(key, order, 1), axis=1)
    edge = np.full((len(key), 1), np.inf)
    nearest = np.minimum(np.hstack([edge, gaps]), np.hstack([gaps, edge]))
    back = np.empty_like(key)
    np.put_along_axis(back, order, nearest, 1)
    return back


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs", nargs="+", help="folders of runs that sort")
    parser.add_argument("--n", type=int, nargs="+", default=[16, 64])
    parser.add_argument("--samples", type=int, default=16)
    parser.add_argument("--network", choices=("best", "last", "average"), default="last")
    parser.add_argument("--seed", type=int, default=11)
    args = parser.parse_args()
    gaps_of_table = " ".join(f"<{gap:g}".rjust(6) for gap in GAPS[1:])
    print(f"{'run':30s}   n  score | {gaps_of_table} | by quarter of ranks      | off by 1, 2, more")
    for folder in args.runs:
        run = rnar.Run(folder)
        for n in args.n:
            key, true, predicted = predecessors(run, args.network, n, args.samples, args.seed)
            right, gaps = predicted == true, nearest_gaps(key)
            rank = np.argsort(np.argsort(key, axis=1), axis=1)
            off = np.abs(np.take_along_axis(rank, predicted, 1) - np.take_along_axis(rank, true, 1))
            shares = [right[(gaps >= low) & (gaps < high)] for low, high in zip(GAPS, GAPS[1:], strict=False)]
            by_gap = [f"{100 * x.mean():6.1f}" if len(x) else "     –" for x in shares]
            quarters = [f"{100 * right[rank * 4 // n == k].mean():5.1f}" for k in range(4)]
            distance = [f"{100 * (off == k).mean():.1f}" for k in (1, 2)] + [f"{100 * (off > 2).mean():.1f}"]
            start = f"{folder[-30:]:30s} {n:3d}  {100 * right.mean():5.1f}"
            print(start, "|", *by_gap, "|", *quarters, "|", ", ".join(distance))


if __name__ == "__main__":
    main()
