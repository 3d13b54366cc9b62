"""The tables of the paper with columns of our own."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import zip_longest

from rnar.report import published as paper
from rnar.report.page import DASH, EMPTY, Cell, Page, difference, mark_best, number, quiet
from rnar.report.runs import Row
from rnar.report.scores import Group, Groups, mixed_steps, shown
from rnar.training.run import NETWORKS, Which

OTHERS = (paper.BASELINE, "rt", "g-forgetnet")  # models that are no variants of RNAR
PLUS_MINUS = (
    "Scores are micro-F1 in percent on the official test set (n = 64). Ours: mean over seeds ± their standard "
    "deviation, which one seed does not have. The paper does not say what its ± are; those of Triplet-GMPNN are "
    "standard errors at their source."
)
MARKS = "Bold: the best of a row. Differences are in points. A dash: not run, or not published."
UNDERLINED = "Underlined: better than its baseline Triplet-GMPNN; ours than our own where it was run."
Mean = Callable[[dict[str, float]], float]


def paper_table(table: int, rows: Iterable[Row], network: Which = "best") -> Page:
    """One of the paper's four tables, with the scores of this network of each run that has it."""
    return _Table(table, *shown(rows), network).page()


class _Table:
    """A column for each model of the paper's table, and three for each of ours: score, difference, seeds and steps."""

    def __init__(self, table: int, groups: Groups, hidden: list[str], network: Which):
        self.table, self.groups, self.hidden = table, groups, hidden
        tested = {key: [group.tested(network) for group in some] for key, some in groups.items()}
        self.tests = {key: have for key, some in tested.items() if (have := [group for group in some if group.scores])}
        """the scores of this network"""
        if network != "best" and not self.tests:
            hint = "; train with --average for one" if network == "average" else ""
            raise ValueError(f"no finished run here has a test of {NETWORKS[network]}{hint}")
        self.tasks, self.theirs = paper.tasks_of(table), paper.models_of(table)
        unknown = sorted({model for _, model in groups if model not in paper.MODELS})
        self.candidates = self.theirs + unknown
        self.ours = [model for model in self.candidates if model == paper.MAIN or self._our_scores(model)]
        title = f"{paper.TITLES[table]}: Table {table} of the paper"  # other documents have numbers of their own
        title += "" if network == "best" else f"; ours is {NETWORKS[network]}"
        self.result = Page(title, ["Algorithm"], left=1, names=["task"])
        for name in map(paper.title, self.theirs):
            self.result.head.append(f"{name}\npaper")
            self.result.names.append(f"{name} paper")
        for name in map(paper.title, self.ours):
            self.result.head += [f"{name}\nours", "ours −\npaper", "seeds ×\nsteps"]
            self.result.names += [f"{name} ours", f"{name} ours less paper", f"{name} seeds × {name} steps"]
        self.result.spans = [1] * len(self.theirs) + [3] * len(self.ours)

    def page(self) -> Page:
        for task in self.tasks:
            self._row(task)
            self._besides(task)
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

    def _our_groups(self, model: str) -> dict[str, Group]:
        """By task, the runs of a model's cell: those of the model whose number the paper prints there."""
        cells = {task: self._behind(task, model) for task in self.tasks}
        return {task: groups[0] for task, groups in cells.items() if groups}

    def _our_scores(self, model: str) -> dict[str, float]:
        return _means(self._our_groups(model))

    def _behind(self, task: str, model: str) -> list[Group]:
        return self.tests.get((task, paper.in_the_paper(model, task, self.table)), [])

    def _published(self, model: str, task: str) -> float | None:
        known = paper.numbers().get((self.table, model, task))
        return known.mean if known else None

    def _row(self, task: str) -> None:
        bar = self._published(paper.BASELINE, task)
        cells = []
        for model in self.theirs:
            printed = paper.numbers()[self.table, model, task]
            marks, beats = self.result.notes.marks(printed.note), self._beats(model, printed.mean, bar)
            cells.append(Cell(f"{printed.mean:.2f}", printed.spread, beats=beats, marks=marks))
        if bar is not None and (own_baseline := self._behind(task, paper.BASELINE)):
            bar = own_baseline[0].mean
        for model in self.ours:
            group = next(iter(self._behind(task, model)), None)
            cells += self._ours(model, group, self._published(model, task), bar) if group else [DASH] * 3
        self._add(paper.title(task), cells)

    def _add(self, title: str, cells: list[Cell]) -> None:
        """A row with its best score marked: of the paper's columns, and of the first in each three of ours."""
        count = len(self.theirs)
        mark_best([cells], [*range(count), *range(count, len(cells), 3)])
        self.result.add(Cell(title), *cells)

    def _ours(self, model: str, group: Group, theirs: float | None, bar: float | None = None) -> list[Cell]:
        cell = number(group.mean, group.spread, self.result.notes.marks(group.unusual))
        return [replace(cell, beats=self._beats(model, group.mean, bar)), difference(group.mean, theirs), group.size]

    def _beats(self, model: str, score: float | None, bar: float | None) -> bool:
        if model in OTHERS or score is None or bar is None:
            return False
        return round(score, 2) > round(bar, 2)

    def _besides(self, task: str) -> None:
        """Runs whose settings are not those of the row get lines of their own, which say what is different.

        Where the paper's RNAR has no triplets, ours that has them gets some too.
        """
        others = [
            [self._ours(model, group, self._published(model, task)) for group in self._behind(task, model)[1:]]
            for model in self.ours
        ]
        for cells in zip_longest(*others, fillvalue=[EMPTY] * 3):
            self.result.add(quiet("· other settings"), *[EMPTY] * len(self.theirs), *sum(cells, []))
        if paper.in_the_paper(paper.MAIN, task, self.table) != paper.MAIN:
            for group in self.tests.get((task, paper.MAIN), []):
                self._only_main(f"· {paper.title(paper.MAIN)} with triplets", self._ours(paper.MAIN, group, None))

    def _average_with_triplets(self) -> None:
        """The average of RNAR with triplets in all tasks, which the paper does not have."""
        groups = {task: some[0] for task in self.tasks if (some := self.tests.get((task, paper.MAIN)))}
        if paper.substitutions(paper.MAIN, self.tasks, self.table) and len(groups) == len(self.tasks):
            marks = self.result.notes.marks(mixed_steps(groups))
            done = quiet(f"{len(groups)} of {len(groups)}")
            ours = [number(paper.mean_of_tasks(_means(groups)), marks=marks), DASH, done]
            self._only_main("· with triplets in all", ours)

    def _only_main(self, title: str, ours: list[Cell]) -> None:
        """A line that has nothing but a result of RNAR."""
        cells = sum((ours if model == paper.MAIN else [EMPTY] * 3 for model in self.ours), [])
        self.result.add(quiet(title), *[EMPTY] * len(self.theirs), *cells)

    def _average(self, title: str, tasks: list[str], mean: Mean, printed: bool = False) -> None:
        """Of these tasks: what the paper prints, or else what its cells give; ours if all these tasks were run."""
        theirs = {model: self._published_average(model, tasks, mean, printed) for model in self.theirs}
        cells = list(theirs.values())
        for model in self.ours:
            groups = {task: group for task, group in self._our_groups(model).items() if task in tasks}
            score = mean(_means(groups)) if len(groups) == len(tasks) else None
            cell = DASH if score is None else number(score, marks=self._mixture(model, tasks, mixed_steps(groups)))
            published = float(theirs[model].text) if model in theirs else None
            cells += [cell, difference(score, published), quiet(f"{len(groups)} of {len(tasks)}")]
        self._add(title, cells)

    def _published_average(self, model: str, tasks: list[str], mean: Mean, printed: bool) -> Cell:
        known = paper.numbers().get((self.table, model, paper.AVERAGE)) if printed else None
        score = known.mean if known else mean({task: paper.numbers()[self.table, model, task].mean for task in tasks})
        return number(score, marks=self._mixture(model, tasks, known.note if known else ""))

    def _mixture(self, model: str, tasks: list[str], note: str = "") -> str:
        """The marks of an average: of its note, and of one that says where an average of all tasks is of two models."""
        others = paper.substitutions(model, self.tasks, self.table) if len(tasks) == len(self.tasks) else ""
        return self.result.notes.marks(note, f"{paper.title(paper.SUBSTITUTE)} on {others}" if others else "")

    def _about_runs(self) -> list[str]:
        """Which runs are not in the table, in sentences."""
        there = [groups for (task, model), groups in self.groups.items() if task in self.tasks and model in self.ours]
        unfinished = sum(len(group.unfinished) for groups in there for group in groups)
        others = dict.fromkeys(model for _, model in self.groups if model not in self.candidates)
        elsewhere = dict.fromkeys(task for task, _ in self.groups if task not in paper.TASKS)
        said = {
            f"Runs of {', '.join(elsewhere)} are in no table of the paper; `rnar report` lists them.": elsewhere,
            f"{unfinished} run{'s are' if unfinished > 1 else ' is'} not finished and not counted.": unfinished,
            f"Runs of {', '.join(others)} are in other tables.": others,
        }
        return [*self.hidden, *(sentence for sentence, some in said.items() if some)]


def _means(groups: dict[str, Group]) -> dict[str, float]:
    return {task: group.mean for task, group in groups.items() if group.mean is not None}
