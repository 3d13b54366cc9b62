"""The tables of the paper with columns of our own."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import zip_longest

from rnar.report import published as paper
from rnar.report.page import DASH, EMPTY, Cell, Page, difference, mark_best, number, quiet
from rnar.report.runs import Row
from rnar.report.scores import Group, grouped, longest, table
from rnar.report.tables import mixed_steps, seeds_and_steps, shorter_runs
from rnar.training.run import NETWORKS, Which

OTHERS = (paper.BASELINE, "rt", "g-forgetnet")  # models that are no variants of RNAR
PLUS_MINUS = (
    "Scores are micro-F1 in percent on the official test set (n = 64). Ours: mean over seeds ± their standard "
    "deviation, which one seed does not have. The paper does not say what its ± are; those of Triplet-GMPNN are "
    "standard errors at their source."
)
MARKS = "Bold: the best of a row. Differences are in points. A dash: not run, or not published."
UNDERLINED = "Underlined: better than its baseline Triplet-GMPNN; ours than our own where it was run."
Ours = dict[str, list[Cell]]
"""by model its score, the difference from the paper, and how many seeds and steps"""


def paper_table(table: int, rows: Iterable[Row], network: Which = "best") -> Page:
    """One of the paper's four tables, with the scores of this network of each run that has it."""
    return _PaperTable(table, list(rows), network).page


class _PaperTable:
    """A column for each model of the paper's table, and three for each of ours."""

    def __init__(self, number: int, rows: list[Row], network: Which):
        kept = longest(rows)
        self.number, self.groups = number, grouped(table(kept))
        parts = {key: [group.tested(network) for group in some] for key, some in self.groups.items()}
        self.tests = {key: have for key, some in parts.items() if (have := [part for part in some if part.scores])}
        """the scores of this network"""
        if network != "best" and not self.tests:
            hint = "; train with --average for one" if network == "average" else ""
            raise ValueError(f"no finished run here has a test of {NETWORKS[network]}{hint}")
        self.tasks, self.theirs = paper.tasks_of(number), paper.models_of(number)
        unknown = sorted({model for _, model in self.groups if model not in paper.MODELS})
        self.candidates = self.theirs + unknown
        self.ours = [model for model in self.candidates if model == paper.MAIN or self._run(model)]
        title = f"{paper.TITLES[number]}: Table {number} of the paper"  # other documents have numbers of their own
        title += "" if network == "best" else f"; ours is {NETWORKS[network]}"
        self.page = Page(title, ["Algorithm"], left=1, names=["task"])
        self.page.spans = [1] * len(self.theirs) + [3] * len(self.ours)
        for name in map(paper.title, self.theirs):
            self.page.head.append(f"{name}\npaper")
            self.page.names.append(f"{name} paper")
        for name in map(paper.title, self.ours):
            self.page.head += [f"{name}\nours", "ours −\npaper", "seeds ×\nsteps"]
            self.page.names += [f"{name} ours", f"{name} ours less paper", f"{name} seeds × {name} steps"]
        for task in self.tasks:
            self._add_task(task)
        self.page.rule = len(self.page.rows)
        self._add_averages()
        underlined = [UNDERLINED] * (paper.BASELINE in self.theirs)
        self.page.about = [PLUS_MINUS, MARKS, *underlined, *shorter_runs(rows, kept), *self._left_out()]

    def _behind(self, task: str, model: str) -> list[Group]:
        """The runs of a cell: those of the model whose number the paper prints there."""
        return self.tests.get((task, paper.in_the_paper(model, task, self.number)), [])

    def _run(self, model: str) -> dict[str, Group]:
        return {task: groups[0] for task in self.tasks if (groups := self._behind(task, model))}

    def _published(self, model: str, task: str) -> float | None:
        known = paper.numbers().get((self.number, model, task))
        return known.mean if known else None

    def _add(self, title: str, ours: Ours, theirs: list[Cell] | None = None, missing: Cell = EMPTY) -> None:
        """A line; where it has numbers of the paper the best score is bold."""
        line = [quiet(title), *[EMPTY] * len(self.theirs)] if theirs is None else [Cell(title), *theirs]
        scores = [*range(1, len(line)), *range(len(line), len(self.page.head), 3)]
        line += [cell for model in self.ours for cell in ours.get(model, [missing] * 3)]
        if theirs is not None:
            mark_best([line], scores)
        self.page.rows.append(line)

    def _add_task(self, task: str) -> None:
        """The line of a task; those of runs with other settings, which say what is different; and, where the paper's
        RNAR has no triplets, that of ours with triplets."""
        bar, theirs = self._published(paper.BASELINE, task), []
        for model in self.theirs:
            printed = paper.numbers()[self.number, model, task]
            beats = self._beats(model, printed.mean, bar)
            theirs.append(replace(number(printed.mean, printed.spread, self.page.marks(printed.note)), beats=beats))
        groups = {model: self._behind(task, model) for model in self.ours}
        if bar is not None and (own_baseline := self._behind(task, paper.BASELINE)):
            bar = own_baseline[0].mean
        firsts = {model: self._ours(model, some[0], bar) for model, some in groups.items() if some}
        self._add(paper.title(task), firsts, theirs, DASH)
        others = [[self._ours(model, group) for group in some[1:]] for model, some in groups.items()]
        for cells in zip_longest(*others, fillvalue=[EMPTY] * 3):
            self._add("· other settings", dict(zip(self.ours, cells, strict=True)))
        if paper.in_the_paper(paper.MAIN, task, self.number) != paper.MAIN:
            for group in self.tests.get((task, paper.MAIN), []):
                cells = self._ours(paper.MAIN, group)
                self._add(f"· {paper.title(paper.MAIN)} with triplets", {paper.MAIN: [cells[0], DASH, cells[2]]})

    def _ours(self, model: str, group: Group, bar: float | None = None) -> list[Cell]:
        cell = number(group.mean, group.spread, self.page.marks(group.unusual))
        compared = difference(group.mean, self._published(model, group.task))
        return [replace(cell, beats=self._beats(model, group.mean, bar)), compared, seeds_and_steps(group)]

    def _beats(self, model: str, score: float | None, bar: float | None) -> bool:
        if model in OTHERS or score is None or bar is None:
            return False
        return round(score, 2) > round(bar, 2)

    def _add_averages(self) -> None:
        count, of_tasks = len(self.tasks), paper.mean_of_tasks
        self._add_average(f"Average, {count} tasks", self.tasks, of_tasks, printed=True)
        groups = {task: some[0] for task in self.tasks if (some := self.tests.get((task, paper.MAIN)))}
        if paper.substitutions(paper.MAIN, self.tasks, self.number) and len(groups) == count:  # the paper has none
            marks, done = self.page.marks(mixed_steps(groups.values())), quiet(f"{count} of {count}")
            own = number(of_tasks(_means(groups)), marks=marks)
            self._add("· with triplets in all", {paper.MAIN: [own, DASH, done]})
        categories = len({paper.category(task) for task in self.tasks})
        self._add_average(f"Average, {categories} categories", self.tasks, paper.mean_of_categories)
        run = list(self._run(paper.MAIN) or max(map(self._run, self.ours), key=len))
        if 1 < len(run) < count:  # the mean over those that RNAR learned
            self._add_average(f"Average, {len(run)} run here", run, of_tasks)

    def _add_average(
        self, title: str, tasks: list[str], mean: Callable[[dict[str, float]], float], printed: bool = False
    ) -> None:
        """Of these tasks: what the paper prints, or else what its cells give; ours if all these tasks were run."""
        theirs, ours = [], {}
        for model in self.theirs:
            known = paper.numbers().get((self.number, model, paper.AVERAGE)) if printed else None
            score = known.mean if known else mean({t: paper.numbers()[self.number, model, t].mean for t in tasks})
            theirs.append(number(score, marks=self._mixture(model, tasks, known.note if known else "")))
        published = {model: float(cell.text) for model, cell in zip(self.theirs, theirs, strict=True)}
        for model in self.ours:
            groups, cell, score = {t: group for t, group in self._run(model).items() if t in tasks}, DASH, None
            if len(groups) == len(tasks):
                score = mean(_means(groups))
                cell = number(score, marks=self._mixture(model, tasks, mixed_steps(groups.values())))
            ours[model] = [cell, difference(score, published.get(model)), quiet(f"{len(groups)} of {len(tasks)}")]
        self._add(title, ours, theirs)

    def _mixture(self, model: str, tasks: list[str], note: str) -> str:
        """The marks of an average: of its note, and of one that says where an average of all tasks is of two models."""
        others = paper.substitutions(model, self.tasks, self.number) if len(tasks) == len(self.tasks) else ""
        return self.page.marks(note, f"{paper.title(paper.SUBSTITUTE)} on {others}" if others else "")

    def _left_out(self) -> list[str]:
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
        return [sentence for sentence, some in said.items() if some]


def _means(groups: dict[str, Group]) -> dict[str, float]:
    return {task: group.mean for task, group in groups.items() if group.mean is not None}
