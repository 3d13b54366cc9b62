"""Tables of what was run: all runs beside the paper's numbers, and scores by network, size, hints and progress."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from statistics import mean
from typing import Any

from rnar.clrs.splits import is_official
from rnar.evaluation.sets import ProblemSet
from rnar.nn.heads import HintSource
from rnar.report import published as paper
from rnar.report.page import DASH, EMPTY, MINUS, Cell, Page, difference, mark_best, number, percent, quiet
from rnar.report.progress import algorithm
from rnar.report.runs import Row
from rnar.report.scores import (
    TEST,
    Group,
    Groups,
    Score,
    by_task,
    longest,
    mixed_steps,
    sample_counts,
    shown,
    span,
    steps_of,
    table,
    ways,
)
from rnar.training.run import Which

HEAD = ["task", "model", "seeds ×\nsteps"]
SCORES = ["test\nn = 64", "average\nn = 64", "paper\nn = 64", "test −\npaper", "valid.\nn = 16"]
SCORED = 3, 4, 5  # columns of scores that are compared
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
BEST = "Bold: the best of a task and a size."
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
Extra = dict[str, Callable[[Group], Cell]]
"""columns behind the scores, by their heads"""


def listing(rows: Iterable[Row]) -> Page:
    """A line for each task, model and settings; unfinished runs have lines of their own."""
    groups, hidden = shown(rows)
    page = Page("Results", [*HEAD, *SCORES, "min.\na run", "GB"], left=2, about=[LISTED, AVERAGES, *hidden])
    for task in dict.fromkeys(task for task, _ in groups):
        lines = []
        for group in (group for key, some in groups.items() if key[0] == task for group in some):
            lines += [_line(page, group)] if group.tested().scores else []
            lines += [_line(page, group, run) for run in group.unfinished]
        mark_best(lines, SCORED)
        page.rows += lines
    page.rule()
    tested = [key for key, some in groups.items() if key[0] in paper.TASKS and some[0].tested().scores]
    models = [model for _, model in tested]
    for model in dict.fromkeys(models):
        if models.count(model) > 1:  # of one task there is no average
            _averages(page, model, groups)
    if not any(group.tested("average").scores for some in groups.values() for group in some):
        page.drop(SCORES.index("average\nn = 64") + len(HEAD))
        page.about.remove(AVERAGES)
    return page


def _line(page: Page, group: Group, unfinished: Row | None = None) -> list[Cell]:
    """The runs of a group that are finished, or one that is not."""
    test, average = (group.tested(which) if unfinished is None else Group(()) for which in ("best", "average"))
    runs = test.runs if unfinished is None else [unfinished]
    validations = [run.validation if unfinished is None else run.last_validation for run in runs]
    validation = [100 * score for score in validations if score is not None]
    state = f"seed {unfinished.seed} is not finished" if unfinished else ""
    drawn = "" if is_official(group.task) else "no official set: tested on samples that are drawn as those are"
    marks = page.notes.marks(state, drawn, group.unusual, *dict.fromkeys(run.note for run in runs))
    theirs = paper.published(group.model, group.task)
    minutes = [run.minutes for run in runs if run.minutes is not None]
    return [
        Cell(paper.title(group.task)),
        Cell(group.model),
        quiet(f"{unfinished.steps} of {unfinished.planned}") if unfinished else test.size,
        number(test.mean, test.spread, marks),
        _measured(page, average, len(runs), "average"),
        number(theirs.mean, theirs.spread, page.notes.marks(theirs.note)) if theirs else DASH,
        difference(test.mean, theirs.mean if theirs else None),
        number(mean(validation) if validation else None),
        Cell(f"{mean(minutes):.{0 if mean(minutes) >= 10 else 1}f}") if minutes else DASH,
        _memory(runs),
    ]


def _memory(runs: list[Row]) -> Cell:
    memory = [run.memory_mb for run in runs if run.memory_mb is not None]
    return Cell(f"{max(memory) / 1000:.1f}") if memory else DASH


def _averages(page: Page, model: str, groups: Groups) -> None:
    """Over all 30 tasks, if all were run; made of the models of which the paper's average is made."""
    models = {task: paper.in_the_paper(model, task) for task in paper.TASKS}
    ours = {task: groups[task, behind][0].tested() for task, behind in models.items() if (task, behind) in groups}
    scores = {task: group.mean for task, group in ours.items() if group.mean is not None}
    theirs = {task: known.mean for task, behind in models.items() if (known := paper.published(behind, task))}
    mixed = paper.substitutions(model, paper.TASKS)
    note = page.notes.marks(f"{paper.SUBSTITUTE} on {mixed}, as in the paper" if mixed else "")
    printed = paper.numbers().get((2, model, paper.AVERAGE))
    whole = len(scores) == len(paper.TASKS)
    done, steps = f"{len(scores)} of {len(paper.TASKS)}", page.notes.marks(mixed_steps(ours) if whole else "")
    means = {"Average, 30 tasks": paper.mean_of_tasks, "Average, 8 categories": paper.mean_of_categories}
    for title, average in means.items():
        own = average(scores) if whole else None
        known = average(theirs) if len(theirs) == len(paper.TASKS) else None
        if printed and average is paper.mean_of_tasks:
            known = printed.mean
        cells = [number(own, marks=steps), EMPTY, number(known), difference(own, known)]
        page.add(Cell(title), Cell(model, marks=note), quiet(done), *cells, *[EMPTY] * 3)


def network_table(rows: Iterable[Row]) -> Page:
    """The tests of the selected network of each run, the last one, and the average of the weights."""
    kept, _ = longest(rows)
    scores = [score for score in table(kept) if score.run.test_n64 is not None and score.n == TEST]
    page = Page("Which network of a run", [*HEAD], left=2, about=[OF_NETWORKS])
    _pivot(page, scores, NETWORKS, lambda score: score.trial.which)
    page.about += _compared({id(score.run): score.run for score in scores}.values())
    return page


def _compared(rows: Iterable[Row]) -> list[str]:
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
    costs: Extra = {"s a\nstep": lambda group: _pace(group.runs), "GB": lambda group: _memory(group.runs)}
    costs = costs if any(score.run.path for score in scores) else {}
    page = Page("Score against size", [*HEAD], left=2, about=[_about(OF_SIZES, scores), *[COSTS] * bool(costs), BEST])
    page.about += ways(scores)
    heads = {n: f"n = {n}" for n in sorted({score.n for score in scores})}
    _pivot(page, scores, heads, lambda score: score.n, extra=costs, intervals=True)
    return page


def _pace(runs: list[Row]) -> Cell:
    """Seconds a step."""
    seconds = [60 * run.minutes / run.steps for run in runs if run.minutes is not None and run.steps]
    return Cell(f"{mean(seconds):.2f}") if seconds else DASH


def hint_table(scores: Sequence[Score]) -> Page:
    """How the answers of networks depend on hints, and how right their own hints are."""
    page = Page("Answers and hints", [*HEAD, "n"], left=2, about=[_about(OF_HINTS, scores), *ways(scores)])
    _pivot(page, scores, SOURCES, lambda score: score.trial.source, extra={"its own hints": _own_hints})
    return page


def _own_hints(group: Group) -> Cell:
    own = [score for score in group.scores if score.trial.source == "network"]
    names = own[0].hints if own else {}
    words = ", ".join(f"{name} {_right([score.hints[name].score for score in own], names[name])}" for name in names)
    return Cell(words) if words else DASH


def _right(scores: list[float], tally: Any) -> str:
    value = mean(scores)
    if value != value:  # NaN: there was nothing to judge
        return DASH.text
    return f"{value:.2g}" if tally.measure.is_error else percent(100 * value, 0)


def progress_table(scores: Sequence[Score], sets: Iterable[ProblemSet]) -> Page:
    """What networks answer before the algorithm has ended, beside what that has by then."""
    page = Page("Answers before the end", [*HEAD, "n"], left=2, about=[_about(OF_PROGRESS, scores), *ways(scores)])
    heads = {share: f"{share:.0%}" for share in sorted({score.trial.after for score in scores})}
    known = {(problems.task, problems.n): problems for problems in sets}
    below = partial(_algorithm, known, list(heads))
    _pivot(page, scores, heads, lambda score: score.trial.after, below=below)
    return page


def _algorithm(sets: dict[tuple[str, int], ProblemSet], shares: Sequence[float], task: str, n: int) -> list[list[Cell]]:
    """The line of the algorithm itself."""
    known = algorithm(sets[task, n], shares)
    names = [Cell(paper.title(task)), Cell("the algorithm", tone="quiet"), EMPTY, Cell(str(n))]
    return [[*names, *(number(100 * score) for score in known)]] if known else []


def _about(text: str, scores: Sequence[Score]) -> str:
    return text.format(samples=sample_counts(scores))


def _pivot(
    page: Page,
    scores: Sequence[Score],
    heads: dict[Any, str],
    key: Callable[[Score], Any],
    extra: Extra | None = None,
    intervals: bool = False,
    below: Callable[[str, int], list[list[Cell]]] = lambda task, n: [],
) -> None:
    """A line for each task, model and settings, and a column for each value of `key`.

    A table that has a column n has a line for each size too, and what is `below` the lines of a task and size; any
    other has the mean over tasks of each model that has all of them.

    Args:
        page: With the head of the columns on the left, to be filled.
        scores: The table of scores.
        heads: By value of `key`, the head of its column.
        key: What is spread over columns.
        extra: More columns.
        intervals: Whether one seed has half of its interval as ±.
        below: More lines for a task and a size.
    """
    extra, by_size, first = extra or {}, "n" in page.head, len(page.head)
    page.head += [*heads.values(), *extra]
    places = range(first, first + len(heads))
    tasks = by_task(scores)
    several_ways = len({str(score.trial) for score in scores}) > 1
    for task, groups in tasks.items():
        lines = []
        for n in sorted({score.n for group in groups for score in group.scores}) if by_size else [None]:
            for group in groups:
                part = group.where(lambda score, n=n: n is None or score.n == n)
                if not part.scores:
                    continue
                its_ways = {str(score.trial) for score in part.scores}
                way = its_ways.pop() if several_ways and len(its_ways) == 1 else ""
                name = ", ".join(filter(None, [part.model, way]))
                cells = [Cell(paper.title(task)), Cell(name), part.size, *([Cell(str(n))] if by_size else [])]
                for value, head in heads.items():
                    of_value = part.where(lambda score, value=value: key(score) == value)
                    note = group.unusual if value == next(iter(heads)) else ""
                    cells.append(_measured(page, of_value, len(part.runs), head.replace("\n", " "), note, intervals))
                lines.append([*cells, *(column(part) for column in extra.values())])
            lines += below(task, n or 0)
        page.rows += lines if by_size else _marked(lines, places)
    page.rule()
    if not by_size and len(tasks) > 1:
        page.rows += _marked(list(_means(tasks, list(heads), key, len(page.head))), places)


def _measured(page: Page, part: Group, runs: int, name: str, note: str = "", intervals: bool = False) -> Cell:
    """The mean over seeds, with a note if not all of so many runs have a score."""
    count = len(part.scores)
    lacking = f"{name}: of {count} of {runs} seeds" if 0 < count < runs else ""
    spread = part.spread
    if intervals and count == 1:
        spread = f"{sum(part.bars) / 2:.2f}"
    return number(part.mean, spread, page.notes.marks(note, lacking))


def _marked(lines: list[list[Cell]], places: range) -> list[list[Cell]]:
    """The best of each column by itself."""
    for place in places:
        mark_best(lines, (place,))
    return lines


def _means(
    tasks: dict[str, list[Group]], values: list[Any], key: Callable[[Score], Any], width: int
) -> Iterable[list[Cell]]:
    """Over all tasks, of the first line of each, for each model that has all tasks; of those columns that all have."""
    for model in dict.fromkeys(group.model for groups in tasks.values() for group in groups):
        firsts = [next((group for group in groups if group.model == model), None) for groups in tasks.values()]
        whole = [group for group in firsts if group is not None]
        if len(whole) == len(firsts):
            columns = [[group.where(lambda score, v=v: key(score) == v).mean for group in whole] for v in values]
            known = [[value for value in means if value is not None] for means in columns]
            cells = [number(mean(means) if len(means) == len(whole) else None) for means in known]
            steps = steps_of(run for group in whole for run in group.runs)
            size = f"{span(len(group.runs) for group in whole)} × {steps}"
            row = [Cell(f"Average, {len(whole)} tasks"), Cell(model), quiet(size), *cells]
            yield row + [EMPTY] * (width - len(row))
