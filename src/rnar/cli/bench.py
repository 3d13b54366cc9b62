"""`rnar bench`: how fast a network is here, how near to what the machine can do, and against dm-clrs."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from json import dumps
from pathlib import Path
from typing import Annotated, Any

import torch
import tyro
from rich.console import RenderableType
from rich.table import Column, Table
from rich.text import Text

from rnar.benchmark.measure import Ours, measure
from rnar.benchmark.reference import counterpart, reference
from rnar.cli.flags import flag
from rnar.cli.output import bar, screen
from rnar.clrs import find as find_task
from rnar.common.files import free, write
from rnar.models import find as find_model
from rnar.runtime.workers import Precision
from rnar.training.settings import Device


def bench(
    task: Annotated[str, tyro.conf.arg(metavar="TASK")] = "quickselect",
    model: Annotated[str, tyro.conf.arg(metavar="MODEL")] = "rnar",
    /,
    n: Annotated[int | None, flag("INT", "16, or 20 letters of a string matcher")] = None,
    batch: int = 32,
    size: Annotated[int | None, flag("INT", "the model's own, 128 for most")] = None,
    threads: Annotated[int | None, flag("INT", "one for each core")] = None,
    device: Device = "cpu",
    rounds: int = 5,
    precision: Precision = "float32",
    against: Annotated[str | None, flag("PYTHON")] = None,
    without_reversal: tyro.conf.FlagCreatePairsOff[bool] = False,
    json: Annotated[Path | None, flag("FILE")] = None,
    force: tyro.conf.FlagCreatePairsOff[bool] = False,
) -> None:
    """How long a training step and an evaluation step take, in how much memory, and how near to the machine's limit.

    Args:
        task: Which algorithm; `rnar data list` has them all.
        model: Which model; `rnar models` has them all.
        n: The size of the problems.
        batch: How many samples a batch has.
        size: How many numbers the network has for each node.
        threads: How many threads work.
        device: Where.
        rounds: How many steps are timed, each on a batch of its own.
        precision: Of the largest matrix products.
        against: A Python that has dm-clrs (pip install dm-clrs==2.0.3), to take a step after each of ours. It has no
            hint reversal, so that ours is left away too.
        without_reversal: Leave hint reversal away.
        json: Write all numbers into this file.
        force: Replace the file if there is one.
    """
    target = None if json is None else free(json, replace=force)
    chosen = find_model(model)
    if against is not None:
        counterpart(chosen)  # raises if there is none
    seen = replace(chosen, reversal="none") if without_reversal or against is not None else chosen
    n = find_task(task).problem.training_sizes[-1] if n is None else n
    torch.set_num_threads(1)  # as in training, between batches; within them each worker has one of its own
    console = screen()
    with bar(console) as progress, ExitStack() as stack:
        work = progress.add_task("drawing batches", total=None)
        ours, other = Ours(task, seen, n, batch, size, threads, device, rounds, precision), None
        if against is not None:
            progress.update(work, description="dm-clrs draws its first samples")
            other = stack.enter_context(reference(against, chosen, task, ours.device.type, **ours.sizes))
        report = measure(ours, other, lambda words: progress.update(work, description=words))
    if target is not None:
        write(target, dumps(report, indent=2).encode() + b"\n")
    for part in page(report):
        console.print(part)


def page(report: dict[str, Any]) -> Iterator[RenderableType]:
    """The measurements in a table and in sentences."""
    sizes, theirs = report["sizes"], report["dm_clrs"]
    yield Text(
        f"{report['task']}, {report['model']} {'with' if report['reversal'] else 'without'} hint reversal, "
        f"{report['nodes']} nodes, batch {sizes['batch']}, size {sizes['size']}, {report['parameters']:,} parameters, "
        f"{report['device']}, {sizes['threads']} thread{'s' * (sizes['threads'] > 1)}, {report['precision']}",
        "bold",
    )
    yield table(report)
    peaks = [f"{each['peak_memory'] / 1e9:.2f} GB" for each in (report, theirs) if each]
    yield (
        f"\nMatrix products alone reach {report['machine'] / 1e9:.0f} GFLOP/s in {report['precision']} on this machine."
        f"\nPeak memory {', dm-clrs '.join(peaks)}."
    )
    if theirs:
        versions = ", ".join(f"{name} {number}" for name, number in theirs["facts"]["versions"].items())
        yield f"By turns with dm-clrs on {theirs['facts']['device']} ({versions}), both without hint reversal."


def table(report: dict[str, Any]) -> Table:
    """A line for each kind of step; with dm-clrs two more, theirs and the ratio."""
    numbers = ("median", "lowest", "highest", "sample-steps/s", "GFLOP/s", "of machine")
    columns = [Column(name, justify="right") for name in numbers]
    lines = Table("step", *columns, box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")
    for name in ("training", "evaluation"):
        ours = report[name]
        lines.add_row(name, *speed(ours), f"{ours['flops_per_second'] / 1e9:.1f}", f"{ours['share_of_machine']:.0%}")
        if report["dm_clrs"]:
            theirs = report["dm_clrs"][name]
            lines.add_row("  dm-clrs", *speed(theirs))
            lines.add_row("  ratio", *(f"{times:.2f}" for times in theirs["ratio"].values()))
    return lines


def speed(step: dict[str, Any]) -> list[str]:
    """How long a step takes, and how many sample-steps are done in a second."""
    times = (step["median"], min(step["seconds"]), max(step["seconds"]))
    durations = [f"{time:.2f} s" if time >= 1 else f"{1000 * time:.1f} ms" for time in times]
    return [*durations, f"{step['sample_steps_per_second']:,.0f}"]
