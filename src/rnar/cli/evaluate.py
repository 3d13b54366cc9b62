"""`rnar evaluate`: how good the networks of runs are, at any size."""

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import torch
import tyro
from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from rnar.cli.flags import flag, whole_numbers
from rnar.cli.output import bar, image_format, screen, tell
from rnar.clrs import find
from rnar.common.blame import place_of
from rnar.common.files import free, write
from rnar.evaluation.changes import accuracies
from rnar.evaluation.sets import ProblemSet, exported, problem_sets
from rnar.inference.answer import Answer
from rnar.inference.pretrained import run_folder
from rnar.inference.solver import by_name
from rnar.inference.worst import worst as most_wrong
from rnar.nn.heads import HintSource
from rnar.report.evaluations import as_csv, as_json
from rnar.report.page import percent as printed
from rnar.report.score_figures import figure as drawn
from rnar.report.scores import Trial
from rnar.report.trials import Outcome, evaluated, runs_in, with_sets
from rnar.runtime.workers import Precision, check_threads
from rnar.training.environment import chosen_device
from rnar.training.run import Run, Which
from rnar.training.settings import Device

MOMENTS = 5  # of the steps that the table of hints has
CHANGES = ("that change", "all", "all, if copied")  # as in `Accuracies`


def evaluate(
    runs: Annotated[tuple[Path, ...], tyro.conf.Positional, flag("RUN...")],
    n: Annotated[tuple[str, ...], flag("INT...", "64", aliases=["--sizes"])] = (),
    samples: Annotated[tuple[str, ...], flag("INT...", "as many as the official set has")] = (),
    data: Annotated[Path | None, flag("FILE.npz", "the official test set")] = None,
    hints: bool = False,
    by_node: bool = False,
    network: Which = "best",
    hard_hints: bool = False,
    hints_from: HintSource = "network",
    after: Annotated[float, flag("SHARE")] = 1.0,
    precision: Precision = "float32",
    csv: Annotated[Path | None, flag("OUT.csv")] = None,
    json: Annotated[Path | None, flag("OUT.json")] = None,
    figure: Annotated[Path | None, flag("OUT.png")] = None,
    worst: Annotated[int | None, flag("K", "none")] = None,
    pages: Annotated[Path, flag("FOLDER", "worst")] = Path("worst"),
    force: bool = False,
    device: Device = "cpu",
    threads: Annotated[int | None, flag("INT", "one for each core")] = None,
) -> int:
    """Score the best networks of runs: the micro-F1 of the benchmark with a 95% interval, and exact matches.

    By default on the official test set (n=64), or its first samples. Other sizes, more samples, and all samples of a
    task of your own are drawn likewise.
    Intervals are of a bootstrap over samples: they tell how much the choice of samples matters, and nothing of seeds.
    A run that cannot be tried is told and left out, and the exit code is 1 then.

    Args:
        runs: Folders of runs, or folders above them, or names of pretrained networks. Opening a run imports the
            modules of yours that its config names.
        n: Sizes to try, as in 16 64 or 16,64. A string matcher's needle comes on top of them, as in the official sets.
        samples: How many samples of each size: one number, or one for each of --n.
        data: Samples that `rnar data export` wrote, in place of --n and --samples.
        hints: Score the hints too, at each step; and where they change, beside what copying them would score.
        by_node: Score them where they change by node as well as by step.
        network: The one that was selected, the last one, or the average of the weights, if the run kept one.
        hard_hints: Feed hints back as decisions, and not as probabilities.
        hints_from: What is fed as hints after the first step: the network's own, the true ones, or zeros.
        after: Ask for the answer after this share of the algorithm's steps, 0.5 for half of them.
        precision: Of the largest matrix products: bfloat16 is quicker on CPUs that have it, and not as exact.
        csv: Write all numbers to this file, one in a line.
        json: Write all numbers to this file.
        figure: Draw score against size, and hints along the steps, into this file: .png, .svg or .pdf.
        worst: Make pages of the K samples of each set that went most wrong, which play them step by step.
        pages: The folder for these pages.
        force: Replace files that are there.
        device: What computes: auto takes a GPU if there is one.
        threads: How many threads compute on a CPU.
    """
    console = screen()
    if not runs:
        raise ValueError("which runs? name the folder of one, or one above several, as in rnar evaluate runs")
    sizes, counts = whole_numbers("n", n), whole_numbers("samples", samples)
    check_threads(threads)
    if not 0 < after <= 1:
        raise ValueError(f"--after is a share of the steps, above 0 and at most 1, not {after}")
    if worst and after < 1:
        raise ValueError("--worst makes pages of whole runs; leave --after away")
    hard = True if hard_hints else None
    hints = hints or by_node
    place, trial = chosen_device(device), Trial(network, hard, hints_from, precision, after)
    files = writers(csv, json, figure, force)
    refused = Refused()
    if data is not None and (n or samples):
        raise ValueError("--data has its samples and sizes; leave --n and --samples away")
    runs = tuple(run if run.exists() else run_folder(run) for run in runs)
    tasks = [(run, run.settings.tasks) for run in runs_in(runs, tell, refused)]
    work = with_sets(tasks, lambda run, task: sets_of(run, task, sizes, counts, data), refused)
    check_worst(worst, pages, force, work)
    note_of_one_size((sets for _, sets in work), sizes)
    outcomes = tried(work, console, hints, place, threads, refused, trial)
    for target, make in files.items():  # before anything is printed: who reads that may go away
        write(target, make(outcomes))
    made = worst_pages(outcomes, worst, pages, force, place) if worst else ()
    console.print(table(outcomes))
    for outcome in outcomes if hints else ():
        console.print(hint_table(outcome))
        for places in ("steps", "nodes")[: 1 + by_node]:
            console.print(change_table(outcome, places))
    for line in made:
        console.print(line, soft_wrap=True)
    return refused.code


class Refused(list[str]):
    """Why some runs were left out; each is told at once."""

    def __call__(self, reason: str) -> None:
        if reason not in self:
            self.append(reason)
            tell(reason)

    @property
    def code(self) -> int:
        """The exit code of a command that went on without them."""
        return 1 if self else 0


def tried(
    runs: Sequence[tuple[Run, list[ProblemSet]]],
    console: Console,
    hints: bool,
    device: torch.device,
    threads: int | None,
    refuse: Callable[[str], None],
    trial: Trial = Trial(),  # noqa: B008 (it cannot change)
) -> list[Outcome]:
    """Evaluate runs, each on its own sets of problems, below a bar. What is wrong with one does not hide the others."""
    outcomes: list[Outcome] = []
    with bar(console) as progress:
        work = progress.add_task("", total=sum(len(sets) for _, sets in runs))
        for run, sets in runs:
            progress.update(work, description=by_name(run))
            advance = lambda share: progress.advance(work, share)  # noqa: E731
            try:
                outcomes += evaluated(run, sets, hints, device, threads, advance, trial)
            except Exception as error:
                if len(runs) == 1 or not (isinstance(error, (ValueError, OSError)) or place_of(error)):
                    raise
                refuse(f"{run.path} is left out: {error}")
    return outcomes


def writers(
    csv: Path | None, json: Path | None, figure: Path | None, force: bool
) -> dict[Path, Callable[[Sequence[Outcome]], bytes]]:
    """What makes the content of each file that is wanted. All that can be wrong with them is raised now."""
    format = image_format("--figure", figure) if figure else ""
    files = {}
    for path, make in ((csv, as_csv), (json, as_json), (figure, lambda outcomes: drawn(outcomes, format))):
        if path is None:
            continue
        target = free(path, replace=force)
        if target in files:
            raise ValueError(f"{path} cannot be two files at once; give --csv, --json and --figure different names")
        files[target] = make
    return files


def sets_of(
    run: Run, task: str, sizes: tuple[int, ...], samples: tuple[int, ...], data: Path | None
) -> list[ProblemSet]:
    """By default as in the run's own test."""
    if data is not None:
        return [exported(task, data)]
    asked = run.settings.test_samples
    if not samples and not sizes and isinstance(asked, int):
        samples = (asked,)
    return problem_sets(task, sizes, samples)


def note_of_one_size(sets: Iterable[list[ProblemSet]], sizes: tuple[int, ...]) -> None:
    """Say which tasks --n means nothing for."""
    for task in dict.fromkeys(problems.task for some in sets for problems in some):
        if sizes and (size := find(task).problem.only_size):
            tell(f"{task} always has {size} nodes: it is tried once, whatever --n says")


def table(outcomes: Sequence[Outcome]) -> Table:
    """A line for each run, task and size; below it one for each output, if there are several."""
    page = plain_table(["model"], ["seed", "n", "samples", "score", "95% interval", "exact"])
    page.caption, page.caption_justify = caption(outcomes), "left"
    for task in dict.fromkeys(outcome.problems.task for outcome in outcomes):
        page.add_row(Text(task, "bold"))
        for outcome in outcomes:
            if outcome.problems.task == task:
                add_rows(page, outcome)
    return page


def add_rows(page: Table, outcome: Outcome) -> None:
    settings, problems, evaluation = outcome.run.settings, outcome.problems, outcome.evaluation
    interval = " to ".join(map(percent, outcome.interval))
    known = [f"  {settings.name}, step {outcome.step}", str(settings.seed), str(problems.n), str(problems.samples)]
    page.add_row(*known, Text(percent(evaluation.score), "bold"), interval, percent(evaluation.exact))
    for name, score in evaluation.outputs.items() if len(evaluation.outputs) > 1 else ():
        page.add_row(Text(f"    {name}", "dim"), "", "", "", Text(percent(score), "dim"))


def caption(outcomes: Sequence[Outcome]) -> Text:
    """What the numbers are, and what the problems."""
    sizes: dict[str, set[int]] = {}
    for outcome in outcomes:
        sizes.setdefault(str(outcome.problems), set()).add(outcome.problems.n)
    said = [f"{kind}: n={', '.join(map(str, sorted(some)))}" for kind, some in sizes.items()]
    unusual = f" With {outcomes[0].trial}." if outcomes and str(outcomes[0].trial) else ""
    return Text(f"In percent. Problems: {'; '.join(said)}.{unusual}", "dim")


def plain_table(words: list[str], numbers: list[str]) -> Table:
    """A table without lines: columns of words on the left, and columns of numbers."""
    left = [Column(name, overflow="fold") for name in words]  # these give way where it is narrow, and no number does
    right = [Column(name, justify="right", no_wrap=True) for name in numbers]
    return Table(*left, *right, box=None, pad_edge=False, header_style="dim")


def percent(share: float) -> str:
    return "–" if math.isnan(share) else printed(100 * share)


def hint_table(outcome: Outcome) -> Table:
    """How well each hint is predicted at a few of the steps, and over all of them."""
    hints = outcome.evaluation.hints
    steps = max((len(tally.counts) for tally in hints.values()), default=0)
    moments = sorted({round(1 + k * (steps - 1) / (MOMENTS - 1)) for k in range(MOMENTS)}) if steps else []
    page = plain_table(["hint", "measure"], ["all steps", *(f"step {t}" for t in moments)])
    page.title, page.title_justify = f"hints of {title(outcome)}", "left"
    for name, tally in hints.items():
        shown = error if tally.measure.is_error else percent
        page.add_row(Text(name), tally.measure.name, *map(shown, [tally.score, *(tally.each[t - 1] for t in moments)]))
    return page


def change_table(outcome: Outcome, places: Literal["steps", "nodes"]) -> Table:
    """How well each hint is predicted where it changes, over all of its steps or nodes, and over a fifth of them."""
    hints = {name: getattr(changes, places) for name, changes in outcome.evaluation.changes.items()}
    count = max(map(len, hints.values()), default=0)
    parts = np.array_split(np.arange(count), min(MOMENTS, count) or 1)
    page = plain_table(["hint", "entries"], [f"all {places}", *(_span(places, part) for part in parts)])
    page.title, page.title_justify = f"changes of hints by {places[:-1]}, {title(outcome)}", "left"
    for name, counts in hints.items():
        if not len(counts):  # a hint of the whole graph, which has no nodes
            continue
        sums = np.array([counts.sum(axis=0), *(counts[part].sum(axis=0) for part in parts)])
        for k, (entries, shares) in enumerate(zip(CHANGES, accuracies(sums), strict=True)):
            page.add_row(Text(name if k == 0 else ""), entries, *map(percent, shares))
    return page


def _span(places: str, part: np.ndarray) -> str:
    """The first and the last of some steps or nodes: steps count from 1, nodes from 0."""
    first, last = (part[[0, -1]] + (places == "steps")) if len(part) else (0, 0)
    return f"{first}–{last}" if first < last else str(first)


def title(outcome: Outcome) -> str:
    """The task, the size and the network."""
    return f"{outcome.problems.task}, n={outcome.problems.n}, {by_name(outcome.run)}"


def error(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3g}"


def check_worst(count: int | None, folder: Path, force: bool, work: Sequence[tuple[Run, list[ProblemSet]]]) -> None:
    """Raise now what pages of the worst samples would raise when all is evaluated."""
    if count is None:
        return
    if count < 1:
        raise ValueError(f"--worst {count}: at least one sample is needed")
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"--pages {folder} is a file; give a folder for the pages")
    ranks = range(1, count + 1)
    names = [_page_name(run, problems, rank) for run, sets in work for problems in sets for rank in ranks]
    for name in names if folder.is_dir() else ():
        free(folder / name, replace=force)


def worst_pages(outcomes: Sequence[Outcome], count: int, folder: Path, force: bool, device: torch.device) -> list[str]:
    """Write pages of the samples that went most wrong; returns a line for each."""
    lines = []
    for outcome in outcomes:
        run, problems = outcome.run, outcome.problems
        reasoner = outcome.trial.network(run, device)
        wrong = most_wrong(reasoner, run.model.batch, problems, outcome.evaluation, count)
        for rank, (number, belief) in enumerate(wrong, 1):
            answer = Answer(belief.sample, belief, by_name(run), f"sample {number}, {problems}")
            folder.mkdir(parents=True, exist_ok=True)
            target = free(folder / _page_name(run, problems, rank), replace=force)
            answer.view().save(target)
            lines.append(f"{target}  sample {number}: {belief.score:.1%}; hints {answer.hints}")
        if not wrong:
            lines.append(f"{title(outcome)}: every sample is right, so none is the worst")
    return lines


def _page_name(run: Run, problems: ProblemSet, rank: int) -> str:
    words = [problems.task, run.settings.name, f"seed-{run.settings.seed}", f"n{problems.n}", f"worst-{rank}"]
    return "-".join(words).replace(":", ".").replace("/", ".") + ".html"
