"""How time and memory of a training step grow: with nodes, samples, steps and cores, for RNAR and Triplet-GMPNN.

    python benchmarks/growth.py --csv growth.csv --figure docs/images/growth.png

Each point is a process of its own, so that its memory is its own. It has a network of size 128 and a batch of
Quickselect whose samples all take the same number of steps, which are all kept for the backward pass; the best of
`--rounds` gradients counts, after one to warm up. One of four things grows at a time. Memory is the most that all
processes of the point had, less what one had before its first step (the interpreter, torch, weights). Time is that of
the processors, which other work on the machine changes less than that of the clock; where cores grow, the clock's.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import subprocess
import sys
import time
from pathlib import Path

MODELS = ("rnar", "triplet-gmpnn")
GROWING: dict[str, tuple[dict[str, int], tuple[int, ...]]] = {
    "n": ({"samples": 4, "steps": 6, "cores": 1}, (8, 16, 32, 64, 128)),
    "samples": ({"n": 16, "steps": 6, "cores": 1}, (1, 4, 16, 64)),
    "steps": ({"n": 32, "samples": 4, "cores": 1}, (2, 8, 30)),
    "cores": ({"n": 16, "samples": 32, "steps": 6}, tuple(2**k for k in range(8) if 2**k <= (os.cpu_count() or 1))),
}
TITLES = {"n": "nodes", "samples": "samples in a batch", "steps": "steps of each sample", "cores": "cores"}


def point(model: str, rounds: int, n: int, samples: int, steps: int, cores: int) -> dict[str, float]:
    """Seconds and bytes of a training step."""
    import numpy as np

    import rnar.clrs
    import rnar.models
    from rnar.runtime.memory import peak_memory
    from rnar.runtime.workers import Workers

    recipe = rnar.models.find(model)
    network = recipe.build("quickselect", seed=0).train()
    batch = recipe.batch(rnar.clrs.sample("quickselect", n=n, batch=samples, seed=0))
    if batch.lengths.min() < steps + 1:
        raise ValueError(f"a sample of n={n} takes fewer than {steps} steps")
    batch = batch._replace(lengths=np.full(samples, steps + 1))
    workers = Workers(network, cores, memory=1 << 40)
    before = peak_memory()
    workers.backward(batch)  # compiles
    wall, processor = [], []
    for _ in range(rounds):
        start, used = time.perf_counter(), processor_seconds(workers.processes)
        workers.backward(batch)
        wall.append(time.perf_counter() - start)
        processor.append(processor_seconds(workers.processes) - used)
    return {"wall": min(wall), "processor": min(processor), "bytes": workers.peak_memory() - before}


def processor_seconds(others: list[int]) -> float:
    """Of this process and others, so far."""
    times = [Path(f"/proc/{number}/stat").read_text().split()[13:15] for number in others]
    return time.process_time() + sum(int(t) for pair in times for t in pair) / os.sysconf("SC_CLK_TCK")


FIELDS = ("growing", "model", "n", "samples", "steps", "cores", "wall", "processor", "bytes")


def measure(path: Path, rounds: int) -> list[dict[str, str]]:
    """All points; those that the file has are not measured again, and others are appended to it."""
    if not path.exists():
        path.write_text(",".join(FIELDS) + "\n")
    for growing, (others, values) in GROWING.items():
        for setting in ({**others, growing: value, "model": model} for value in values for model in MODELS):
            rows = list(csv.DictReader(path.read_text().splitlines()))
            if any(row["growing"] == growing and all(row[k] == str(v) for k, v in setting.items()) for row in rows):
                continue
            asked = json.dumps({"rounds": rounds, **setting})
            found = subprocess.run([sys.executable, __file__, "--point", asked], stdout=subprocess.PIPE, check=True)
            with path.open("a") as file:
                csv.DictWriter(file, FIELDS).writerow({"growing": growing, **setting, **json.loads(found.stdout)})
    return list(csv.DictReader(path.read_text().splitlines()))


def draw(rows: list[dict[str, str]], path: str) -> None:
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(2, len(GROWING), figsize=(13, 6), sharex="col", sharey="row", layout="constrained")
    for k, (growing, (others, _)) in enumerate(GROWING.items()):
        seconds = "wall" if growing == "cores" else "processor"
        for place, what, scale in ((axes[0, k], seconds, 1.0), (axes[1, k], "bytes", 1e-6)):
            for model, mark in zip(MODELS, "os", strict=True):
                own = [row for row in rows if (row["growing"], row["model"]) == (growing, model)]
                x = [int(row[growing]) for row in own]
                place.plot(x, [scale * float(row[what]) for row in own], marker=mark, label=model)
            place.set(xscale="log", yscale="log")
            place.set_xticks(x, [str(value) for value in x], minor=False)
            place.minorticks_off()
            place.yaxis.set_major_formatter("{x:g}")
            place.grid(alpha=0.3)
        axes[1, k].set_xlabel(TITLES[growing])
        axes[0, k].set_title(", ".join(f"{name} {value}" for name, value in others.items()), fontsize=10)
    axes[0, 0].set_ylabel("processor seconds of a training step")
    axes[0, -1].set_ylabel("here seconds of the clock")
    axes[1, 0].set_ylabel("megabytes of a training step")
    axes[0, 0].legend()
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument(
        "--csv", type=Path, default=Path("growth.csv"), help="the points; what it has is not measured again"
    )
    parser.add_argument("--figure")
    parser.add_argument("--point", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.point:
        print(json.dumps(point(**json.loads(given.point))))
        return
    rows = measure(given.csv, given.rounds)
    if given.figure:
        draw(rows, given.figure)


if __name__ == "__main__":
    main()
