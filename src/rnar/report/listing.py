"""All that was run, each task and model in a line, with the number that the paper has of it."""

from dataclasses import replace
from statistics import mean

from rnar.clrs.splits import is_official
from rnar.report import published as paper
from rnar.report.groups import Group, Groups, scored, scores
from rnar.report.network_table import tested
from rnar.report.page import DASH, EMPTY, Cell, Page, difference, mark_best, number, quiet
from rnar.report.rows import Row

SCORES = ["test\nn = 64", "average\nn = 64", "paper\nn = 64", "test −\npaper", "valid.\nn = 16"]
HEAD = ["task", "model", "seeds ×\nsteps", *SCORES, "min.\na run", "GB"]
TEST, AVERAGE, PAPER = 3, 4, 5
ABOUT = (
    "Scores are micro-F1 in percent. Test: of the network that validation selected, on the official set, mean over "
    "seeds ± its standard error, which one seed does not have. Validation: of the tested network; of an unfinished run "
    "the last. Minutes: of training. GB: the most at once. Bold: the best of a task. A dash: not run, not finished, or "
    "not published."
)
ABOUT_AVERAGES = "Average: of the weights along the training, tested on the same samples, where a run kept it."


def listing(groups: Groups) -> Page:
    """A line for each task, model and settings; unfinished runs have lines of their own."""
    page = Page("Results", [*HEAD], left=2, about=[ABOUT, ABOUT_AVERAGES])
    for task in dict.fromkeys(task for task, _ in groups):
        rows = []
        for group in (group for key, some in groups.items() if key[0] == task for group in some):
            if group.finished:
                rows.append(_line(page, group, group.finished))
            rows += [_line(page, group, [row], f"seed {row.seed} is not finished") for row in group.unfinished]
        mark_best(rows, (TEST, AVERAGE, PAPER))
        page.rows += rows
    page.rule()
    learned = [model for task, model in groups if task in paper.TASKS and scored(groups, task, model)]
    for model in dict.fromkeys(learned):
        if learned.count(model) > 1:  # of one task there is no average
            _averages(page, model, groups)
    if all(row.test_average is None for some in groups.values() for group in some for row in group.rows):
        page.drop(AVERAGE)
        page.about.remove(ABOUT_AVERAGES)
    return page


def _line(page: Page, group: Group, rows: list[Row], unfinished: str = "") -> list[Cell]:
    """The runs of a group that are finished, or one that is not."""
    task, model = rows[0].task, rows[0].model
    score = None if unfinished else group.score
    drawn = "" if is_official(task) else "no official set: tested on samples that are drawn as those are"
    marks = page.notes.marks(unfinished, drawn, group.unusual, *dict.fromkeys(row.note for row in rows))
    theirs = paper.published(model, task)
    validations = [row.last_validation if unfinished else row.validation for row in rows]
    validation = [100 * each for each in validations if each is not None]
    minutes = [row.minutes for row in rows if row.minutes is not None]
    memory = [row.memory_mb for row in rows if row.memory_mb is not None]
    return [
        Cell(paper.title(task)),
        Cell(model),
        quiet(f"{rows[0].steps} of {rows[0].planned}") if unfinished else group.size,
        replace(number(score), spread="" if unfinished else group.spread, marks=marks),
        DASH if unfinished else tested(page, rows, "average"),
        Cell(f"{theirs.mean:.2f}", theirs.spread, marks=page.notes.marks(theirs.note)) if theirs else DASH,
        difference(score, theirs.mean if theirs else None),
        number(mean(validation) if validation else None),
        Cell(f"{mean(minutes):.{0 if mean(minutes) >= 10 else 1}f}") if minutes else DASH,
        Cell(f"{max(memory) / 1000:.1f}") if memory else DASH,
    ]


def _averages(page: Page, model: str, groups: Groups) -> None:
    """Over all 30 tasks, if all were run; made of the models of which the paper's average is made."""
    models = {task: paper.in_the_paper(model, task) for task in paper.TASKS}
    ours = scores(groups, models)
    theirs = {task: found.mean for task, behind in models.items() if (found := paper.published(behind, task))}
    mixed = paper.substitutions(model, paper.TASKS)
    note = page.notes.marks(f"{paper.SUBSTITUTE} on {mixed}, as in the paper" if mixed else "")
    printed = paper.numbers().get((2, model, paper.AVERAGE))
    averages = {"Average, 30 tasks": paper.mean_of_tasks, "Average, 8 categories": paper.mean_of_categories}
    for title, average in averages.items():
        own = average(ours) if len(ours) == len(paper.TASKS) else None
        known = average(theirs) if len(theirs) == len(paper.TASKS) else None
        if printed and average is paper.mean_of_tasks:
            known = printed.mean
        done = quiet(f"{len(ours)} of {len(paper.TASKS)}")
        found = number(own), EMPTY, number(known), difference(own, known)
        page.add(Cell(title), Cell(model, marks=note), done, *found, *[EMPTY] * 3)
