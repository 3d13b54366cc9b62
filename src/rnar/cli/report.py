"""`rnar report`: runs in the tables and figures of the paper, beside its numbers."""

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal, TypeVar

import torch
import tyro
from rich.console import Console

from rnar.cli.evaluate import Refused, tried
from rnar.cli.flags import flag
from rnar.cli.output import IMAGES, image_format, screen, tell
from rnar.clrs.choosing import matching
from rnar.common.files import free, write
from rnar.engine.workers import check_threads
from rnar.evaluation.sets import problem_sets
from rnar.nn.reasoner import HintSource, Precision
from rnar.report.folders import gather
from rnar.report.formats import FORMATS, markdown, terminal
from rnar.report.groups import Groups, grouped, in_order
from rnar.report.hint_table import SOURCES, hint_table
from rnar.report.listing import listing
from rnar.report.network_table import network_table
from rnar.report.page import Page
from rnar.report.progress_table import SHARES, progress_table
from rnar.report.recorded import is_recorded, recorded
from rnar.report.rows import Row
from rnar.report.scored import Scored
from rnar.report.size_table import size_table
from rnar.report.store import export as export_rows
from rnar.report.tables import paper_table
from rnar.report.trials import Outcome, Trial, with_networks
from rnar.training.environment import chosen_device
from rnar.training.run import Which
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
Figure = Literal["timing", "curves", "wider", "losses", "sizes", "hints"]


def report(
    runs: Annotated[tuple[Path, ...], tyro.conf.Positional, flag("RUNS...", "runs")] = (),
    table: Annotated[Kind | None, flag("{1,2,3,4,networks,sizes,hints,progress}", "all that was run")] = None,
    format: Format = "terminal",
    figure: Annotated[Figure | None, flag("{timing,curves,wider,losses,sizes,hints}")] = None,
    tasks: Annotated[tuple[str, ...], flag("TASK...", "all")] = (),
    models: Annotated[tuple[str, ...], flag("MODEL...", "all")] = (),
    least_steps: int = 0,
    finished: tyro.conf.FlagCreatePairsOff[bool] = False,
    out: Annotated[Path | None, flag("FILE")] = None,
    export: Annotated[Path | None, flag("FOLDER")] = None,
    readme: Annotated[Path | None, flag("FILE")] = None,
    bench: Annotated[tuple[Path, ...], flag("FILE...")] = (),
    n: Annotated[tuple[int, ...], flag("INT...", "some from 4 to 64")] = (),
    samples: Annotated[tuple[int, ...], flag("INT...", "as many as the official set has")] = (),
    network: Which = "best",
    precision: Precision = "float32",
    device: Device = "cpu",
    threads: Annotated[int | None, flag("INT", "one for each core")] = None,
    force: tyro.conf.FlagCreatePairsOff[bool] = False,
) -> int:
    """Runs in tables and figures, beside the numbers of the paper: mean and standard error over seeds.

    Args:
        runs: Folders with runs, and CSV files of runs that were shared. For sizes also what `rnar evaluate --csv FILE`
            wrote: these scores are shown, and nothing is tried.
        table: Which of the paper's tables: 1 sequential tasks, 2 all tasks, 3 and 4 ablations. Or networks: the
            selected, the last and the average of each run. Or what trying the networks of the runs gives: sizes their
            score at several, hints how answers depend on hints, progress what they say before the algorithm has ended.
        format: How a table is written.
        figure: Draw wall-clock time, validation (curves), the score at a larger size (wider) or losses along the
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
    _check(figure, table, out)
    if bench and figure != "timing":
        raise ValueError("--bench is for --figure timing")
    trying = {table, figure} & {"sizes", "hints", "progress"}
    if (n or samples or threads is not None or precision != "float32") and not trying:
        raise ValueError(
            "--n, --samples, --precision and --threads are for sizes, hints and progress, as --table or --figure"
        )
    if network != "best" and not trying and table not in PAPER:
        raise ValueError("--network is for the paper's tables, sizes, hints and progress, as --table or --figure")
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
    groups, console = grouped(rows), screen()
    if export is not None:
        console.print(export_rows(rows, export), soft_wrap=True)
    if readme is not None:
        changed = markdown.fill(readme, markdown.render(listing(groups)))
        console.print(f"{readme}: the table of results is {'new' if changed else 'as it was'}", soft_wrap=True)
    networks = _Networks(rows, scores, n, samples, network, precision, chosen_device(device), threads, console)
    if figure is not None:
        assert target is not None
        write(target, _drawn(figure, groups, bench, networks, image_format("--out", target)))
    elif table is not None or (export is None and readme is None) or target is not None:
        _show(_table(table, groups, networks), format, target, console)
    return networks.refused.code


def _scores_in(files: tuple[Path, ...], tasks: tuple[str, ...], models: tuple[str, ...]) -> list[Scored]:
    if others := [str(path) for path in files if not is_recorded(path)]:
        raise ValueError(f"{others[0]} is no CSV of scores, and others are; ask for runs and for scores one at a time")
    found = _matching(recorded(files), tasks, lambda each: each.task)
    found = _matching(found, models, lambda each: each.model)
    return sorted(found, key=lambda each: in_order(each.task, each.model))


@dataclass
class _Networks:
    """The networks of runs, and how they are tried."""

    rows: list[Row]
    scores: list[Scored]
    """of networks that were tried before: then nothing is tried"""
    sizes: tuple[int, ...]
    samples: tuple[int, ...]
    which: Which
    precision: Precision
    device: torch.device
    threads: int | None
    console: Console
    refused: Refused = field(default_factory=Refused)

    def outcomes(
        self, usual: tuple[int, ...], hints: bool = False, source: HintSource = "network", after: float = 1.0
    ) -> list[Outcome]:
        """Try them at the sizes that were asked for, or at the usual ones."""
        work = [
            (run, [some for task in tasks for some in problem_sets(task, self.sizes or usual, self.samples)])
            for run, tasks in with_networks(self.rows, tell, self.refused)
        ]
        trial = Trial(self.which, source=source, precision=self.precision, after=after)
        return tried(work, self.console, hints, self.device, self.threads, self.refused, trial)

    def scored(self, usual: tuple[int, ...]) -> list[Scored]:
        """What they score at those sizes."""
        return self.scores or [*map(Scored.of, self.outcomes(usual))]


def _table(kind: Kind | None, groups: Groups, networks: _Networks) -> Page:
    if kind is None:
        return listing(groups)
    if kind == "networks":
        return network_table(groups)
    if kind == "sizes":
        return size_table(networks.scored(SIZE_TABLE), networks.rows)
    if kind == "hints":
        each = [networks.outcomes(HINT_TABLE, source == "network", source) for source in SOURCES]
        return hint_table(sum(each, []))
    if kind == "progress":
        return progress_table(sum((networks.outcomes(PROGRESS_TABLE, after=share) for share in SHARES), []))
    return paper_table(int(kind), networks.rows, networks.which)


def _drawn(figure: Figure, groups: Groups, bench: tuple[Path, ...], networks: _Networks, image: str) -> bytes:
    from rnar.report import figures, trial_figures  # matplotlib takes a second

    if figure == "timing":
        return figures.timing(groups, bench, image)
    if figure == "curves":
        return figures.curves(groups, image)
    if figure == "wider":
        return figures.wider(groups, image)
    if figure == "losses":
        return figures.losses(groups, image)
    if figure == "sizes":
        return trial_figures.sizes(networks.scored(SIZE_FIGURE), image)
    return trial_figures.hints(networks.outcomes(HINT_FIGURE, hints=True), image)


def _check(figure: Figure | None, table: Kind | None, out: Path | None) -> None:
    if figure is None:
        return
    if table is not None:
        raise ValueError("--table and --figure are two things; ask for one at a time")
    if out is None:
        raise ValueError(f"--figure {figure} needs --out FILE, a .{', .'.join(IMAGES)}")
    image_format("--out", out)


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
    if format == "terminal" and target is None:
        _print(page, console)
        return
    text = _plain(page) if format == "terminal" else FORMATS[format](page)
    if target is None:
        sys.stdout.write(text)
    else:
        write(target, text.encode())


def _print(page: Page, console: Console) -> None:
    for part in terminal.parts(page, console):
        console.print(part)


def _plain(page: Page) -> str:
    """As a wide terminal shows it, without colours."""
    console = screen(width=WIDE, color_system=None, force_terminal=False)
    with console.capture() as captured:
        _print(page, console)
    return "\n".join(line.rstrip() for line in captured.get().splitlines()) + "\n"
