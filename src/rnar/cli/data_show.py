"""`rnar data show`: one run of an algorithm in the terminal, step by step."""

import json
from contextlib import suppress
from typing import Annotated, Any

import tyro

import rnar.clrs
from rnar.cli.distribution import Distribution
from rnar.cli.flags import flag
from rnar.cli.output import screen
from rnar.cli.show.page import Page
from rnar.clrs import Sample, find

NODES, LETTERS = 6, 15  # the size where none is given: what fits on a screen
STEPS = 20


def show(
    task: Annotated[str, tyro.conf.arg(metavar="TASK")],
    /,
    n: Annotated[int | None, flag("INT", f"{NODES} nodes, or {LETTERS} letters")] = None,
    seed: Annotated[int | None, flag("INT", "1")] = None,
    sample: Annotated[int | None, flag("INT", "0, the first")] = None,
    steps: int = STEPS,
    input: Annotated[str | None, flag("JSON", "a random problem")] = None,
    distribution: Annotated[Distribution, tyro.conf.OmitArgPrefixes] = Distribution(),  # noqa: B008 (it is frozen)
) -> None:
    """One run of an algorithm, step by step: what it is given, its hints as they change, and its answer.

    Args:
        task: Which algorithm; `rnar data list` has them all.
        n: The size of the problem.
        seed: The seed of the random problems.
        sample: Which of the problems that this seed gives.
        steps: How many steps to show.
        input: Your own problem instead, as a JSON list of its arguments: '[5, 2, 9]' for quickselect,
            '[[[0, 1], [1, 0]], 0]' (a matrix and a source) for bfs, '["ATCGATC", "GAT"]' for kmp_matcher.
        distribution: What problems are drawn from. By default all is as in the official sets.
    """
    if steps < 1:
        raise ValueError(f"--steps must be at least 1, not {steps}")
    find(task)
    given = distribution.given(n=n, seed=seed, sample=sample)
    if input is None:
        run, origin = drawn(task, **given)
    elif given:
        raise ValueError(f"--{next(iter(given))} is about random problems and means nothing with --input")
    else:
        run, origin = solved(task, input), "your own input"
    Page(run, screen()).print(steps, origin)


def drawn(task: str, n: int | None = None, seed: int = 1, sample: int = 0, **options: Any) -> tuple[Sample, str]:
    """A random problem, solved, and where it comes from."""
    if sample < 0:
        raise ValueError(f"--sample must be 0, the first, or more, not {sample}")
    problem = find(task).problem
    usual = max(problem.smallest, LETTERS if "string" in problem.inputs else NODES)
    batch = rnar.clrs.sample(task, n=usual if n is None else n, batch=sample + 1, seed=seed, **options)
    return batch.sample(sample), f"sample {sample} of seed {seed}"


def solved(task: str, text: str) -> Sample:
    """A problem out of JSON, solved: a list of its arguments, or, of a task that takes one, that alone."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"--input is not JSON: {error}") from None
    if not isinstance(found, list):
        raise ValueError(f"--input must be a JSON list of the arguments, such as [[5, 2, 9]], not {text}")
    try:
        return rnar.clrs.trace(task, *found)
    except ValueError:
        with suppress(ValueError):
            return rnar.clrs.trace(task, found)
        raise
