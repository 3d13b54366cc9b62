"""Two versions of the sources by turns on one machine: seconds of a training step and of an evaluation, and memory.

    git worktree add /tmp/before COMMIT
    python benchmarks/versions.py /tmp/before/src src --task quickselect --model rnar --rounds 6

Each version has a process of its own, which is asked for one step at a time, so that other work hits both alike.
Processor seconds are those of all processes of a version; ratios above 1 say that the second version is faster.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from statistics import median

WORK = """
import json, os, sys, time
import rnar.clrs, rnar.models
from rnar.evaluation.evaluate import evaluate
try:
    from rnar.runtime.workers import Workers
    how = {"precision": sys.argv[5]}
except ImportError:  # before the model was plain PyTorch
    from rnar.engine.workers import Workers
    how = {}

task, name, threads, memory = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(float(sys.argv[4]) * 1e9)
precision, n = sys.argv[5], int(sys.argv[6])
model = rnar.models.find(name)
network = model.build(task, seed=0).train()
network.precision = precision  # as it was given before
workers = Workers(network, threads, memory=memory)
batches = [model.batch(rnar.clrs.sample(task, n, 32, seed=seed)) for seed in range(3)]

def processor():
    others = workers.processes
    times = [open(f"/proc/{number}/stat").read().split()[13:15] for number in others]
    return time.process_time() + sum(int(t) for pair in times for t in pair) / os.sysconf("SC_CLK_TCK")

workers.backward(batches[0], seed=0)
for line in sys.stdin:
    marks = [(time.perf_counter(), processor())]
    workers.backward(batches[int(line) % 3], seed=int(line), **how)
    marks.append((time.perf_counter(), processor()))
    evaluate(workers, batches[int(line) % 3])
    marks.append((time.perf_counter(), processor()))
    network.train()
    spans = [late - early for one, other in zip(marks, marks[1:]) for early, late in zip(one, other)]
    print(json.dumps([*spans, workers.peak_memory() / 1e9]), flush=True)
"""
WHAT = ("training, wall s", "training, processor s", "evaluation, wall s", "evaluation, processor s", "memory, GB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs=2, help="the src folders of the two versions")
    parser.add_argument("--task", default="quickselect")
    parser.add_argument("--model", default="rnar")
    parser.add_argument("--threads", default="2")
    parser.add_argument("--memory", default="0.6", help="GB that may be spent on what would else be computed twice")
    parser.add_argument("--precision", nargs=2, default=["float32", "float32"], help="of each version's training")
    parser.add_argument("--n", default="16")
    parser.add_argument("--rounds", type=int, default=6)
    given = parser.parse_args()
    command = [sys.executable, "-c", WORK, given.task, given.model, given.threads, given.memory]
    processes = [
        subprocess.Popen(
            [*command, precision, given.n],
            env={**os.environ, "PYTHONPATH": source},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        for source, precision in zip(given.sources, given.precision, strict=True)
    ]
    rounds = [[ask(process, number) for process in processes] for number in range(given.rounds)]
    for process in processes:
        process.kill()
    for k, what in enumerate(WHAT):
        one, other = (median(pair[version][k] for pair in rounds) for version in (0, 1))
        ratio = median(pair[0][k] / pair[1][k] for pair in rounds)
        print(f"{what}: {one:.3f} and {other:.3f}, ratio of medians {one / other:.3f}, median of ratios {ratio:.3f}")


def ask(process: subprocess.Popen[str], number: int) -> list[float]:
    """One step of training and one evaluation."""
    assert process.stdin and process.stdout
    process.stdin.write(f"{number}\n")
    process.stdin.flush()
    return json.loads(process.stdout.readline())


if __name__ == "__main__":
    main()
