"""Models by turns on one core: processor seconds of a training step at each size of training, as ratios to the first.

    python benchmarks/models_by_turns.py --tasks insertion_sort,dijkstra --models triplet-gmpnn,scan,combined --rounds 3

A step is half a batch, as one of two cores has it: 16 samples. Of each size the fastest round counts, and the sizes of
training are added up, for each has its turn in training.
"""

from __future__ import annotations

import argparse
import time

import torch

from rnar.clrs import find as find_task
from rnar.clrs import sample
from rnar.models import find
from rnar.runtime import backward

MEMORY = 300_000_000  # bytes that may be spent on what would else be computed twice
SAMPLES = 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tasks", default="insertion_sort,dijkstra")
    parser.add_argument("--models", default="triplet-gmpnn,scan,counting,combined")
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    for task in given.tasks.split(","):
        seconds = measured(task, given.models.split(","), given.rounds)
        first = next(iter(seconds.values()))
        print(f"{task}: " + ", ".join(f"{name} {s:.2f} s ({s / first:.2f})" for name, s in seconds.items()), flush=True)


def measured(task: str, names: list[str], rounds: int) -> dict[str, float]:
    """Seconds of a step of each model, all sizes added up."""
    models = {name: find(name) for name in names}
    networks = {name: model.build(task).train() for name, model in models.items()}
    total = dict.fromkeys(names, 0.0)
    for n in find_task(task).problem.training_sizes:
        batch, best = sample(task, n=n, batch=SAMPLES, seed=0), dict.fromkeys(names, float("inf"))
        for k in range(rounds + 1):
            for name, model in models.items():
                seen, start = model.batch(batch), time.process_time()
                backward(networks[name], seen, seed=k, memory=MEMORY)
                if k:  # the first round compiles
                    best[name] = min(best[name], time.process_time() - start)
        total = {name: total[name] + best[name] for name in names}
    return total


if __name__ == "__main__":
    main()
