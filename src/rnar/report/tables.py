"""The tables of the paper with columns of our own."""

from collections.abc import Callable
from dataclasses import replace
from itertools import zip_longest

from rnar.report import published as paper
from rnar.report.groups import Group, Groups
from rnar.report.page import DASH, EMPTY, Cell, Page, difference, mark_best, number, quiet

OTHERS = (paper.BASELINE, "rt", "g-forgetnet")  # models that are no variants of RNAR
PLUS_MINUS = (
    "Scores are micro-F1 in percent on the official test set (n = 64). Ours: mean over seeds ± its standard error, "
    "which one seed does not have. The paper does not say what its ± are; those of Triplet-GMPNN are standard errors "
    "at their source."
)
MARKS = "Bold: the best of a row. Differences are in points. A dash: not run, or not published."
UNDERLINED = "Underlined: better than its baseline Triplet-GMPNN; ours than our own where it was run."
Mean = Callable[[dict[str, float]], float]


def paper_table(table: int, groups: Groups) -> Page:
    """One of the paper's four tables."""
    return _Table(table, groups).page()


class _Table:
    def __init__(self, table: int, groups: Groups):
        self.table, self.groups = table, groups
        self.tasks, self.theirs = paper.tasks_of(table), paper.models_of(table)
        self.ours = [model for model in self._candidates() if model == paper.MAIN or self._our_scores(model)]
        heads = [[f"{_title(model)}\nours", "ours −\npaper", "seeds ×\nsteps"] for model in self.ours]
        columns = [f"{_title(model)}\npaper" for model in self.theirs]
        title = f"{paper.TITLES[table]}: Table {table} of the paper"  # other documents have numbers of their own
        self.result = Page(title, ["Algorithm", *columns, *sum(heads, [])], left=1)
        self.result.names = ["task", *(f"{_title(model)} paper" for model in self.theirs)]
        for name in map(_title, self.ours):
            self.result.names += [f"{name} ours", f"{name} ours less paper", f"{name} seeds × {name} steps"]
        self.result.spans = [1] * len(self.theirs) + [3] * len(self.ours)

    def _candidates(self) -> list[str]:
        """The models of the table, and all that the paper does not know."""
        return self.theirs + sorted({model for _, model in self.groups if model not in paper.MODELS})

    def _group(self, task: str, model: str) -> Group | None:
        """The runs of a cell, if they have a score: those of the model whose number the paper prints there."""
        groups = self.groups.get((task, paper.in_the_paper(model, task, self.table)), [])
        return groups[0] if groups and groups[0].score is not None else None

    def page(self) -> Page:
        for task in self.tasks:
            self._row(task)
            self._other_settings(task)
            self._with_triplets(task)
        self.result.rule()
        self._average(f"Average, {len(self.tasks)} tasks", self.tasks, paper.mean_of_tasks, printed=True)
        self._average_with_triplets()
        categories = len({paper.category(task) for task in self.tasks})
        self._average(f"Average, {categories} categories", self.tasks, paper.mean_of_categories)
        run = list(self._our_scores(paper.MAIN) or max(map(self._our_scores, self.ours), key=len))
        if 1 < len(run) < len(self.tasks):  # the mean over those that RNAR learned
            self._average(f"Average, {len(run)} run here", run, paper.mean_of_tasks)
        self.result.about = [PLUS_MINUS, MARKS, *[UNDERLINED] * (paper.BASELINE in self.theirs), *self._about_runs()]
        return self.result

    def _row(self, task: str) -> None:
        published = {model: paper.numbers()[self.table, model, task] for model in self.theirs}
        bar = published[paper.BASELINE].mean if paper.BASELINE in published else None
        cells = [self._theirs(number, self._beats(model, number.mean, bar)) for model, number in published.items()]
        own_baseline = self._group(task, paper.BASELINE)
        if bar is not None and own_baseline:
            bar = own_baseline.score
        for model in self.ours:
            theirs = published[model].mean if model in published else None
            cells += self._ours(model, self._group(task, model), theirs, bar)
        self._add(paper.TASKS[task], cells)

    def _add(self, title: str, cells: list[Cell]) -> None:
        """A row with its best score marked: of the paper's columns, and of the first in each three of ours."""
        count = len(self.theirs)
        mark_best([cells], [*range(count), *range(count, len(cells), 3)])
        self.result.add(Cell(title), *cells)

    def _theirs(self, number: paper.Number, beats: bool = False) -> Cell:
        return Cell(f"{number.mean:.2f}", number.spread, beats=beats, marks=self.result.notes.mark(number.note))

    def _ours(self, model: str, group: Group | None, theirs: float | None, bar: float | None) -> list[Cell]:
        if group is None or group.score is None:
            return [DASH, DASH, DASH]
        marks = self.result.notes.mark(group.unusual)
        cell = Cell(f"{group.score:.2f}", group.spread, beats=self._beats(model, group.score, bar), marks=marks)
        return [cell, difference(group.score, theirs), group.size]

    def _beats(self, model: str, score: float, bar: float | None) -> bool:
        return model not in OTHERS and bar is not None and round(score, 2) > round(bar, 2)

    def _other_settings(self, task: str) -> None:
        """Runs whose settings are not those of the row get lines of their own, which say what is different."""
        others = {}
        for model in self.ours:
            behind = paper.in_the_paper(model, task, self.table)
            main, some = self._group(task, model), self.groups.get((task, behind), [])[1:]
            published = paper.numbers().get((self.table, model, task))
            theirs = published.mean if published else None
            others[model] = [self._ours(model, each, theirs, None) for each in some if each.score is not None and main]
        for cells in zip_longest(*others.values(), fillvalue=[EMPTY] * 3):
            self.result.add(quiet("· other settings"), *[EMPTY] * len(self.theirs), *sum(cells, []))

    def _with_triplets(self, task: str) -> None:
        """Where the paper's RNAR has no triplets, a line for ours that has."""
        if paper.in_the_paper(paper.MAIN, task, self.table) == paper.MAIN:
            return
        for group in self.groups.get((task, paper.MAIN), []):
            if group.score is not None:
                self._only_main(f"· {_title(paper.MAIN)} with triplets", self._ours(paper.MAIN, group, None, None))

    def _average_with_triplets(self) -> None:
        """The average of RNAR with triplets in all tasks, which the paper does not have."""
        groups = [(task, self.groups.get((task, paper.MAIN), [])) for task in self.tasks]
        scores = {task: some[0].score for task, some in groups if some and some[0].score is not None}
        if self._mixture(paper.MAIN) and len(scores) == len(self.tasks):
            ours = [number(paper.mean_of_tasks(scores)), DASH, quiet(f"{len(scores)} of {len(scores)}")]
            self._only_main("· with triplets in all", ours)

    def _only_main(self, title: str, ours: list[Cell]) -> None:
        """A line that has nothing but a result of RNAR."""
        cells = sum(([*ours] if model == paper.MAIN else [EMPTY] * 3 for model in self.ours), [])
        self.result.add(quiet(title), *[EMPTY] * len(self.theirs), *cells)

    def _average(self, title: str, tasks: list[str], mean: Mean, printed: bool = False) -> None:
        """Of these tasks: what the paper prints, or else what its cells give; ours if all these tasks were run.

        Where an average of all tasks is of two models, a note says so.
        """
        mixtures = {model: self._mixture(model) * (len(tasks) == len(self.tasks)) for model in self.ours + self.theirs}
        theirs = {model: self._published_average(model, tasks, mean, printed, mixtures[model]) for model in self.theirs}
        cells = list(theirs.values())
        for model in self.ours:
            scores = {task: score for task, score in self._our_scores(model).items() if task in tasks}
            score = mean(scores) if len(scores) == len(tasks) else None
            cell = DASH if score is None else replace(number(score), marks=self.result.notes.mark(mixtures[model]))
            published = float(theirs[model].text) if model in theirs else None
            cells += [cell, difference(score, published), quiet(f"{len(scores)} of {len(tasks)}")]
        self._add(title, cells)

    def _published_average(self, model: str, tasks: list[str], mean: Mean, printed: bool, mixture: str) -> Cell:
        found = paper.numbers().get((self.table, model, paper.AVERAGE)) if printed else None
        if found:
            return replace(self._theirs(found), marks=self.result.notes.marks(found.note, mixture))
        score = mean({task: paper.numbers()[self.table, model, task].mean for task in tasks})
        return replace(number(score), marks=self.result.notes.mark(mixture))

    def _mixture(self, model: str) -> str:
        """Of what an average is made, in words, if it is of two models."""
        others = [task for task in self.tasks if paper.in_the_paper(model, task, self.table) != model]
        return f"{_title(paper.SUBSTITUTE)} on {', '.join(paper.TASKS[task] for task in others)}" if others else ""

    def _our_scores(self, model: str) -> dict[str, float]:
        found = {task: self._group(task, model) for task in self.tasks}
        return {task: group.score for task, group in found.items() if group and group.score is not None}

    def _about_runs(self) -> list[str]:
        """Which runs are not in the table, in sentences."""
        said, unfinished = [], 0
        for (task, model), groups in self.groups.items():
            if task in self.tasks and model in self.ours:
                unfinished += sum(len(group.unfinished) for group in groups)
        others = dict.fromkeys(model for _, model in self.groups if model not in self._candidates())
        elsewhere = dict.fromkeys(task for task, _ in self.groups if task not in paper.TASKS)
        if elsewhere:
            said.append(f"Runs of {', '.join(elsewhere)} are in no table of the paper; `rnar report` lists them.")
        if unfinished:
            said.append(f"{unfinished} run{'s are' if unfinished > 1 else ' is'} not finished and not counted.")
        if others:
            said.append(f"Runs of {', '.join(others)} are in other tables.")
        return said


def _title(model: str) -> str:
    return paper.MODELS.get(model, model)
