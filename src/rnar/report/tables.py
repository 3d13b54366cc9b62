"""The tables of the paper with columns of our own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import zip_longest

from rnar.report.groups import Group, Groups
from rnar.report.page import DASH, EMPTY, Cell, Page, difference, number
from rnar.report.published import (
    AVERAGE,
    BASELINE,
    MAIN,
    MODELS,
    SUBSTITUTE,
    TASKS,
    TITLES,
    Number,
    category,
    in_the_paper,
    mean_of_categories,
    mean_of_tasks,
    models_of,
    numbers,
    tasks_of,
)

OTHERS = (BASELINE, "rt", "g-forgetnet")  # that RNAR is not made of
PLUS_MINUS = (
    "Scores are micro-F1 in percent on the official test set (n = 64). Ours: mean over seeds ± its standard error, "
    "which one seed does not have. The paper does not say what its ± are; those of Triplet-GMPNN are standard errors "
    "at their source."
)
MARKS = "Bold: the best of a row. Differences are in points. A dash: not run, or not published."


def paper_table(table: int, groups: Groups) -> Page:
    """One of the paper's four tables."""
    return _Table(table, groups).page()


class _Table:
    def __init__(self, table: int, groups: Groups):
        self.table, self.groups = table, groups
        self.tasks, self.theirs = tasks_of(table), models_of(table)
        self.ours = [model for model in self._candidates() if model == MAIN or self._was_run(model)]
        heads = [[f"{_title(model)}\nours", "ours −\npaper", "seeds ×\nsteps"] for model in self.ours]
        paper = [f"{_title(model)}\npaper" for model in self.theirs]
        title = f"{TITLES[table]}: Table {table} of the paper"  # other documents have numbers of their own
        self.result = Page(title, ["Algorithm", *paper, *sum(heads, [])], left=1)
        self.result.names = ["task", *(f"{_title(model)} paper" for model in self.theirs)]
        for name in map(_title, self.ours):
            self.result.names += [f"{name} ours", f"{name} ours less paper", f"{name} seeds × {name} steps"]
        self.result.spans = [1] * len(self.theirs) + [3] * len(self.ours)

    def _candidates(self) -> list[str]:
        """The models of the table, and all that the paper does not know."""
        return self.theirs + sorted({model for _, model in self.groups if model not in MODELS})

    def _was_run(self, model: str) -> bool:
        return any(self._group(task, model) for task in self.tasks)

    def _group(self, task: str, model: str) -> Group | None:
        """What counts for a cell, if anything has a score: runs of the model that stands behind the paper's cell."""
        groups = self.groups.get((task, in_the_paper(model, task, self.table)), [])
        return groups[0] if groups and groups[0].score is not None else None

    def page(self) -> Page:
        for task in self.tasks:
            self._row(task)
            self._other_settings(task)
            self._with_triplets(task)
        self.result.rule()
        self._average(f"Average, {len(self.tasks)} tasks", mean_of_tasks, printed=True)
        self._average_with_triplets()
        categories = len({category(task) for task in self.tasks})
        self._average(f"Average, {categories} categories", mean_of_categories)
        self._average_of_some()
        self.result.about = [PLUS_MINUS, MARKS, *self._about_underlining(), *self._about_runs()]
        return self.result

    def _row(self, task: str) -> None:
        published = {model: numbers()[self.table, model, task] for model in self.theirs}
        bar = published[BASELINE].mean if BASELINE in published else None
        cells = [self._theirs(number, self._beats(model, number.mean, bar)) for model, number in published.items()]
        own_baseline = self._group(task, BASELINE)
        if bar is not None and own_baseline:
            bar = own_baseline.score
        for model in self.ours:
            theirs = published[model].mean if model in published else None
            cells += self._ours(model, self._group(task, model), theirs, bar)
        self._add(TASKS[task], cells)

    def _add(self, title: str, cells: list[Cell]) -> None:
        """A row with its best score marked: of the paper's columns, and of the first in each three of ours."""
        count = len(self.theirs)
        self.result.add(Cell(title), *_best(cells, [*range(count), *range(count, len(cells), 3)]))

    def _theirs(self, number: Number, beats: bool = False) -> Cell:
        return Cell(f"{number.mean:.2f}", number.spread, beats=beats, marks=self.result.notes.mark(number.note))

    def _ours(self, model: str, group: Group | None, theirs: float | None, bar: float | None) -> list[Cell]:
        if group is None or group.score is None:
            return [DASH, DASH, DASH]
        cell = Cell(
            f"{group.score:.2f}",
            "" if group.error is None else f"{group.error:.2f}",
            beats=self._beats(model, group.score, bar),
            marks=self.result.notes.mark(group.unusual),
        )
        return [cell, difference(group.score, theirs), Cell(f"{len(group.finished)} × {group.planned}", tone="quiet")]

    def _beats(self, model: str, score: float, bar: float | None) -> bool:
        return model not in OTHERS and bar is not None and round(score, 2) > round(bar, 2)

    def _other_settings(self, task: str) -> None:
        """Runs whose settings are not those of the row get lines of their own, which say what is different."""
        others = {}
        for model in self.ours:
            behind = in_the_paper(model, task, self.table)
            main, some = self._group(task, model), self.groups.get((task, behind), [])[1:]
            published = numbers().get((self.table, model, task))
            theirs = published.mean if published else None
            others[model] = [self._ours(model, each, theirs, None) for each in some if each.score is not None and main]
        for cells in zip_longest(*others.values(), fillvalue=[EMPTY] * 3):
            self.result.add(Cell("· other settings", tone="quiet"), *[EMPTY] * len(self.theirs), *sum(cells, []))

    def _with_triplets(self, task: str) -> None:
        """Where the paper's RNAR has no triplets, a line for ours that has."""
        if in_the_paper(MAIN, task, self.table) == MAIN:
            return
        for group in self.groups.get((task, MAIN), []):
            if group.score is not None:
                self._only_main(f"· {_title(MAIN)} with triplets", self._ours(MAIN, group, None, None))

    def _average_with_triplets(self) -> None:
        """That of RNAR with triplets everywhere, which the paper has not."""
        groups = {task: self.groups.get((task, MAIN), []) for task in self.tasks}
        scores = {task: some[0].score for task, some in groups.items() if some and some[0].score is not None}
        if self._mixture(MAIN) and len(scores) == len(self.tasks):
            done = Cell(f"{len(scores)} of {len(scores)}", tone="quiet")
            self._only_main("· with triplets in all", [number(mean_of_tasks(scores)), DASH, done])

    def _only_main(self, title: str, ours: list[Cell]) -> None:
        """A line that has nothing but a result of RNAR."""
        cells = sum(([*ours] if model == MAIN else [EMPTY] * 3 for model in self.ours), [])
        self.result.add(Cell(title, tone="quiet"), *[EMPTY] * len(self.theirs), *cells)

    def _average(self, title: str, mean: Callable[[dict[str, float]], float], printed: bool = False) -> None:
        """Of all tasks: what the paper prints of it, or else what its cells give; ours if all tasks were run.

        Where cells of a column are of two models, a note says so.
        """
        theirs = {model: self._published_average(model, mean, printed) for model in self.theirs}
        cells = list(theirs.values())
        for model in self.ours:
            scores = self._our_scores(model)
            done = Cell(f"{len(scores)} of {len(self.tasks)}", tone="quiet")
            if len(scores) < len(self.tasks):
                cells += [DASH, DASH, done]
            else:
                ours = mean(scores)
                cell = replace(number(ours), marks=self.result.notes.mark(self._mixture(model)))
                cells += [cell, difference(ours, float(theirs[model].text) if model in theirs else None), done]
        self._add(title, cells)

    def _published_average(self, model: str, mean: Callable[[dict[str, float]], float], printed: bool) -> Cell:
        found = numbers().get((self.table, model, AVERAGE)) if printed else None
        cell = self._theirs(found) if found else number(mean(self._published_scores(model, self.tasks)))
        note = found.note if found else ""
        return replace(cell, marks=self.result.notes.marks(note, self._mixture(model)))

    def _mixture(self, model: str) -> str:
        """Of what an average is made, in words, if it is of two models."""
        others = [task for task in self.tasks if in_the_paper(model, task, self.table) != model]
        return f"{_title(SUBSTITUTE)} on {', '.join(TASKS[task] for task in others)}" if others else ""

    def _published_scores(self, model: str, tasks: list[str]) -> dict[str, float]:
        return {task: numbers()[self.table, model, task].mean for task in tasks}

    def _our_scores(self, model: str) -> dict[str, float]:
        found = {task: self._group(task, model) for task in self.tasks}
        return {task: group.score for task, group in found.items() if group and group.score is not None}

    def _average_of_some(self) -> None:
        """Where not all tasks were run: the mean over those that RNAR learned, of the paper's numbers too."""
        ours = {model: self._our_scores(model) for model in self.ours}
        tasks = list(ours[MAIN] or max(ours.values(), key=len))
        if not 1 < len(tasks) < len(self.tasks):
            return
        theirs = {model: mean_of_tasks(self._published_scores(model, tasks)) for model in self.theirs}
        cells = [number(score) for score in theirs.values()]
        for model in self.ours:
            scores = {task: ours[model][task] for task in tasks if task in ours[model]}
            score = mean_of_tasks(scores) if len(scores) == len(tasks) else None
            done = Cell(f"{len(scores)} of {len(tasks)}", tone="quiet")
            cells += [number(score), difference(score, theirs.get(model)), done]
        self._add(f"Average, {len(tasks)} run here", cells)

    def _about_underlining(self) -> list[str]:
        if BASELINE not in self.theirs:
            return []
        return ["Underlined: better than its baseline Triplet-GMPNN; ours than our own where it was run."]

    def _about_runs(self) -> list[str]:
        """What is there and not in the table."""
        said, unfinished = [], 0
        for (task, model), groups in self.groups.items():
            if task in self.tasks and model in self.ours:
                unfinished += sum(len(group.unfinished) for group in groups)
        others = dict.fromkeys(model for _, model in self.groups if model not in self._candidates())
        elsewhere = dict.fromkeys(task for task, _ in self.groups if task not in TASKS)
        if elsewhere:
            said.append(f"Runs of {', '.join(elsewhere)} are in no table of the paper; `rnar report` lists them.")
        if unfinished:
            said.append(f"{unfinished} run{'s are' if unfinished > 1 else ' is'} not finished and not counted.")
        if others:
            said.append(f"Runs of {', '.join(others)} are in other tables.")
        return said


def _title(model: str) -> str:
    return MODELS.get(model, model)


def _best(cells: list[Cell], scores: list[int]) -> list[Cell]:
    """The same with the highest score marked; those that are printed alike are alike."""
    values = {k: float(cells[k].text) for k in scores if cells[k] not in (DASH, EMPTY)}
    return [replace(cell, best=k in values and values[k] == max(values.values())) for k, cell in enumerate(cells)]
