"""`rnar compare`: two networks on the same samples."""

import json as writer
from collections.abc import Callable, Iterator
from functools import reduce
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import tyro
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from rnar.cli.flags import flag
from rnar.cli.output import bar, screen
from rnar.common.files import free, write
from rnar.evaluation.compare import SCORE, Difference, differences
from rnar.evaluation.evaluate import Evaluation, evaluate
from rnar.evaluation.sets import ProblemSet, problem_sets
from rnar.inference.pretrained import run_folder
from rnar.runtime.workers import Workers, check_threads
from rnar.training.environment import chosen_device
from rnar.training.run import Run, Which
from rnar.training.settings import Device


class Compared(NamedTuple):
    """Both networks on a set of problems."""

    problems: ProblemSet
    samples: int
    rows: list[Difference]
    exact: tuple[float, float]
    """the shares of samples that are right in every entry"""


def compare(
    first: Annotated[Path, tyro.conf.Positional, flag("A")],
    second: Annotated[Path, tyro.conf.Positional, flag("B")],
    n: Annotated[tuple[int, ...], flag("INT...", "64")] = (),
    samples: Annotated[tuple[int, ...], flag("INT...", "as many as the official set has")] = (),
    network: Which = "best",
    json: Annotated[Path | None, flag("OUT.json")] = None,
    force: bool = False,
    device: Device = "cpu",
    threads: Annotated[int | None, flag("INT", "one for each core")] = None,
) -> None:
    """Score two networks on the same samples: how much better B is than A, for each output and size.

    The difference has the 95% interval of a paired bootstrap: the same samples are drawn for both. It tells how much
    the choice of samples matters, and nothing of other seeds of training.

    Args:
        first: The folder of a run, or the name of a pretrained network.
        second: Another; both must have learned the same task, or several.
        n: Sizes to try. A string matcher's needle comes on top of them, as in the official sets.
        samples: How many samples of each size: one number, or one for each of --n.
        network: The one that was selected, the last one, or the average of the weights, if the run kept one.
        json: Write all numbers to this file.
        force: Replace the file if it is there.
        device: What computes: auto takes a GPU if there is one.
        threads: How many threads compute on a CPU.
    """
    check_threads(threads)
    target = free(json, replace=force) if json else None
    runs = Run(run_folder(first)), Run(run_folder(second))
    work = [problems for task in shared_tasks(*runs) for problems in problem_sets(task, n, samples)]
    console, place = screen(), chosen_device(device)
    with bar(console) as progress:
        shown = progress.add_task("", total=2 * len(work))
        evaluations = []
        for run in runs:
            progress.update(shown, description=str(run.path))
            with_progress = lambda share: progress.advance(shown, share)  # noqa: E731
            evaluations.append(list(_evaluations(run, network, work, str(place), threads, with_progress)))
    found = [
        Compared(problems, one.samples, differences(one, other), (one.exact, other.exact))
        for problems, one, other in zip(work, *evaluations, strict=True)
    ]
    if target:
        write(target, (writer.dumps(plain(runs, network, found), indent=2) + "\n").encode())
    show(console, runs, found)


def shared_tasks(first: Run, second: Run) -> list[str]:
    """The tasks that both have learned."""
    shared = [task for task in first.settings.tasks if task in second.settings.tasks]
    if not shared:
        learned = [f"{run.path} has learned {', '.join(run.settings.tasks)}" for run in (first, second)]
        raise ValueError(f"there is nothing to compare: {learned[0]}, and {learned[1]}")
    return shared


def _evaluations(
    run: Run, which: Which, work: list[ProblemSet], device: str, threads: int | None, progress: Callable[[float], None]
) -> Iterator[Evaluation]:
    workers = Workers(run.network(device, which), threads)
    try:
        for problems in work:
            whole = problems.samples
            yield reduce(
                Evaluation.__add__,
                (
                    evaluate(
                        workers,
                        batch,
                        view=run.model.batch,
                        progress=lambda share, part=batch.size / whole: progress(share * part),
                    )
                    for batch in problems.batches()
                ),
            )
    finally:
        workers.close()


def show(console: Console, runs: tuple[Run, Run], found: list[Compared]) -> None:
    for letter, run in zip("AB", runs, strict=True):
        console.print(f"{letter}  {run.path}: {run.settings.name}, seed {run.settings.seed}", soft_wrap=True)
    console.print(table(found))


def table(found: list[Compared]) -> Table:
    """A line for each task and size, and below it one for each output, if there are several."""
    left = [Column(name, overflow="fold") for name in ("task", "better")]
    heads = ("n", "samples", "A", "B", "B − A", "95% interval")
    right = [Column(name, justify="right", no_wrap=True) for name in heads]
    page = Table(left[0], *right, left[1], box=None, pad_edge=False, header_style="dim")
    for each in found:
        for row in each.rows:
            known = [str(each.problems.n), str(each.samples)] if row.name == SCORE else ["", ""]
            name = Text(each.problems.task, "bold") if row.name == SCORE else Text(f"  {row.name}", "dim")
            low, high = (signed(bound) for bound in row.interval)
            numbers = [f"{100 * row.first:.2f}", f"{100 * row.second:.2f}", signed(row.difference), f"{low} to {high}"]
            page.add_row(name, *known, *numbers, "–" if row.better is None else "AB"[row.better])
    drawn = ", ".join(dict.fromkeys(str(each.problems) for each in found))
    page.caption, page.caption_justify = Text(f"In percent. Problems: {drawn}.", "dim"), "left"
    return page


def signed(share: float) -> str:
    return f"{100 * share:+.2f}".replace("-", "−")


def plain(runs: tuple[Run, Run], which: Which, found: list[Compared]) -> dict[str, Any]:
    """All of it as plain data."""
    return {
        "networks": [str(run.path) for run in runs],
        "network": which,
        "comparisons": [
            {
                "task": each.problems.task,
                "n": each.problems.n,
                "samples": each.samples,
                "problems": str(each.problems),
                "exact": list(each.exact),
                "differences": [
                    {
                        "name": row.name,
                        "a": row.first,
                        "b": row.second,
                        "difference": row.difference,
                        "interval": list(row.interval),
                        "better": None if row.better is None else "ab"[row.better],
                    }
                    for row in each.rows
                ],
            }
            for each in found
        ],
    }
