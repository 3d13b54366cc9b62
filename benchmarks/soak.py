"""Does anything grow when one process works for long? 1,000 problems solved, 200 evaluations, 50 short trainings.

    python benchmarks/soak.py --csv soak.csv --figure soak.png          # a quarter of an hour on a busy core
    python benchmarks/soak.py --solves 100 --evaluations 20 --trainings 5

Ten networks take turns. After every few calls the memory of the process (resident set), its file descriptors, threads
and child processes are counted, and the table says how much each has grown from the second fifth of the calls, when all
is loaded and compiled, to the last. The exit code is 1 if descriptors, threads or processes have grown at all, or
memory by more than LIMIT megabytes.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

import rnar
import rnar.clrs
from rnar.common.memory import bytes_noted

TASKS = (
    "bfs",
    "bubble_sort",
    "dijkstra",
    "find_maximum_subarray_kadane",
    "heapsort",
    "insertion_sort",
    "minimum",
    "quickselect",
    "task_scheduling",
    "topological_sort",
)
"""whose networks ship"""
COUNTED = ("memory_mb", "descriptors", "threads", "processes")
SIZES = range(4, 9)
LIMIT = 64.0
"""megabytes that memory may grow by in a part of the work: allocators keep what they were given back"""
TINY = dict(
    steps=2, validate_every=2, size=8, batch=2, sizes=(4,), threads=2, validation_samples=2, ood_samples=0,
    selection_samples=2, test_samples=2,
)  # fmt: skip


class Row(NamedTuple):
    """What was counted after some calls."""

    work: str
    calls: int
    seconds: float
    memory_mb: float
    descriptors: int
    threads: int
    processes: int


def counted(work: str, calls: int, start: float) -> Row:
    """The state of this process now."""
    tasks = Path("/proc/self/task")
    children = [place.read_text().split() for place in tasks.glob("*/children")]
    return Row(
        work,
        calls,
        round(time.monotonic() - start, 2),
        round((bytes_noted("/proc/self/status", "VmRSS") or 0) / 1e6, 1),
        len(os.listdir("/proc/self/fd")) - 1,  # without that of the listing
        len(list(tasks.iterdir())),
        sum(map(len, children)),
    )


def solve(k: int) -> None:
    """A random problem for one of the networks, which is loaded anew."""
    task = TASKS[k % len(TASKS)]
    drawn = rnar.clrs.find(task).draw(np.random.RandomState(k), SIZES[k % len(SIZES)], 1)
    rnar.solve(task, *(x[0].tolist() for x in drawn))


def evaluate(k: int) -> None:
    """Eight problems for one of the networks, with hints at every second call."""
    task = TASKS[k % len(TASKS)]
    solver = rnar.load(task)
    batch = rnar.clrs.sample(task, n=SIZES[k % len(SIZES)], batch=8, seed=k)
    rnar.evaluate(solver.reasoner, batch, view=solver.run.model.batch, hints=k % 2 == 0)


def train(k: int) -> None:
    """Two steps of a small network, its validations and its test."""
    with tempfile.TemporaryDirectory() as folder:
        rnar.train(TASKS[k % len(TASKS)], seed=k, folder=Path(folder) / "run", **TINY)


WORK: dict[str, Callable[[int], None]] = {"solve": solve, "evaluate": evaluate, "train": train}


def soaked(counts: dict[str, int], samples: int = 100) -> Iterator[Row]:
    """Do each work so often; what was counted along the way, so many times for each at most."""
    start = time.monotonic()
    for work, count in counts.items():
        every = -(-count // samples)
        for k in range(count):
            WORK[work](k)
            if (k + 1) % every == 0:
                yield counted(work, k + 1, start)


def growth(rows: list[Row], work: str) -> dict[str, float]:
    """By how much each count has grown: its lowest in the last fifth of the calls less its highest in the second."""
    own = [row for row in rows if row.work == work]
    fifth = max(1, len(own) // 5)
    early, late = own[fifth : 2 * fifth] or own[:1], own[-fifth:]
    return {
        name: min(getattr(row, name) for row in late) - max(getattr(row, name) for row in early) for name in COUNTED
    }


def too_much(grown: dict[str, float]) -> bool:
    return any(amount > (LIMIT if name == "memory_mb" else 0) for name, amount in grown.items())


def draw(rows: list[Row], file: Path) -> None:
    """A panel for each count, a line for each work."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(COUNTED), figsize=(13, 3.2), layout="constrained")
    works = list(dict.fromkeys(row.work for row in rows))
    for panel, name in zip(panels, COUNTED, strict=True):
        for work in works:
            own = [row for row in rows if row.work == work]
            total = own[-1].calls
            panel.plot(
                [100 * row.calls / total for row in own],
                [getattr(row, name) for row in own],
                label=f"{total:,} × {work}",
                linewidth=1.4,
            )
        panel.set_title(name.replace("_mb", ", MB"), fontsize=10)
        panel.set_xlabel("calls, %")
        panel.set_ylim(0, 1.25 * max(1, *(getattr(row, name) for row in rows)))
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].legend(frameon=False, fontsize=8, loc="lower right")
    figure.savefig(file, dpi=110)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--solves", type=int, default=1000)
    parser.add_argument("--evaluations", type=int, default=200)
    parser.add_argument("--trainings", type=int, default=50)
    parser.add_argument("--csv", type=Path, help="write all that was counted to this file")
    parser.add_argument("--figure", type=Path, help="draw it into this file")
    given = parser.parse_args()
    rows: list[Row] = []
    counts = {"solve": given.solves, "evaluate": given.evaluations, "train": given.trainings}
    for row in soaked({work: count for work, count in counts.items() if count}):
        rows.append(row)
        print(*row, sep="\t", file=sys.stderr, flush=True)
    if given.csv:
        with given.csv.open("w", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([Row._fields, *rows])
    if given.figure:
        draw(rows, given.figure)
    print(f"{'work':<10} {'calls':>6} {'seconds':>8} " + " ".join(f"{name:>12}" for name in COUNTED) + "   grown by")
    bad = False
    for work in dict.fromkeys(row.work for row in rows):
        last, grown = [row for row in rows if row.work == work][-1], growth(rows, work)
        bad |= too_much(grown)
        numbers = " ".join(f"{getattr(last, name):>12,}" for name in COUNTED)
        said = ", ".join(f"{name} {amount:+,.1f}" for name, amount in grown.items() if amount > 0) or "nothing"
        print(f"{work:<10} {last.calls:>6,} {last.seconds:>8,.0f} {numbers}   {said}")
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
