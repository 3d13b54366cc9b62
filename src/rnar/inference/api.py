"""A network, an answer, a page: in one line each."""

from pathlib import Path
from typing import Any

from rnar.clrs import Sample, find
from rnar.clrs import sample as drawn
from rnar.inference import pretrained
from rnar.inference.answer import Answer, about_run
from rnar.inference.page import Playback, playback
from rnar.inference.page.playback import Line
from rnar.inference.solver import OWN, Problem, Progress, Solver
from rnar.inference.words import say
from rnar.training.run import CONFIG, Which

SHIPPED = "shipped"
"""in place of a network: the one that ships for the task"""

NODES, LETTERS = 8, 15  # the size of a random problem where none is given


def load(network: str | Path, which: Which = "best") -> Solver:
    """A trained network: by the name of one that ships (`rnar networks`), or by the folder of a run of yours.

    Args:
        network: `"quickselect"`, `"runs/bfs/rnar/seed-0"`.
        which: Of a run, the network that was selected, the last one, or the average of the weights.
    """
    path = Path(network)
    if (path / CONFIG).is_file():
        return Solver(path, which)
    if str(network) in pretrained.names():
        return Solver(pretrained.folder_of(str(network)))
    if not path.is_dir():
        raise ValueError(f"there is no folder {network}, and {pretrained.unknown(str(network))}")
    below = sorted(config.parent for config in path.rglob(CONFIG))
    there = f"below it are {', '.join(map(str, below[:3]))}" if below else "there is none below it either"
    raise ValueError(f"{network} is no folder of a run: it has no {CONFIG}; {there}")


def solver_for(task: str, network: str | Path | Solver = SHIPPED) -> Solver:
    """The network that is meant, if it has learned the task."""
    find(task)
    if isinstance(network, Solver):
        found = network
    elif network == SHIPPED:
        folder = pretrained.for_task(task)
        if folder is None:
            known = ", ".join(pretrained.names()) or "none"
            raise ValueError(f"no network for {task} ships with rnar (there is {known}); train one, and name its run: "
                             f"rnar train {task}, then --network runs/{task}/rnar/seed-0")  # fmt: skip
        found = Solver(folder)
    else:
        found = load(network)
    found.task(task)
    return found


def solve(
    task: str,
    *arguments: Any,
    network: str | Path | Solver = SHIPPED,
    progress: Progress | None = None,
    **named: Any,
) -> Answer:
    """Let a network solve a problem of your own: `solve("quickselect", [5.0, 2.0, 9.0])`.

    Args:
        task: Which; the problem is given as `rnar.trace` takes it.
        arguments: The problem.
        network: A network of `load`, its name or its folder; by default the one that ships for the task.
        progress: Told which share of the work has been done since it was last told.
        named: The problem, by names.
    """
    return solver_for(task, network).solve(*arguments, task=task, progress=progress, **named)


def view(
    task: str,
    *arguments: Any,
    network: str | Path | Solver | None = SHIPPED,
    n: int | None = None,
    seed: int | None = None,
    progress: Progress | None = None,
    **named: Any,
) -> Playback:
    """A page that plays a run step by step: the algorithm, and what a network believed beside it.

    Args:
        task: Which.
        arguments: A problem of your own, as `rnar.trace` takes it; without one, a random problem is drawn.
        network: A network of `load`, its name or its folder; by default the one that ships for the task, if there is
            one. None shows the algorithm alone.
        n: The size of a random problem.
        seed: Its seed.
        progress: Told which share of the network's work has been done since it was last told.
        named: The problem by names, or options of the distribution if it is random: `p=0.3`.
    """
    network = None if network == SHIPPED and pretrained.for_task(find(task).name) is None else network
    names = find(task).problem.options
    if not arguments and (n is not None or seed is not None or all(name in names for name in named)):
        sample, origin = random_problem(task, n, seed, **named)
        if network is not None:
            return solver_for(task, network).answer(sample, origin, progress).view()
        return of_algorithm(sample, origin)
    if n is not None or seed is not None:
        raise ValueError("n and seed are about random problems and mean nothing beside a problem of your own")
    if network is not None:
        return solver_for(task, network).view(*arguments, task=task, progress=progress, **named)
    return of_algorithm(Problem.own(task, *arguments, **named).sample, OWN)


def random_problem(task: str, n: int | None = None, seed: int | None = None, **options: Any) -> tuple[Sample, str]:
    """A problem drawn at random, solved by the algorithm, and where it comes from."""
    problem = find(task).problem
    usual = max(problem.smallest, LETTERS if "string" in problem.inputs else NODES)
    seed = 1 if seed is None else seed
    batch = drawn(task, n=usual if n is None else n, batch=1, seed=seed, **options)
    return batch.sample(0), f"a random problem, seed {seed}"


def of_algorithm(sample: Sample, origin: str) -> Playback:
    """The page of an algorithm alone."""
    return playback(sample, None, about_run(sample, origin), [Line("answer", say(sample, sample.outputs))])
