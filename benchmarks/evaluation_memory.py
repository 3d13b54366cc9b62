"""The peak memory of evaluating 32 samples at n=64, hints included: a process of its own for each model and task.

    python benchmarks/evaluation_memory.py
    python benchmarks/evaluation_memory.py --models rnar rt --tasks floyd_warshall --steps 64

Networks have fresh weights and their full size. The official test set is in memory, the samples that are evaluated with
all their hints as the model sees them, but they end after a few steps (--steps): how many there are makes no difference
to what a step needs. The copies of true hints that pieces of longer runs hold are not in it. What counts is the peak of
the resident set of the process, all libraries included.

With `--free` the memory budget is not applied: all samples at once, in one thread. The difference to a process that
evaluates one sample tells what a sample needs, which is what `rnar.evaluation.memory` estimates.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from typing import Any

MODELS = ("mpnn", "triplet-gmpnn", "rnar", "rnar-gru", "rnar-binary-gru", "rnar-janossy-3", "rt", "g-forgetnet")
TASKS = (
    "floyd_warshall",
    "matrix_chain_order",
    "optimal_bst",
    "articulation_points",
    "bridges",
    "mst_kruskal",
    "jarvis_march",
    "quickselect",
    "naive_string_matcher",
    "dfs",
    "strongly_connected_components",
    "dag_shortest_paths",
    "bubble_sort",
    "heapsort",
)
SAMPLES, STEPS = 32, 3
LIMIT = 6000  # megabytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", metavar="NAME", nargs="+", default=MODELS)
    parser.add_argument("--tasks", metavar="NAME", nargs="+", default=TASKS)
    parser.add_argument("--steps", metavar="N", type=int, default=STEPS, help=f"of each sample (default: {STEPS})")
    parser.add_argument("--samples", metavar="N", type=int, default=SAMPLES, help=f"(default: {SAMPLES})")
    parser.add_argument("--threads", metavar="N", type=int, help="(default: one for each core)")
    parser.add_argument("--free", action="store_true", help="no budget: all samples at once, in one thread")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        work(arguments)
        return
    print(f"{'task':30} {'model':16} {'peak MB':>8} {'at once':>8} {'s a step':>9}")
    for task in arguments.tasks:
        for model in arguments.models:
            print(line(task, model, measured(task, model, sys.argv[1:])), flush=True)


def measured(task: str, model: str, flags: list[str]) -> dict[str, Any]:
    """What a process says that evaluates this pair."""
    command = [sys.executable, __file__, *flags, "--worker", "--models", model, "--tasks", task]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        return {"failed": done.returncode}
    return json.loads(done.stdout)


def line(task: str, model: str, found: dict[str, Any]) -> str:
    start = f"{task:30} {model:16}"
    if "failed" in found:
        return f"{start} ended with code {found['failed']}"
    warning = "  too much" if found["peak"] > LIMIT else ""
    return f"{start} {found['peak']:8.0f} {found['at_once']:8} {found['seconds']:9.2f}{warning}"


def work(arguments: argparse.Namespace) -> None:
    """Evaluate one pair, and say what it took."""
    os.environ["OMP_NUM_THREADS"] = "1"
    import numpy as np
    import torch

    import rnar.clrs
    import rnar.models
    from rnar.evaluation.evaluate import evaluate
    from rnar.evaluation.memory import BUDGET, cut
    from rnar.runtime.workers import Workers

    torch.set_num_threads(1)
    (task,), (name,) = arguments.tasks, arguments.models
    model = rnar.models.find(name)
    whole = model.batch(rnar.clrs.official(task, "test").part(slice(arguments.samples)))
    batch = whole._replace(lengths=np.minimum(whole.lengths, arguments.steps + 1))
    workers = Workers(model.build(task), 1 if arguments.free else arguments.threads)
    budget = 2**60 if arguments.free else BUDGET
    at_once = max(map(len, cut(workers, batch, True, budget)))
    start = time.perf_counter()
    evaluate(workers, batch, hints=True, budget=budget)
    seconds = (time.perf_counter() - start) / max(1, batch.lengths.max() - 1)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1e6 if sys.platform == "darwin" else 1e3)
    print(json.dumps({"peak": peak, "at_once": at_once, "seconds": seconds}))


if __name__ == "__main__":
    main()
