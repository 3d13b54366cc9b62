"""A trained network that solves problems of a user's own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

from rnar.clrs import Sample, find
from rnar.clrs.batch import stacked
from rnar.common.checking import checked
from rnar.common.memory import check_memory
from rnar.evaluation.beliefs import believed
from rnar.evaluation.memory import step_bytes
from rnar.evaluation.sets import OFFICIAL
from rnar.inference import pretrained
from rnar.inference.answer import Answer
from rnar.inference.domain import TrainingDomain
from rnar.inference.equivalence import quirk
from rnar.inference.page import Playback
from rnar.inference.problem import Problem
from rnar.nn.reasoner import Reasoner
from rnar.runtime.workers import Workers
from rnar.training.result import Tested
from rnar.training.run import Run, Which

AT_ONCE = 32  # problems of a batch

Progress = Callable[[float], None]


class Solver:
    """A trained network, and what is known of it.

        solver = rnar.load("quickselect")
        solver.solve([5.0, 2.0, 9.0])        # an Answer: in words, and step by step
        solver.view([5.0, 2.0, 9.0]).save("page.html")

    Args:
        folder: Of a run, or of a pretrained network.
        which: The network of the run that was selected, the last one, or the average of the weights.
    """

    @checked
    def __init__(self, folder: str | Path, which: Which = "best"):
        self.run = Run(folder)
        self.card = pretrained.read_card(self.run.path)
        self.which = self.card.which if self.card else which
        self.reasoner: Reasoner = self.run.network(which=which)

    @property
    def tasks(self) -> tuple[str, ...]:
        return tuple(self.run.settings.tasks)

    @property
    def model(self) -> str:
        return self.run.settings.name

    @property
    def steps(self) -> int | None:
        """After how many steps of training it was there, if that is known."""
        if self.card:
            return self.card.step
        if self.which == "best" and self.run.result:
            return self.run.result.best_step
        reported = self.run.metrics
        return (reported[-1]["best_step"] if self.which == "best" else reported[-1]["step"]) if reported else None

    @property
    def tests(self) -> dict[str, Tested]:
        """By task: its score on the official test set; empty while nobody has tested it."""
        if self.card:
            return self.card.tests
        result = self.run.result
        return (
            ({"best": result.tests, "last": result.last, "average": result.average}[self.which] or {}) if result else {}
        )

    @cached_property
    def domains(self) -> dict[str, TrainingDomain]:
        """By task: what it was trained on."""
        return {task: TrainingDomain(task, self.run.config["data"][task]) for task in self.tasks}

    def task(self, name: str | None = None) -> str:
        """One of its tasks; the only one, where none is named."""
        first, *others = self.tasks
        if name is None and others:
            raise ValueError(f"which task? this network has learned {', '.join(self.tasks)}; give one as task=...")
        if name not in (None, *self.tasks):
            raise ValueError(f"this network has not learned {name}; it has learned {', '.join(self.tasks)}")
        return name or first

    def solve(
        self, /, *arguments: Any, task: str | None = None, progress: Progress | None = None, **named: Any
    ) -> Answer:
        """The answer to one problem, given as `rnar.trace` takes it."""
        return self.answer(Problem.own(self.task(task), *arguments, **named), progress)

    def view(
        self, /, *arguments: Any, task: str | None = None, progress: Progress | None = None, **named: Any
    ) -> Playback:
        """The same as a page that plays it step by step."""
        return self.solve(*arguments, task=task, progress=progress, **named).view()

    def answer(self, problem: Problem, progress: Progress | None = None) -> Answer:
        """The answer to a problem."""
        self.task(problem.sample.task)
        return next(self.answers([problem], progress))

    def answers(
        self, problems: Iterable[Problem], progress: Progress | None = None, threads: int | None = None
    ) -> Iterator[Answer]:
        """The answers to many problems, in their order; those of one size that come together are solved together.

        `progress` is told which share of the problems at hand has been done since it was last told.
        """
        waiting, workers = iter(problems), None
        while some := list(islice(waiting, AT_ONCE)):
            workers = workers or Workers(self.reasoner, threads if len(some) > 1 else 1)
            yield from self._of(some, workers, progress or (lambda share: None))

    def _of(self, problems: Sequence[Problem], workers: Workers, progress: Progress) -> list[Answer]:
        groups: dict[tuple[str, int], list[int]] = {}
        for k, problem in enumerate(problems):
            self._check_memory(problem.sample)
            groups.setdefault((problem.sample.task, problem.sample.nodes), []).append(k)
        found: dict[int, Answer] = {}
        for places in groups.values():
            share = len(places) / len(problems)
            told = lambda part, share=share: progress(part * share)  # noqa: E731
            batch = stacked([problems[k].seen.sample for k in places])
            for k, belief in zip(places, believed(workers, batch, self.run.model.batch, progress=told), strict=True):
                problem = problems[k]
                found[k] = Answer(
                    problem.sample, belief, str(self), problem.origin, self._notes(problem), problem.names
                )
        return [found[k] for k in range(len(problems))]

    def _check_memory(self, sample: Sample) -> None:
        """Raise where not even one step would fit."""
        what = f"{sample.task}: {sample.nodes} nodes are too many for this network: the features of a step"
        check_memory(step_bytes(self.reasoner, sample.task, sample.nodes), what)

    def _notes(self, problem: Problem) -> list[str]:
        """How the problem differs from those of training."""
        task, nodes = problem.sample.task, problem.sample.nodes
        domain, test, notes = self.domains[task], self.tests.get(task), []
        if nodes > max(domain.sizes):
            known = f"; at n={OFFICIAL} its score is {test.score:.1%}" if test else ""
            larger = ", and this is larger still" if test and nodes > find(task).problem.length(OFFICIAL) else ""
            notes.append(f"{nodes} nodes are more than the {max(domain.sizes)} of training{known}{larger}")
        if nodes < min(domain.sizes):
            notes.append(f"{nodes} nodes are fewer than the {min(domain.sizes)} of training")
        if outside := domain.outside(problem.seen.sample):
            notes.append(f"not seen in training: {outside}")
        if problem.seen.how:
            notes.append(f"its numbers were {problem.seen.how} for the network, to the range that it was trained on")
        if lost := problem.lost:
            notes.append(f"numbers that differ in {lost} are equal in the 32 bits that the network sees")
        return [*notes, *filter(None, [quirk(problem.sample)])]

    def __str__(self) -> str:
        return by_name(self.run, self.steps)

    def __repr__(self) -> str:
        scores = [f"{task} {test.score:.1%}" for task, test in self.tests.items()]
        return f"<{', '.join(self.tasks)}: {self}{f'; at n={OFFICIAL}: ' if scores else ''}{', '.join(scores)}>"

    def _repr_html_(self) -> str:
        rows = {"tasks": ", ".join(self.tasks), "model": str(self), "folder": str(self.run.path)}
        for task, test in self.tests.items():
            low, high = test.interval
            score = f"{test.score:.1%} (95% interval {low:.1%} to {high:.1%}), {test.samples} samples"
            rows[f"{task}, n={OFFICIAL}"] = score
        lines = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>" for name, text in rows.items())
        return f"<table>{lines}</table>"


def by_name(run: Run, steps: int | None = None) -> str:
    """The model, seed and steps of a network."""
    after = f" after {steps:,} steps" if steps is not None else ""
    return f"{run.settings.name}, seed {run.settings.seed}{after}"
