"""All that was run, each task and model in a line, with the number that the paper has of it."""

from collections.abc import Iterable
from dataclasses import replace
from statistics import mean

from rnar.clrs.splits import is_official
from rnar.report import published as paper
from rnar.report.groups import Group, Groups
from rnar.report.page import DASH, EMPTY, Cell, Page, difference, mark_best, number, quiet
from rnar.report.rows import Row

HEAD = ["task", "model", "seeds ×\nsteps", "test\nn = 64", "paper\nn = 64", "test −\npaper", "valid.\nn = 16"]
COST = ["min.\na run", "GB"]
TEST, PAPER = 3, 4
ABOUT = [
    "Scores are micro-F1 in percent. Test: the official set, mean over seeds ± its standard error, which one seed does "
    "not have. Validation: of the tested network; of an unfinished run the last. Minutes: of training. GB: the most at "
    "once. Bold: the best of a task. A dash: not run, not finished, or not published."
]


def listing(groups: Groups) -> Page:
    """A line for each task, model and settings; unfinished runs have lines of their own."""
    page = Page("Results", HEAD + COST, left=2, about=ABOUT)
    for task in dict.fromkeys(task for task, _ in groups):
        rows = []
        for (_, model), some in ((key, some) for key, some in groups.items() if key[0] == task):
            for group in some:
                if group.score is not None:
                    rows.append(_finished(page, task, model, group))
                rows += [_unfinished(page, row, group) for row in group.unfinished]
        mark_best(rows, (TEST, PAPER))
        page.rows += rows
    page.rule()
    learned = [model for (task, model), some in groups.items() if task in paper.TASKS and some[0].score is not None]
    for model in dict.fromkeys(learned):
        if learned.count(model) > 1:  # of one task there is no average
            _averages(page, model, groups)
    return page


def _finished(page: Page, task: str, model: str, group: Group) -> list[Cell]:
    theirs, rows = paper.published(model, task), group.finished
    return [
        Cell(paper.TASKS.get(task, task)),
        Cell(model),
        group.size,
        Cell(f"{group.score:.2f}", group.spread, marks=_marks(page, group, rows)),
        _paper(page, model, task),
        difference(group.score, theirs.mean if theirs else None),
        number(_mean(row.validation for row in rows)),
        *_cost(rows),
    ]


def _unfinished(page: Page, row: Row, group: Group) -> list[Cell]:
    return [
        Cell(paper.TASKS.get(row.task, row.task)),
        Cell(row.model),
        quiet(f"{row.steps} of {row.planned}"),
        replace(DASH, marks=_marks(page, group, [row], f"seed {row.seed} is not finished")),
        _paper(page, row.model, row.task),
        DASH,
        number(_mean([row.last_validation])),
        *_cost([row]),
    ]


def _marks(page: Page, group: Group, rows: list[Row], more: str = "") -> str:
    drawn = "" if is_official(rows[0].task) else "no official set: tested on samples that are drawn as those are"
    return page.notes.marks(more, drawn, group.unusual, *dict.fromkeys(row.note for row in rows))


def _paper(page: Page, model: str, task: str) -> Cell:
    theirs = paper.published(model, task)
    return Cell(f"{theirs.mean:.2f}", theirs.spread, marks=page.notes.mark(theirs.note)) if theirs else DASH


def _cost(rows: list[Row]) -> list[Cell]:
    minutes = [row.minutes for row in rows if row.minutes is not None]
    memory = [row.memory_mb for row in rows if row.memory_mb is not None]
    return [
        Cell(f"{mean(minutes):.{0 if mean(minutes) >= 10 else 1}f}") if minutes else DASH,
        Cell(f"{max(memory) / 1000:.1f}") if memory else DASH,
    ]


def _mean(scores: Iterable[float | None]) -> float | None:
    known = [100 * score for score in scores if score is not None]
    return mean(known) if known else None


def _averages(page: Page, model: str, groups: Groups) -> None:
    """Over all 30 tasks, if all were run; made of the models of which the paper's average is made."""
    models = {task: paper.in_the_paper(model, task) for task in paper.TASKS}
    scores = {task: groups[task, behind][0].score for task, behind in models.items() if (task, behind) in groups}
    ours = {task: score for task, score in scores.items() if score is not None}
    theirs = {task: found.mean for task, behind in models.items() if (found := paper.published(behind, task))}
    mixed = [paper.TASKS[task] for task, behind in models.items() if behind != model]
    note = page.notes.mark(f"{paper.SUBSTITUTE} on {', '.join(mixed)}, as in the paper" if mixed else "")
    printed = paper.numbers().get((2, model, paper.AVERAGE))
    averages = {"Average, 30 tasks": paper.mean_of_tasks, "Average, 8 categories": paper.mean_of_categories}
    for title, average in averages.items():
        own = average(ours) if len(ours) == len(paper.TASKS) else None
        known = average(theirs) if len(theirs) == len(paper.TASKS) else None
        if printed and average is paper.mean_of_tasks:
            known = printed.mean
        done = quiet(f"{len(ours)} of {len(paper.TASKS)}")
        scores = [number(own), number(known), difference(own, known)]
        page.add(Cell(title), Cell(model, marks=note), done, *scores, *[EMPTY] * 3)
