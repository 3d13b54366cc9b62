"""Load a trained network, solve a problem with it, view the steps: one call each."""

from pathlib import Path
from typing import Any

from rnar.clrs import find
from rnar.common.checking import checked
from rnar.inference import pretrained
from rnar.inference.answer import Answer, described
from rnar.inference.page import Playback, playback
from rnar.inference.page.playback import Line
from rnar.inference.problem import Problem
from rnar.inference.solver import Progress, Solver
from rnar.inference.words import say
from rnar.training.run import Which

PRETRAINED = "pretrained"
"""in place of a network: the one that ships for the task"""


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
    if isinstance(network, Solver):
        solver = network
    elif network == PRETRAINED:
        folder = pretrained.for_task(task)
        if folder is None:
            known = ", ".join(pretrained.names()) or "none"
            raise ValueError(f"no network for {task} ships with rnar (there is {known}); train one, and name its run: "
                             f"rnar train {task}, then --network runs/{task}/rnar/seed-0")  # fmt: skip
        solver = Solver(folder)
    else:
        solver = load(network)
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
        arguments: The problem. A graph may also be of networkx or PyTorch Geometric, or a dictionary with names.
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
    options = find(task).problem.options
    if not arguments and (n is not None or seed is not None or all(name in options for name in named)):
        return page_of(Problem.random(task, n, seed, **named), network, progress)
    if n is not None or seed is not None:
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
