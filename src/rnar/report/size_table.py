"""Networks at several sizes, each task and model in a line, beside what they cost."""

from collections.abc import Sequence
from dataclasses import replace
from statistics import mean

from rnar.report import published as paper
from rnar.report.page import DASH, EMPTY, Cell, Page, mark_best, number, quiet
from rnar.report.rows import Row
from rnar.report.scored import Scored
from rnar.report.trial_lines import Line, lines
from rnar.report.trials import counted, unusual

ABOUT = (
    "Scores are micro-F1 in percent, on {samples} samples. ± is half of the 95% interval over samples; of "
    "several seeds, the standard error of their mean."
)
COSTS = "Seconds: of a training step, validation included. GB: the most at once."
BEST = "Bold: the best of a task and a size."


def size_table(scores: Sequence[Scored], rows: Sequence[Row]) -> Page:
    """What was tried, and below it the mean of each model that has all tasks; `rows`, if any, tell what runs cost."""
    sizes = sorted({each.n for each in scores})
    head = ["task", "model", "seeds ×\nsteps", *(f"n = {n}" for n in sizes), *(["s a\nstep", "GB"] if rows else [])]
    page = Page("Score against size", head, left=2)
    page.about += [ABOUT.format(samples=counted(scores)), *([COSTS] if rows else []), BEST]
    page.about += unusual(each.trial for each in scores)
    places = range(3, 3 + len(sizes))
    found = lines(scores, together=True)
    ways = {line.way for some in found.values() for line in some}
    name = lambda line: ", ".join(filter(None, [line.model, line.way])) if len(ways) > 1 else line.model  # noqa: E731
    for task, some in found.items():
        below = [[Cell(paper.title(task)), Cell(name(line)), *_line(line, sizes, rows)] for line in some]
        _mark(below, places)
        page.rows += below
    page.rule()
    means = [
        _mean(model, found, sizes, len(head))
        for model in dict.fromkeys(line.model for some in found.values() for line in some)
    ]
    _mark(means := [line for line in means if line], places)
    page.rows += means if len(found) > 1 else []  # of one task there is no mean
    return page


def _line(line: Line, sizes: list[int], rows: Sequence[Row]) -> list[Cell]:
    runs = {each.run for each in line.scores}
    of = sorted((row for row in rows if str(row.path) in runs), key=lambda row: row.steps)
    known = {row.path: row for row in of}.values()  # a run that was taken further has a row for each end it had
    seconds = [60 * row.minutes / row.steps for row in known if row.minutes is not None and row.steps]
    memory = [row.memory_mb for row in known if row.memory_mb is not None]
    costs = [
        Cell(f"{mean(seconds):.2f}") if seconds else DASH,
        Cell(f"{max(memory) / 1000:.1f}") if memory else DASH,
    ]
    return [
        quiet(f"{len(line.seeds)} × {of[-1].steps if of else max(each.step for each in line.scores)}"),
        *(_score(line.at(n)) for n in sizes),
        *(costs if rows else []),
    ]


def _score(line: Line) -> Cell:
    if not line.scores:
        return DASH
    score, below, above = line.score()
    return replace(number(100 * score), spread=f"{50 * (below + above):.2f}")


def _mean(model: str, found: dict[str, list[Line]], sizes: list[int], width: int) -> list[Cell]:
    """Over all tasks, of the first line of each; nothing if there is a task that the model has not learned."""
    each = [next((line for line in some if line.model == model), None) for some in found.values()]
    whole = [line for line in each if line is not None]
    if len(whole) < len(each) or any(not line.at(n).scores for line in whole for n in sizes):
        return []
    scores = [number(100 * mean(line.at(n).score()[0] for line in whole)) for n in sizes]
    cells = [Cell(f"Average, {len(each)} tasks"), Cell(model), EMPTY, *scores]
    return cells + [EMPTY] * (width - len(cells))


def _mark(rows: list[list[Cell]], places: range) -> None:
    """The best of each size by itself."""
    for place in places:
        mark_best(rows, (place,))
