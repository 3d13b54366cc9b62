"""What a step costs apart from its samples: the number `CALLS` of rnar/runtime/shares.py, measured.

    python benchmarks/share_costs.py --tasks quickselect --models triplet-gmpnn,rnar --n 16

Parts of a batch, of many samples and of few, are learned on one core. The seconds of each are (calls x steps of its
longest sample + sample x steps of all its samples), fitted by least squares; `CALLS` is how many pairs of nodes could
be worked on in the time that the calls take. Then what shares save by it: the cost of the dearest share, dealt out in
turn and as `shares` has them.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
import torch

from rnar.clrs import sample
from rnar.clrs.batch import Batch
from rnar.models import Model, find
from rnar.runtime import backward
from rnar.runtime.shares import shares

MEMORY = 6_000_000_000  # all steps are kept
PARTS = (1, 2, 4, 8, 12, 16)  # samples
BATCHES = 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default="quickselect")
    parser.add_argument("--models", default="triplet-gmpnn,rnar")
    parser.add_argument("--n", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    for task in given.tasks.split(","):
        batches = [sample(task, n=given.n, batch=32, seed=seed) for seed in range(BATCHES)]
        for model in map(find, given.models.split(",")):
            calls, each = fitted(task, model, batches[0], given.rounds)
            pairs = calls / each * batches[0].nodes ** 2
            saved = np.mean([saving(batch, calls, each) for batch in batches])
            print(
                f"{task}, {model.name}: {1e3 * calls:.2f} ms for the calls of a step and {1e3 * each:.2f} ms for each "
                f"sample, CALLS {pairs:.0f}; two shares save {100 * saved:.1f} % by it",
                flush=True,
            )


def fitted(task: str, model: Model, batch: Batch, rounds: int) -> tuple[float, float]:
    """Seconds of the calls of a step, and of a step of one sample."""
    network = model.build(task).train()
    order = np.argsort(-batch.lengths, kind="stable")
    parts = [model.batch(batch.part(places)) for k in PARTS for places in (order[:k], order[::-1][:k])]
    seconds = np.full(len(parts), np.inf)
    for k in range(rounds + 1):
        for p, part in enumerate(parts):
            start = time.process_time()
            backward(network, part, seed=0, memory=MEMORY)
            if k:  # the first round compiles
                seconds[p] = min(seconds[p], time.process_time() - start)
    steps = [np.maximum(1, part.lengths - 1) for part in parts]
    terms = np.array([[some.max(), some.sum()] for some in steps], float)
    calls, each = np.linalg.lstsq(terms / seconds[:, None], np.ones(len(parts)), rcond=None)[0]  # relative errors
    return float(calls), float(each)


def saving(batch: Batch, calls: float, each: float) -> float:
    """The part of the dearest of two shares that is saved."""
    steps = np.maximum(1, batch.lengths - 1)
    order = np.argsort(-batch.lengths, kind="stable")
    before, after = (
        max(calls * steps[some].max() + each * steps[some].sum() for some in found)
        for found in ([order[0::2], order[1::2]], shares(batch.lengths, batch.nodes, 2))
    )
    return 1 - after / before


if __name__ == "__main__":
    main()
