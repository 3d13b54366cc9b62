"""`rnar report`: runs in the tables and figures of the paper, beside its numbers."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import torch
import tyro
from rich.console import Console, Group

from rnar.cli.evaluate import Refused, tried
from rnar.cli.flags import flag, whole_numbers
from rnar.cli.output import IMAGES, image_format, screen, tell
from rnar.clrs.choosing import matching
from rnar.common.files import free, write
from rnar.evaluation.sets import ProblemSet, problem_sets
from rnar.inference.pretrained import run_folder
from rnar.report.evaluations import is_recorded, recorded
from rnar.report.formats import FORMATS, fill, markdown, terminal
from rnar.report.page import Page
from rnar.report.paper_table import paper_table
from rnar.report.runs import Row
from rnar.report.scores import Score, Trial, in_order, longest
from rnar.report.shared import export as export_rows
from rnar.report.shared import gather
from rnar.report.tables import SHARES, SOURCES, hint_table, listing, network_table, progress_table, size_table
from rnar.report.trials import with_networks, with_sets
from rnar.runtime.workers import Precision, check_threads
from rnar.training.environment import chosen_device
from rnar.training.run import Run, Which
from rnar.training.settings import Device

T = TypeVar("T")
RUNS = Path("runs")
WIDE = 240  # columns, of a table that goes into a file
# at which sizes networks are tried, if --n says nothing
SIZE_TABLE, HINT_TABLE, PROGRESS_TABLE = (16, 32, 64), (16, 64), (16, 64)
SIZE_FIGURE, HINT_FIGURE = (4, 8, 16, 32, 64), (64,)

Format = Literal["terminal", "markdown", "latex", "csv", "html"]
Kind = Literal["1", "2", "3", "4", "networks", "sizes", "hints", "progress"]
PAPER = ("1", "2", "3", "4")
Figure = Literal["timing", "curves", "ood", "losses", "sizes", "hints"]


def report(
    runs: Annotated[tuple[Path, ...], tyro.conf.Positional, flag("RUNS...", "runs")] = (),
    table: Annotated[Kind | None, flag("{1,2,3,4,networks,sizes,hints,progress}", "all that was run")] = None,
    format: Format = "terminal",
    figure: Annotated[Figure | None, flag("{timing,curves,ood,losses,sizes,hints}")] = None,
    tasks: Annotated[tuple[str, ...], flag("TASK...", "all")] = (),
    models: Annotated[tuple[str, ...], flag("MODEL...", "all")] = (),
    least_steps: int = 0,
    finished: tyro.conf.FlagCreatePairsOff[bool] = False,
    out: Annotated[Path | None, flag("FILE")] = None,
    export: Annotated[Path | None, flag("FOLDER")] = None,
    readme: Annotated[Path | None, flag("FILE")] = None,
    bench: Annotated[tuple[Path, ...], flag("FILE...")] = (),
    n: Annotated[tuple[str, ...], flag("INT...", "some from 4 to 64", aliases=["--sizes"])] = (),
    samples: Annotated[tuple[str, ...], flag("INT...", "as many as the official set has")] = (),
    network: Which = "best",
    precision: Precision = "float32",
    device: Device = "cpu",
    threads: Annotated[int | None, flag("INT", "one for each core")] = None,
    force: tyro.conf.FlagCreatePairsOff[bool] = False,
) -> int:
    """Runs in tables and figures, beside the numbers of the paper: mean and standard deviation over seeds.

    Args:
        runs: Folders with runs, names of pretrained networks, and CSV files of runs that were shared. For sizes also
            what `rnar evaluate --csv FILE` wrote: these scores are shown, and nothing is tried.
        table: Which of the paper's tables: 1 sequential tasks, 2 all tasks, 3 and 4 ablations. Or networks: the
            selected, the last and the average of each run. Or what trying the networks of the runs gives: sizes their
            score at several, hints how answers depend on hints, progress what they say before the algorithm has ended.
        format: How a table is written.
        figure: Draw wall-clock time, validation (curves), the score at a larger size (ood) or losses along the
            training steps, or try the networks of the runs: their score against size, their hints along the steps of an
            algorithm.
        tasks: Only these tasks, with wildcards: 'mst*'.
        models: Only these models, with wildcards: 'rnar*'.
        least_steps: Only runs that have taken so many steps or more.
        finished: Only runs that have ended, and been tested.
        out: Write the table or the figure to this file; of a figure a .png, .svg or .pdf.
        export: Put a row for each run into FOLDER/runs.csv, also of runs that were stopped. Rows of others stay.
        readme: Put the table of all that was run into this file, between <!-- results --> and <!-- /results -->.
        bench: For --figure timing: what `rnar bench --against ... --json FILE` wrote, for the rate of dm-clrs.
        n: For sizes, hints and progress: which sizes to try.
        samples: The same: how many samples of each size, one number or one for each of --n.
        network: The same, and the paper's tables: the network that was selected, the last one, or the average of the
            weights, if runs kept one.
        precision: For sizes, hints and progress: of the largest matrix products. bfloat16 is quicker on CPUs that have
            it, and not as exact.
        device: The same: what computes.
        threads: The same: how many threads compute on a CPU.
        force: Replace the file of --out if it is there.
    """
    if figure is not None:
        if table is not None:
            raise ValueError("--table and --figure are two things; ask for one at a time")
        if out is None:
            raise ValueError(f"--figure {figure} needs --out FILE, a .{', .'.join(IMAGES)}")
        image_format("--out", out)
    if bench and figure != "timing":
        raise ValueError("--bench is for --figure timing")
    trying = {table, figure} & {"sizes", "hints", "progress"}
    if (n or samples or threads is not None or precision != "float32") and not trying:
        raise ValueError(
            "--n, --samples, --precision and --threads are for sizes, hints and progress, as --table or --figure"
        )
    if network != "best" and not trying and table not in PAPER:
        raise ValueError("--network is for the paper's tables, sizes, hints and progress, as --table or --figure")
    sizes, counts = whole_numbers("n", n), whole_numbers("samples", samples)
    runs = tuple(path if path.exists() else _named(path) for path in runs)
    check_threads(threads)
    target = None if out is None else free(out, replace=force)
    if trying == {"sizes"} and any(map(is_recorded, runs)):
        of_trials = n or samples or threads is not None or network != "best" or precision != "float32"
        if of_trials or least_steps or finished or export or readme:
            raise ValueError(
                "scores of a CSV are shown as they are: give no flags but --tasks, --models and the output's"
            )
        rows, scores = [], _scores_in(runs, tasks, models)
    else:
        rows, scores = _chosen(gather(runs or (RUNS,), tell), tasks, models, least_steps, finished), []
    console = screen()
    if export is not None:
        console.print(export_rows(rows, export), soft_wrap=True)
    if readme is not None:
        changed = fill(readme, markdown(listing(rows)))
        console.print(f"{readme}: the table of results is {'new' if changed else 'as it was'}", soft_wrap=True)
    trial = Trial(network, precision=precision)
    networks = _Networks(rows, scores, sizes, counts, trial, chosen_device(device), threads, console)
    if figure is not None:
        assert target is not None
        write(target, _drawn(figure, rows, bench, networks, image_format("--out", target)))
    elif table is not None or (export is None and readme is None) or target is not None:
        _show(_table(table, rows, networks), format, target, console)
    return networks.refused.code


def _named(path: Path) -> Path:
    """The folder of the pretrained network of that name; the path itself if there is none."""
    try:
        return run_folder(path)
    except ValueError:  # what is wrong with it is told when it is read
        return path


def _scores_in(files: tuple[Path, ...], tasks: tuple[str, ...], models: tuple[str, ...]) -> list[Score]:
    if others := [str(path) for path in files if not is_recorded(path)]:
        raise ValueError(f"{others[0]} is no CSV of scores, and others are; ask for runs and for scores one at a time")
    chosen = _matching(recorded(files), tasks, lambda score: score.run.task)
    chosen = _matching(chosen, models, lambda score: score.run.model)
    return sorted(chosen, key=lambda score: in_order(score.run.task, score.run.model))


@dataclass
class _Networks:
    """The networks of runs, and how they are evaluated."""

    rows: list[Row]
    known: list[Score]
    """of networks that were evaluated before: then nothing is"""
    sizes: tuple[int, ...]
    samples: tuple[int, ...]
    trial: Trial
    device: torch.device
    threads: int | None
    console: Console
    refused: Refused = field(default_factory=Refused)

    def work(self, usual: tuple[int, ...]) -> list[tuple[Run, list[ProblemSet]]]:
        """The longest runs, with problems of the sizes that were asked for, or of the usual ones."""
        runs = with_networks(longest(self.rows), tell, self.refused)
        return with_sets(runs, lambda _, task: problem_sets(task, self.sizes or usual, self.samples), self.refused)

    def scores(self, work: list[tuple[Run, list[ProblemSet]]], hints: bool = False, **how: Any) -> list[Score]:
        """The scores of the networks; `how` are fields of `Trial`."""
        trial, rows = replace(self.trial, **how), {(row.path, row.task): row for row in longest(self.rows)}
        outcomes = tried(work, self.console, hints, self.device, self.threads, self.refused, trial)
        return [outcome.score(rows[outcome.run.path, outcome.problems.task]) for outcome in outcomes]

    def at_sizes(self, usual: tuple[int, ...]) -> list[Score]:
        """The scores that are known already, or else new ones."""
        return self.known or self.scores(self.work(usual))


def _table(kind: Kind | None, rows: list[Row], networks: _Networks) -> Page:
    if kind == "networks":
        return network_table(rows)
    if kind == "sizes":
        return size_table(networks.at_sizes(SIZE_TABLE))
    if kind == "hints":
        work = networks.work(HINT_TABLE)
        parts = (networks.scores(work, source == "network", source=source) for source in SOURCES)
        return hint_table([score for part in parts for score in part])
    if kind == "progress":
        work = networks.work(PROGRESS_TABLE)
        scores = [score for share in SHARES for score in networks.scores(work, after=share)]
        return progress_table(scores, [problems for _, sets in work for problems in sets])
    return listing(rows) if kind is None else paper_table(int(kind), rows, networks.trial.which)


def _drawn(figure: Figure, rows: list[Row], bench: tuple[Path, ...], networks: _Networks, image: str) -> bytes:
    from rnar.report import figures, score_figures  # matplotlib takes a second

    if figure == "timing":
        return figures.timing(rows, bench, image)
    if figure == "sizes":
        return score_figures.sizes(networks.at_sizes(SIZE_FIGURE), image)
    if figure == "hints":
        return score_figures.hints(networks.scores(networks.work(HINT_FIGURE), hints=True), image)
    return {"curves": figures.curves, "ood": figures.ood, "losses": figures.losses}[figure](rows, image)


def _chosen(
    rows: list[Row], tasks: tuple[str, ...], models: tuple[str, ...], least_steps: int, finished: bool
) -> list[Row]:
    if least_steps > (most := max(row.steps for row in rows)):
        raise ValueError(f"--least-steps {least_steps}: no run here has taken more than {most}")
    rows = [row for row in rows if row.steps >= least_steps]
    if finished and not (rows := [row for row in rows if row.test_n64 is not None]):
        raise ValueError("--finished: no run here has ended; without it those that are under way are shown")
    for pattern in tasks:
        if ":" not in pattern:  # a task of a user's own need not be here to be reported
            matching(pattern)  # raises if there is no such task
    return _matching(_matching(rows, tasks, lambda row: row.task), models, lambda row: row.model)


def _matching(rows: list[T], patterns: tuple[str, ...], name: Callable[[T], str]) -> list[T]:
    """Those whose name fits one of the patterns; all if there are none."""
    found = [row for row in rows if not patterns or any(fnmatchcase(name(row), pattern) for pattern in patterns)]
    if not found:
        there = ", ".join(dict.fromkeys(map(name, rows)))
        raise ValueError(f"no run is of {' or '.join(patterns)}; there are runs of {there}")
    return found


def _show(page: Page, format: Format, target: Path | None, console: Console) -> None:
    """On stdout, or into a file."""
    if format != "terminal":
        text = FORMATS[format](page)
    elif target is None:
        console.print(Group(*terminal(page, console)))
        return
    else:  # as a wide terminal shows it, without colours
        wide = screen(width=WIDE, color_system=None, force_terminal=False)
        with wide.capture() as captured:
            wide.print(Group(*terminal(page, wide)))
        text = "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"
    if target is None:
        sys.stdout.write(text)
    else:
        write(target, text.encode())
