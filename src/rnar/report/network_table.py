"""Which network of a run is tested: the one that validation selected, the last one, the average of the weights."""

from dataclasses import replace
from statistics import mean

from rnar.report import published as paper
from rnar.report.groups import Group, Groups, standard_error
from rnar.report.page import EMPTY, MINUS, Cell, Page, mark_best, number
from rnar.report.rows import TESTED, Row

COLUMNS = {"selected": TESTED["best"], "last": TESTED["last"], "average": TESTED["average"]}
"""of the table, and of a row"""
FIRST = 3
ABOUT = [
    "Scores at n = 64, micro-F1 in percent: mean over seeds ± its standard error, which one seed does not have. "
    "Selected: the network that validation at n = 16 chose. Last: the one after all steps. Average: of the weights "
    "along the training, where runs kept it. Bold: the best of a task and a column."
]


def network_table(groups: Groups) -> Page:
    """A line for each task and model that has finished runs, and below it the mean of each that has all tasks."""
    page = Page("Which network of a run", ["task", "model", "seeds ×\nsteps", *COLUMNS], left=2, about=[*ABOUT])
    found: dict[tuple[str, str], Group] = {}
    for task in dict.fromkeys(task for task, _ in groups):
        lines = []
        for (of, model), some in groups.items():
            finished = [group for group in some if group.finished] if of == task else []
            found |= {(task, model): finished[0]} if finished else {}
            lines += [_line(page, group) for group in finished]
        _mark(lines)
        page.rows += lines
    page.rule()
    tasks, models = dict.fromkeys(task for task, _ in found), dict.fromkeys(model for _, model in found)
    whole = {
        model: [found[task, model] for task in tasks] for model in models if all((t, model) in found for t in tasks)
    }
    means = [_mean(model, some) for model, some in whole.items()] if len(tasks) > 1 else []
    _mark(means)
    page.rows += means
    page.about += _compared([row for some in groups.values() for group in some for row in group.finished])
    return page


def _line(page: Page, group: Group) -> list[Cell]:
    rows = group.finished
    first = Cell(paper.title(rows[0].task)), Cell(rows[0].model), group.size
    return [*first, *(tested(page, rows, name, group.unusual if name == "selected" else "") for name in COLUMNS)]


def tested(page: Page, rows: list[Row], name: str, unusual: str = "") -> Cell:
    """The score of one network of each of these runs, with a note if not all have it."""
    scores = _scores(rows, COLUMNS[name])
    lacking = f"{name}: of {len(scores)} of {len(rows)} seeds" if 0 < len(scores) < len(rows) else ""
    value = number(mean(scores) if scores else None)
    return replace(value, spread=standard_error(scores), marks=page.notes.marks(unusual, lacking))


def _mean(model: str, groups: list[Group]) -> list[Cell]:
    """Over all tasks, of those columns that all of them have."""
    cells = []
    for column in COLUMNS.values():
        each = [_scores(group.finished, column) for group in groups]
        cells.append(number(mean(map(mean, each)) if all(each) else None))
    return [Cell(f"Average, {len(groups)} tasks"), Cell(model), EMPTY, *cells]


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


def _scores(rows: list[Row], column: str) -> list[float]:
    """In percent."""
    return [100 * score for row in rows if (score := getattr(row, column)) is not None]


def _mark(rows: list[list[Cell]]) -> None:
    """The best of each column by itself."""
    for place in range(FIRST, FIRST + len(COLUMNS)):
        mark_best(rows, (place,))
