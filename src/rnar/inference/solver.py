"""Load a trained network, solve a problem with it, view the steps."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from itertools import islice
from pathlib import Path
from typing import Any

from rnar.clrs import find
from rnar.clrs.batch import stacked
from rnar.common.cached import cached_property
from rnar.common.checking import checked
from rnar.evaluation.beliefs import Belief, believed
from rnar.evaluation.memory import check_step
from rnar.evaluation.sets import OFFICIAL
from rnar.inference import pretrained
from rnar.inference.answer import Answer, described
from rnar.inference.domain import TrainingDomain
from rnar.inference.equivalence import quirk
from rnar.inference.page import Line, Playback, playback
from rnar.inference.problem import Problem
from rnar.inference.words import say
from rnar.nn.reasoner import Reasoner
from rnar.runtime.workers import Workers
from rnar.training.result import Tested
from rnar.training.run import Run, Which

AT_ONCE = 32  # problems of a batch
PRETRAINED = "pretrained"
"""in place of a network: the one that ships for the task"""

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
        self.tasks = tuple(self.run.settings.tasks)
        self.model = self.run.settings.name

    @property
    def steps(self) -> int | None:
        """After how many steps of training it was there, if that is known."""
        if self.card:
            return self.card.step
        if self.which == "best" and self.run.result:
            return self.run.result.best_step
        reported = self.run.metrics
        return reported[-1]["best_step" if self.which == "best" else "step"] if reported else None

    @property
    def tests(self) -> dict[str, Tested]:
        """By task: its score on the official test set; empty while nobody has tested it."""
        if self.card:
            return self.card.tests
        result = self.run.result
        return result and {"best": result.tests, "last": result.last, "average": result.average}[self.which] or {}

    @cached_property
    def domains(self) -> dict[str, TrainingDomain]:
        """By task: what it was trained on."""
        return {task: TrainingDomain(task, self.run.config["data"][task]) for task in self.tasks}

    def task(self, name: str | None = None) -> str:
        """One of its tasks; the only one, where none is named."""
        (first, *others), learned = self.tasks, ", ".join(self.tasks)
        if name is None and others:
            raise ValueError(f"which task? this network has learned {learned}; give one as task=...")
        if name not in (None, *self.tasks):
            raise ValueError(f"this network has not learned {name}; it has learned {learned}")
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
            workers = workers or Workers(self.reasoner, threads if len(some) > 1 else 1, keep_freed=False)
            yield from self._answers(some, workers, progress or (lambda share: None))

    def _answers(self, problems: Sequence[Problem], workers: Workers, progress: Progress) -> list[Answer]:
        groups, beliefs = defaultdict[tuple[str, int], list[int]](list), dict[int, Belief]()
        for k, problem in enumerate(problems):
            task, nodes = problem.sample.task, problem.sample.nodes
            check_step(self.reasoner, task, nodes)
            groups[task, nodes].append(k)
        for places in groups.values():
            share = len(places) / len(problems)
            told = lambda part, share=share: progress(part * share)  # noqa: E731
            batch = stacked([problems[k].seen.sample for k in places])
            beliefs |= zip(places, believed(workers, batch, self.run.model.batch, progress=told), strict=True)
        by = str(self)
        return [
            Answer(problem.sample, beliefs[k], by, problem.origin, list(self._notes(problem)), problem.names)
            for k, problem in enumerate(problems)
        ]

    def _notes(self, problem: Problem) -> Iterator[str]:
        """How the problem differs from those of training."""
        task, nodes = problem.sample.task, problem.sample.nodes
        domain, test = self.domains[task], self.tests.get(task)
        if nodes > max(domain.sizes):
            known = f"; at n={OFFICIAL} its score is {test.score:.1%}" if test else ""
            larger = ", and this is larger still" if test and nodes > find(task).problem.length(OFFICIAL) else ""
            yield f"{nodes} nodes are more than the {max(domain.sizes)} of training{known}{larger}"
        if nodes < min(domain.sizes):
            yield f"{nodes} nodes are fewer than the {min(domain.sizes)} of training"
        if outside := domain.outside(problem.seen.sample):
            yield f"not seen in training: {outside}"
        if problem.seen.how:
            yield f"its numbers were {problem.seen.how} for the network, to the range that it was trained on"
        if problem.lost:
            yield f"numbers that differ in {problem.lost} are equal in the 32 bits that the network sees"
        if told := quirk(problem.sample):
            yield told

    def __str__(self) -> str:
        return by_name(self.run, self.steps)

    def __repr__(self) -> str:
        scores = ", ".join(f"{task} {test.score:.1%}" for task, test in self.tests.items())
        return f"<{', '.join(self.tasks)}: {self}{f'; at n={OFFICIAL}: {scores}' if scores else ''}>"

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


@checked
def load(network: str | Path, which: Which = "best") -> Solver:
    """A trained network: by the name of one that ships (`rnar networks`), or by the folder of a run of yours.

    Args:
        network: `"quickselect"`, `"runs/bfs/rnar/seed-0"`.
        which: Of a run, the network that was selected, the last one, or the average of the weights.
    """
    return Solver(pretrained.run_folder(network), which)


def solver_for(task: str, network: str | Path | Solver = PRETRAINED) -> Solver:
    """The network that is meant, if it has learned the task."""
    task = find(task).name
    folder = pretrained.for_task(task) if network == PRETRAINED else None
    if network == PRETRAINED and folder is None:
        known = ", ".join(pretrained.names()) or "none"
        train = f"train one, and name its run: rnar train {task}, then --network runs/{task}/rnar/seed-0"
        raise ValueError(f"no network for {task} ships with rnar (there is {known}); {train}")
    solver = network if isinstance(network, Solver) else load(folder or network)
    solver.task(task)
    return solver


@checked
def solve(
    task: str,
    /,
    *arguments: Any,
    network: str | Path | Solver = PRETRAINED,
    progress: Progress | None = None,
    **named: Any,
) -> Answer:
    """Let a network solve a problem of your own: `solve("quickselect", [5.0, 2.0, 9.0])`.

    Args:
        task: Which; the problem is given as `rnar.trace` takes it.
        arguments: The problem. A graph may also be of networkx, SciPy or PyTorch Geometric, a list of edges
            (`edges=[("a", "b", 2.0)]`) or a dictionary with names.
        network: A network of `load`, its name or its folder; by default the one that ships for the task.
        progress: Told which share of the work has been done since it was last told.
        named: The problem, by names.
    """
    solver = solver_for(task, network)
    return solver.answer(Problem.own(task, *arguments, **named), progress)


@checked
def view(
    task: str,
    /,
    *arguments: Any,
    network: str | Path | Solver | None = PRETRAINED,
    n: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    **named: Any,
) -> Playback:
    """A page that plays a run step by step: the algorithm, and what a network predicted beside it.

    Args:
        task: Which.
        arguments: A problem of your own, as `solve` takes it; without one, a random problem is drawn.
        network: A network of `load`, its name or its folder; by default the one that ships for the task, if there is
            one. None shows the algorithm alone.
        n: The size of a random problem.
        seed: Its seed.
        progress: Told which share of the network's work has been done since it was last told.
        named: The problem by names, or options of the distribution if it is random: `p=0.3`.
    """
    of_random, options = (n, seed) != (None, None), find(task).problem.options
    if not arguments and (of_random or all(name in options for name in named)):
        return page_of(Problem.random(task, n, seed, **named), network, progress)
    if of_random:
        raise ValueError("n and seed are about random problems and mean nothing beside a problem of your own")
    return page_of(Problem.own(task, *arguments, **named), network, progress)


def page_of(
    problem: Problem, network: str | Path | Solver | None = PRETRAINED, progress: Progress | None = None
) -> Playback:
    """The page of a problem: of the algorithm alone where there is no network."""
    sample, task = problem.sample, problem.sample.task
    if network is None or (network == PRETRAINED and pretrained.for_task(task) is None):
        answer = Line("answer", say(sample, sample.outputs, problem.names))
        return playback(sample, None, described(sample, problem.origin), [answer], names=problem.names)
    return solver_for(task, network).answer(problem, progress).view()
