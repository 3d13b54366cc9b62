"""Does every model stay finite on every task? Each pair is trained for 200 steps; any NaN or infinity is a failure.

    python benchmarks/no_nan.py --out no_nan.jsonl
    python benchmarks/no_nan.py --models 'rnar*' --tasks 'mst*' --out no_nan.jsonl

Networks of size 16, batches of 4, problems of 4 and 7 nodes by turns (17 and 20 letters of string matchers), else as in
training: Adam, clipped gradients, and what the model's own paper did otherwise. Losses and gradients are looked at in
each step, weights at the end. All pairs take some hours on one core; each is a line in the file when it is done, and
the same command goes on after the last of them. The exit code is 1 if any pair of the file failed.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, NamedTuple

import torch

from rnar.clrs import ALGORITHMS, Stream
from rnar.clrs.problems.strings import HaystackAndNeedle
from rnar.models import MODELS, Model
from rnar.runtime.workers import Workers

SIZE, BATCH = 16, 4
SIZES, LETTERS = (4, 7), (17, 20)


class Row(NamedTuple):
    """How the training of one model on one task went."""

    model: str
    task: str
    steps: int
    first_loss: float
    last_loss: float
    largest_gradient: float
    """the greatest norm of all gradients in one step, before clipping"""
    seconds: float
    failure: str = ""
    """what was not finite, and when"""

    def __str__(self) -> str:
        losses = f"{self.first_loss:10.3f} {self.last_loss:10.3f} {self.largest_gradient:10.2f}"
        return f"{self.model:16} {self.task:30} {losses} {self.seconds:7.1f} s  {self.failure or 'ok'}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", metavar="PATTERN", default="*")
    parser.add_argument("--tasks", metavar="PATTERN", default="*")
    parser.add_argument("--steps", metavar="N", type=int, default=200)
    parser.add_argument(
        "--out", metavar="FILE", type=Path, help="add a line for each pair; pairs in it are not repeated"
    )
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # several processes, one for some of the models each, are the way to use more cores
    rows = list(read(arguments.out, arguments.steps))
    done = {(row.model, row.task) for row in rows}
    print(f"{'model':16} {'task':30} {'first loss':>10} {'last loss':>10} {'gradient':>10}")
    for model, task in pairs(arguments.models, arguments.tasks):
        if (model.name, task) not in done:
            rows.append(train(model, task, arguments.steps))
            print(rows[-1], flush=True)
            write(arguments.out, rows[-1])
    failed = [row for row in rows if row.failure]
    print(f"{len(rows) - len(failed)} of {len(rows)} pairs stayed finite for {arguments.steps} steps")
    print("".join(f"{row}\n" for row in failed), end="")
    return int(bool(failed))


def pairs(models: str, tasks: str) -> Iterator[tuple[Model, str]]:
    for task in ALGORITHMS:
        for name, model in MODELS.items():
            if fnmatchcase(name, models) and fnmatchcase(task, tasks):
                yield model, task


def read(path: Path | None, steps: int) -> Iterator[Row]:
    """The pairs that have been trained for so many steps already; a line that was cut off does not count."""
    for line in path.read_text().splitlines() if path and path.exists() else ():
        try:
            row = Row(**json.loads(line))
        except (ValueError, TypeError):
            continue
        if row.steps == steps:
            yield row


def write(path: Path | None, row: Row) -> None:
    if path:
        with open(path, "a") as file:
            file.write(json.dumps(row._asdict()) + "\n")


def train(model: Model, task: str, steps: int) -> Row:
    """Train until something is not finite, or to the end."""
    network = model.build(task, SIZE)
    workers = Workers(network, threads=1)
    optimiser = torch.optim.Adam(network.parameters(), model.training.get("learning_rate", 1e-3))
    clip = model.training.get("clip", 1.0)
    losses, norms, failure, start = [], [], "", time.perf_counter()
    with Stream(task, batch=BATCH, sizes=sizes(task), transform=model.batch) as stream:
        for step in range(steps):
            network.processor.progress(step / steps)
            found = workers.backward(next(stream), seed=step)
            losses.append(sum(found.values()))
            norms.append(torch.nn.utils.clip_grad_norm_(network.parameters(), clip or math.inf).item())
            failure = not_finite({**found, "the gradient": norms[-1]}, f"at step {step}")
            if failure:
                break
            optimiser.step()
    weights = {name: parameter.sum().item() for name, parameter in network.named_parameters()}
    failure = failure or not_finite(weights, "at the end")
    seconds = time.perf_counter() - start
    return Row(model.name, task, steps, losses[0], losses[-1], max(norms), seconds, failure)


def sizes(task: str) -> tuple[int, ...]:
    return LETTERS if isinstance(ALGORITHMS[task].problem, HaystackAndNeedle) else SIZES


def not_finite(numbers: dict[str, Any], when: str) -> str:
    names = [name for name, number in numbers.items() if not math.isfinite(number)]
    return f"{', '.join(names)} {when}" if names else ""


if __name__ == "__main__":
    sys.exit(main())
