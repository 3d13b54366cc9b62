"""Tables of what was run: all runs beside the paper's numbers, and scores by network, size, hints and progress.

A table is a pivot of the table of scores: a line for each group of seeds, and columns that make a cell of a group.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import mean

from rnar.clrs.splits import is_official
from rnar.evaluation.sets import ProblemSet
from rnar.nn.heads import HintSource
from rnar.report import published as paper
from rnar.report.page import DASH, EMPTY, MINUS, Cell, Page, difference, mark_best, number, percent, quiet
from rnar.report.progress import algorithm
from rnar.report.runs import Row
from rnar.report.scores import TEST, Group, Score, by_task, grouped, longest, sample_counts, span, steps_of, table
from rnar.training.run import Which

DEVIATION = "mean over seeds ± their standard deviation, which one seed does not have"
LISTED = (
    f"Scores are micro-F1 in percent. Test: of the network that validation selected, on the official set, {DEVIATION}. "
    "Validation: of the tested network; of an unfinished run the last. Minutes: of training. GB: the most at once. "
    "Bold: the best of a task. A dash: not run, not finished, or not published."
)
AVERAGES = "Average: of the weights along the training, tested on the same samples, where a run kept it."
NETWORKS: dict[Which, str] = {"best": "selected", "last": "last", "average": "average"}
OF_NETWORKS = (
    f"Scores at n = 64, micro-F1 in percent: {DEVIATION}. Selected: the network that validation at n = 16 chose. "
    "Last: the one after all steps. Average: of the weights along the training, where runs kept it. Bold: the best of "
    "a task and a column."
)
OF_SIZES = (
    "Scores are micro-F1 in percent, on {samples} samples. ± is half of the 95% interval over samples; of several "
    "seeds, the standard deviation over them."
)
COSTS = "Seconds: of a training step, validation included. GB: the most at once."
SOURCES: dict[HintSource, str] = {"network": "own\nhints", "truth": "true\nhints", "nothing": "no\nhints"}
OF_HINTS = (
    "Scores are micro-F1 in percent, on {samples} samples, where a network is fed its own hints, the true ones, "
    "or none. The last column: how right its own hints are, over all steps and samples, in percent (of numbers the "
    "squared error)."
)
SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
"""of an algorithm's steps, after which networks are asked"""
OF_PROGRESS = (
    "Scores are micro-F1 in percent, on {samples} samples, of the answer that is asked for after a part of the "
    "steps. The algorithm: of the hint that becomes the answer, as it is by then, where there is one. Who is right "
    "before the algorithm has got there does not follow it."
)
Columns = dict[str, Callable[[Group], Cell]]
"""by their heads, what they make of a group"""
Parts = dict[str, Callable[[Group], Group]]
"""by the heads of columns of scores, which part of a group's scores stands there"""


def seeds_and_steps(group: Group) -> Cell:
    """How many seeds, and how many steps each took: fewer than were planned, where patience ended it."""
    return quiet(f"{len(group.runs)} × {steps_of(group.runs)}")


def shorter_runs(rows: list[Row], kept: list[Row]) -> list[str]:
    """A sentence about the runs that are left out, if there are some."""
    count = len(rows) - len(kept)
    words, verb = ("shorter runs", "are") if count > 1 else ("shorter run", "is")
    return [f"{count} {words} of the same task, model, settings and seed {verb} not shown."] * bool(count)


def mixed_steps(groups: Iterable[Group]) -> str:
    """A note for an average over tasks, where some runs are longer than others."""
    steps = steps_of(run for group in groups for run in group.runs)
    return f"average over runs of {steps} steps" if "–" in steps else ""


LEFT: Columns = {
    "task": lambda group: Cell(paper.title(group.task)),
    "model": lambda group: Cell(group.model),
    "seeds ×\nsteps": seeds_and_steps,
}


def _fill(page: Page, columns: Columns, block: Iterable[Group], best: Sequence[Sequence[str]] = ()) -> None:
    """Add a line for each group; in each of these sets of columns the best score of the block is bold."""
    page.head = list(columns)
    lines = [[column(group) for column in columns.values()] for group in block]
    for heads in best:
        mark_best(lines, [page.head.index(head) for head in heads])
    page.rows += lines


def _add(page: Page, cells: dict[str, Cell]) -> None:
    """Add a line with these cells, by the heads of their columns."""
    page.rows.append([cells.get(head, EMPTY) for head in page.head])


def listing(rows: Iterable[Row]) -> Page:
    """A line for each task, model and settings; unfinished runs have lines of their own."""
    rows = list(rows)
    kept = longest(rows)
    page, groups = Page("Results", []), grouped(table(kept))
    scores: Columns = {
        "test\nn = 64": lambda group: _test(page, group),
        "average\nn = 64": lambda group: _measured(page, group, group.tested("average"), "average"),
        "paper\nn = 64": lambda group: _published(page, group),
    }
    others: Columns = {
        "test −\npaper": _beyond_paper,
        "valid.\nn = 16": _validation,
        "min.\na run": _minutes,
        "GB": _memory,
    }
    has_averages = any(row.test_average is not None for row in kept)
    if not has_averages:
        del scores["average\nn = 64"]
    for task in dict.fromkeys(task for task, _ in groups):
        lines = [line for key, some in groups.items() if key[0] == task for group in some for line in _states(group)]
        _fill(page, {**LEFT, "seeds ×\nsteps": _progress, **scores, **others}, lines, [list(scores)])
    page.rule = len(page.rows)
    tests = {key: some[0].tested() for key, some in groups.items() if key[0] in paper.TASKS}
    models = [model for (_, model), test in tests.items() if test.scores]
    for model in dict.fromkeys(models):
        if models.count(model) > 1:  # of one task there is no average
            _averages(page, model, tests)
    page.about = [LISTED, *[AVERAGES] * has_averages, *shorter_runs(rows, kept)]
    return page


def _states(group: Group) -> list[Group]:
    """The runs of a group that are finished, and each that is not."""
    parts = [group.where(lambda score: score.run.test_n64 is not None)]
    parts += [group.where(lambda score, run=run: score.run is run) for run in group.unfinished]
    return [part for part in parts if part.scores]


def _progress(group: Group) -> Cell:
    run = group.runs[0]
    return quiet(f"{run.steps} of {run.planned}") if group.unfinished else seeds_and_steps(group)


def _test(page: Page, group: Group) -> Cell:
    state = f"seed {group.runs[0].seed} is not finished" if group.unfinished else ""
    drawn = "" if is_official(group.task) else "no official set: tested on samples that are drawn as those are"
    notes = dict.fromkeys(run.note for run in group.runs)
    return number(group.tested().mean, group.tested().spread, page.marks(state, drawn, group.unusual, *notes))


def _measured(page: Page, group: Group, part: Group, name: str, note: str = "", intervals: bool = False) -> Cell:
    """The mean over seeds of a part of a group, with a note if not all seeds have a score."""
    count, runs = len(part.scores), len(group.runs)
    lacking = f"{name}: of {count} of {runs} seeds" if 0 < count < runs else ""
    spread = f"{sum(part.bars) / 2:.2f}" if intervals and count == 1 else part.spread
    return number(part.mean, spread, page.marks(note, lacking))


def _published(page: Page, group: Group) -> Cell:
    known = paper.published(group.model, group.task)
    return number(known.mean, known.spread, page.marks(known.note)) if known else DASH


def _beyond_paper(group: Group) -> Cell:
    known = paper.published(group.model, group.task)
    return difference(group.tested().mean, known.mean if known else None)


def _validation(group: Group) -> Cell:
    scores = [run.last_validation if group.unfinished else run.validation for run in group.runs]
    known = [100 * score for score in scores if score is not None]
    return number(mean(known) if known else None)


def _minutes(group: Group) -> Cell:
    minutes = [run.minutes for run in group.runs if run.minutes is not None]
    return Cell(f"{mean(minutes):.{0 if mean(minutes) >= 10 else 1}f}") if minutes else DASH


def _memory(group: Group) -> Cell:
    memory = [run.memory_mb for run in group.runs if run.memory_mb is not None]
    return Cell(f"{max(memory) / 1000:.1f}") if memory else DASH


def _pace(group: Group) -> Cell:
    """Seconds a step."""
    seconds = [60 * run.minutes / run.steps for run in group.runs if run.minutes is not None and run.steps]
    return Cell(f"{mean(seconds):.2f}") if seconds else DASH


def _averages(page: Page, model: str, tests: dict[tuple[str, str], Group]) -> None:
    """Over all 30 tasks, if all were run; made of the models of which the paper's average is made."""
    behind = {task: paper.in_the_paper(model, task) for task in paper.TASKS}
    ours = {task: tests[task, other] for task, other in behind.items() if (task, other) in tests}
    scores = {task: group.mean for task, group in ours.items() if group.mean is not None}
    theirs = {task: known.mean for task, other in behind.items() if (known := paper.published(other, task))}
    mixed = paper.substitutions(model, paper.TASKS)
    note = page.marks(f"{paper.SUBSTITUTE} on {mixed}, as in the paper" if mixed else "")
    whole = len(scores) == len(paper.TASKS)
    marks = page.marks(mixed_steps(ours.values()) if whole else "")
    printed = paper.numbers().get((2, model, paper.AVERAGE))
    means = {"Average, 30 tasks": paper.mean_of_tasks, "Average, 8 categories": paper.mean_of_categories}
    for title, average in means.items():
        own = average(scores) if whole else None
        known = average(theirs) if len(theirs) == len(paper.TASKS) else None
        if printed and average is paper.mean_of_tasks:
            known = printed.mean
        cells = {"task": Cell(title), "model": Cell(model, marks=note), "test\nn = 64": number(own, marks=marks)}
        cells |= {"paper\nn = 64": number(known), "test −\npaper": difference(own, known)}
        _add(page, {**cells, "seeds ×\nsteps": quiet(f"{len(scores)} of {len(paper.TASKS)}")})


def network_table(rows: Iterable[Row]) -> Page:
    """The tests of the selected network of each run, the last one, and the average of the weights."""
    kept = [row for row in longest(rows) if row.test_n64 is not None]
    page = Page("Which network of a run", [], about=[OF_NETWORKS, *_compared(kept)])
    parts: Parts = {head: lambda group, which=which: group.tested(which) for which, head in NETWORKS.items()}
    _compare(page, by_task(score for score in table(kept) if score.n == TEST), parts, _scores(page, parts))
    return page


def _compared(rows: list[Row]) -> list[str]:
    """In a sentence, what an average of the weights brought, run by run."""
    both = [(row.test_average, row.test_n64) for row in rows]
    points = [100 * (average - selected) for average, selected in both if average is not None and selected is not None]
    if len(points) < 2:
        return []
    better, worse = sum(x > 0 for x in points), sum(x < 0 for x in points)
    return [
        f"Of {len(points)} runs that have an average of the weights it is better than the selected network in {better} "
        f"and worse in {worse}; the mean difference is {mean(points):+.1f} points.".replace("-", MINUS)
    ]


def size_table(scores: Sequence[Score]) -> Page:
    """Scores at several sizes, beside what runs cost where that is known."""
    page = _page("Score against size", OF_SIZES, scores)
    costs: Columns = {"s a\nstep": _pace, "GB": _memory} if any(score.run.path for score in scores) else {}
    page.about[1:1] = [*[COSTS] * bool(costs), "Bold: the best of a task and a size."]
    parts: Parts = {f"n = {n}": lambda group, n=n: group.at(n) for n in sorted({score.n for score in scores})}
    several_ways = len({score.trial for score in scores}) > 1

    def name(group: Group) -> Cell:
        way = str(group.scores[0].trial) if several_ways else ""
        return Cell(", ".join(filter(None, [group.model, way])))

    _compare(page, by_task(scores), parts, {"model": name, **_scores(page, parts, intervals=True), **costs})
    return page


def hint_table(scores: Sequence[Score]) -> Page:
    """How the answers of networks depend on hints, and how right their own hints are."""
    page = _page("Answers and hints", OF_HINTS, scores)
    parts: Parts = {
        head: lambda group, source=source: group.where(lambda score: score.trial.source == source)
        for source, head in SOURCES.items()
    }
    columns: Columns = {**LEFT, "n": _size, **_scores(page, parts), "its own hints": _own_hints}
    for block in _by_size(scores):
        _fill(page, columns, block)
    return page


def _own_hints(group: Group) -> Cell:
    own = [score.hints for score in group.scores if score.trial.source == "network"]
    words = []
    for name, tally in own[0].items() if own else ():
        value = mean(hints[name].score for hints in own)
        right = f"{value:.2g}" if tally.measure.is_error else percent(100 * value, 0)
        words.append(f"{name} {right if value == value else DASH.text}")  # NaN: there was nothing to judge
    return Cell(", ".join(words)) if words else DASH


def progress_table(scores: Sequence[Score], sets: Iterable[ProblemSet]) -> Page:
    """What networks answer before the algorithm has ended, beside what that has by then."""
    page = _page("Answers before the end", OF_PROGRESS, scores)
    shares = sorted({score.trial.after for score in scores})
    parts: Parts = {
        f"{share:.0%}": lambda group, share=share: group.where(lambda score: score.trial.after == share)
        for share in shares
    }
    problems = {(some.task, some.n): some for some in sets}
    columns: Columns = {**LEFT, "n": _size, **_scores(page, parts)}
    for block in _by_size(scores):
        _fill(page, columns, block)
        names = {"task": LEFT["task"](block[0]), "model": quiet("the algorithm"), "n": _size(block[0])}
        if known := algorithm(problems[block[0].task, block[0].sizes[0]], shares):
            _add(page, names | {head: number(100 * score) for head, score in zip(parts, known, strict=True)})
    return page


def _page(title: str, about: str, scores: Sequence[Score]) -> Page:
    """With what is unusual about how all were evaluated in a sentence; nothing if it is as ever."""
    every = dict.fromkeys(str(replace(score.trial, source="network", after=1.0)) for score in scores)
    words = ", or with ".join(filter(None, every))
    ways = [f"{'With' if len(every) == 1 else 'Some with'} {words}."] if words else []
    return Page(title, [], about=[about.format(samples=sample_counts(scores)), *ways])


def _scores(page: Page, parts: Parts, intervals: bool = False) -> Columns:
    """Columns of scores, of which the first tells what is unusual; `intervals`: one seed has half of its interval."""

    def column(head: str) -> Callable[[Group], Cell]:
        def cell(group: Group) -> Cell:
            note = group.unusual if head == next(iter(parts)) else ""
            return _measured(page, group, parts[head](group), head.replace("\n", " "), note, intervals)

        return cell

    return {head: column(head) for head in parts}


def _by_size(scores: Iterable[Score]) -> list[list[Group]]:
    """A block of groups for each task and size."""
    blocks = []
    for groups in by_task(scores).values():
        sizes = sorted({n for group in groups for n in group.sizes})
        blocks += [[group.at(n) for group in groups if n in group.sizes] for n in sizes]
    return blocks


def _size(group: Group) -> Cell:
    return Cell(str(group.sizes[0]))


def _compare(page: Page, tasks: dict[str, list[Group]], parts: Parts, columns: Columns) -> None:
    """A line for each group with the best of each task in bold; then for each model that has all tasks a mean over
    them, of the first group of each."""
    for groups in tasks.values():
        _fill(page, {**LEFT, **columns}, groups, [[head] for head in parts])
    page.rule = len(page.rows)
    for model in dict.fromkeys(group.model for groups in tasks.values() for group in groups):
        own = [[group for group in groups if group.model == model] for groups in tasks.values()]
        if len(tasks) == 1 or not all(own):
            continue
        means = [groups[0] for groups in own]
        seeds, steps = span(len(group.runs) for group in means), steps_of(run for group in means for run in group.runs)
        cells = {"task": Cell(f"Average, {len(means)} tasks"), "model": Cell(model)}
        cells["seeds ×\nsteps"] = quiet(f"{seeds} × {steps}")
        for head, part in parts.items():
            known = [value for group in means if (value := part(group).mean) is not None]
            cells[head] = number(mean(known) if len(known) == len(means) else None)
        _add(page, cells)
    for head in parts:
        mark_best(page.rows[page.rule :], [page.head.index(head)])
