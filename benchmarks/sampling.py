"""How long the samplers take, per sample with all its hints; against dm-clrs, if a Python that has it is named.

    python benchmarks/sampling.py
    python benchmarks/sampling.py --against PATH/TO/PYTHON --markdown docs/performance/sampling.md

One core. Ours draws batches of 32; dm-clrs draws as many as take it about 0.3 s, and at least 2. Both are measured by
turns in one run, so that whatever else the machine does hits both; it is the time that the processor worked for them,
and the median over the rounds counts.

The other Python runs this very file as its worker, which must therefore import nothing but the standard library at
its top. The worker reads a request from each line of its input, `{"task": ..., "n": ..., "samples": ...}`, and
answers with the seconds it took.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

SIZES = (16, 64)
BATCH = 32
SECONDS = 0.3  # that a measurement of dm-clrs takes, about
OUR_SECONDS = 0.1
COMMAND = "python benchmarks/sampling.py --against PATH/TO/PYTHON"

Clock = Callable[[str, int, int], float]
"""(task, n, samples) -> seconds"""


class Row(NamedTuple):
    """Microseconds per sample of one task at one size."""

    task: str
    n: int
    ours: float
    theirs: float | None

    @property
    def ratio(self) -> float:
        assert self.theirs is not None
        return self.theirs / self.ours


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", metavar="PYTHON", help="a Python that has dm-clrs")
    parser.add_argument("--markdown", metavar="FILE", type=Path, help="write the table there")
    parser.add_argument("--rounds", metavar="N", type=int, default=5, help="measurements of each (default: 5)")
    parser.add_argument("--only", metavar="TASK", nargs="+", help="these tasks (default: all 30)")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    one_core()
    if arguments.worker:
        work()
        return
    if arguments.against is None:
        rows, versions = measure(tasks(arguments.only), None, arguments.rounds), own_versions()
    else:
        with worker(arguments.against) as (versions, theirs):
            rows, versions = measure(tasks(arguments.only), theirs, arguments.rounds), {**own_versions(), **versions}
    if arguments.markdown:
        arguments.markdown.write_text(page(rows, versions, arguments.rounds))


def one_core() -> None:
    """Keep this process, and those it starts, on one core where the system can do that."""
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ[f"{library}_NUM_THREADS"] = "1"
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def tasks(only: list[str] | None) -> list[str]:
    from rnar.clrs import ALGORITHMS, find

    return [find(task).name for task in only] if only else sorted(ALGORITHMS)


def nodes(task: str, n: int) -> int:
    """String matchers have a needle on top of the n letters, as in the official sets."""
    return n + n // 4 if task in ("kmp_matcher", "naive_string_matcher") else n


def measure(names: list[str], theirs: Clock | None, rounds: int) -> list[Row]:
    """Prints each row when it is known, and the summary at the end."""
    rows = []
    print(header(theirs is not None))
    for n in SIZES:
        for task in names:
            rows.append(measure_one(task, n, theirs, rounds))
            print(line(rows[-1]), flush=True)
    if theirs is not None:
        print("\n".join(summary(rows)))
    return rows


def measure_one(task: str, n: int, theirs: Clock | None, rounds: int) -> Row:
    size = nodes(task, n)
    our_time(task, size, BATCH)  # compiles; and finds how many steps it takes, for later batches
    batches = repeats(our_time(task, size, BATCH), OUR_SECONDS)
    samples = 0 if theirs is None else repeats(theirs(task, size, 2) / 2, SECONDS, least=2)
    ours, others = [], []
    for _ in range(rounds):
        ours.append(our_time(task, size, BATCH, batches) / (BATCH * batches))
        if theirs is not None:
            others.append(theirs(task, size, samples) / samples)
    return Row(task, n, 1e6 * statistics.median(ours), 1e6 * statistics.median(others) if others else None)


def repeats(seconds_of_one: float, seconds: float, least: int = 1) -> int:
    return max(least, round(seconds / seconds_of_one))


def our_time(task: str, n: int, batch: int, batches: int = 1) -> float:
    """The seconds in which `rnar.clrs` draws and solves so many batches."""
    import numpy as np

    from rnar.clrs import find
    from rnar.clrs.mersenne import copy_of

    algorithm, rng = find(task), copy_of(np.random.RandomState(1))
    start = time.process_time()
    for _ in range(batches):
        algorithm.sample(rng, n, batch)
    return time.process_time() - start


def own_versions() -> dict[str, str]:
    return {"rnar": version("rnar"), "numba": version("numba"), "Python": platform.python_version()}


@contextmanager
def worker(python: str) -> Iterator[tuple[dict[str, str], Clock]]:
    """A process with dm-clrs: the versions of what it runs, and a function that asks it."""
    command = [python, __file__, "--worker"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdin and process.stdout
    answers, requests = process.stdout, process.stdin

    def answer() -> Any:
        found = answers.readline()
        if not found:
            raise SystemExit(f"{python} ended, with code {process.wait()}; has it dm-clrs?")
        return json.loads(found)

    def clock(task: str, n: int, samples: int) -> float:
        print(json.dumps({"task": task, "n": n, "samples": samples}), file=requests, flush=True)
        return answer()

    with process:
        yield answer(), clock
        requests.close()


def work() -> None:
    """Answer requests until there are no more, in a Python that has dm-clrs."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer
    import clrs  # pyright: ignore[reportMissingImports]

    def say(answer: Any) -> None:
        print(json.dumps(answer), file=answers, flush=True)

    say({"dm-clrs": version("dm-clrs"), "its Python": platform.python_version()})
    for request in map(json.loads, sys.stdin):
        start = time.process_time()
        clrs.build_sampler(request["task"], seed=1, num_samples=request["samples"], length=request["n"])
        say(time.process_time() - start)


def header(both: bool) -> str:
    return f"{'task':30} {'n':>3} {'rnar µs':>10}" + (f" {'dm-clrs µs':>12} {'ratio':>7}" if both else "")


def line(row: Row) -> str:
    text = f"{row.task:30} {row.n:3} {row.ours:10.1f}"
    return text if row.theirs is None else f"{text} {row.theirs:12.0f} {row.ratio:6.0f}x"


def summary(rows: list[Row]) -> list[str]:
    """The mean of the ratios at each size, and the least of all."""
    said = []
    for n in SIZES:
        ratios = [row.ratio for row in rows if row.n == n]
        said.append(f"n={n}: geometric mean of the ratios {statistics.geometric_mean(ratios):.0f}")
    least = min(rows, key=lambda row: row.ratio)
    return [*said, f"least ratio: {least.ratio:.0f} ({least.task}, n={least.n})"]


def page(rows: list[Row], versions: dict[str, str], rounds: int) -> str:
    """The same as a page of Markdown."""
    both = all(row.theirs is not None for row in rows)
    columns = [f"{name}, n={n}" for n in SIZES for name in (("rnar", "dm-clrs", "ratio") if both else ("rnar",))]
    lines = ["| task | " + " | ".join(columns) + " |", "|---|" + "---:|" * len(columns)]
    for task in dict.fromkeys(row.task for row in rows):
        cells = [cell for row in rows if row.task == task for cell in cells_of(row)]
        lines.append(f"| {task} | " + " | ".join(cells) + " |")
    about = ", ".join(f"{name} {number}" for name, number in versions.items())
    command = COMMAND if both else "python benchmarks/sampling.py"
    text = [
        "# Sampling speed",
        "",
        "Microseconds of processor time per sample (draw a problem, run the algorithm, record each step), one core,",
        f"medians of {rounds} rounds by turns; rnar in batches of {BATCH}, dm-clrs by `build_sampler`.",
        "Both draw the same samples.",
        "",
        *(["\n".join(f"* {said}" for said in summary(rows)), ""] if both else []),
        *lines,
        "",
        f"{about}, {processor()}. String matchers have 20 and 80 letters.",
        "",
        f"    {command} --markdown docs/performance/sampling.md",
        "",
    ]
    return "\n".join(text)


def cells_of(row: Row) -> list[str]:
    ours = f"{row.ours:.1f}"
    return [ours] if row.theirs is None else [ours, f"{row.theirs:.0f}", f"{row.ratio:.0f}"]


def processor() -> str:
    """The name of the CPU."""
    if Path("/proc/cpuinfo").exists():
        for text in Path("/proc/cpuinfo").read_text().splitlines():
            if text.startswith("model name"):
                return text.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    main()
