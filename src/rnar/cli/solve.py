"""`rnar solve`: a network's answer to a problem of your own, beside the algorithm's."""

from __future__ import annotations

import json as writer
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Annotated

import tyro
from rich.text import Text

from rnar.cli.flags import Distribution, flag
from rnar.cli.inputs import STDIN, example, given, lines_of, of_line
from rnar.cli.output import bar, screen, tell

if TYPE_CHECKING:  # torch is imported when a problem is seen to be one
    from rnar.inference import Answer, Problem, Solver

LONG = 1_000_000  # pairs of nodes over all steps: what takes some seconds or more


def solve(
    task: Annotated[str, tyro.conf.arg(metavar="TASK")],
    /,
    input: Annotated[tuple[str, ...], tyro.conf.Positional, flag("INPUT...")] = (),
    network: Annotated[str | None, flag("RUN", "the one that ships for the task")] = None,
    edges: Annotated[str | None, flag("FILE")] = None,
    lines: Annotated[str | None, flag("FILE")] = None,
    json: bool = False,
    n: Annotated[int | None, flag("INT")] = None,
    seed: Annotated[int | None, flag("INT")] = None,
    threads: Annotated[int | None, flag("INT", "one for each core")] = None,
    distribution: Annotated[Distribution, tyro.conf.OmitArgPrefixes] = Distribution(),  # noqa: B008 (it is frozen)
) -> int | None:
    """Let a network solve a problem of your own: its answer, the algorithm's, how sure it was, where it went wrong.

    Args:
        task: Which; `rnar networks` has those for which a network ships.
        input: The problem, a word for each of its arguments: JSON, or numbers (5 2 9 or 5,2,9), or letters, or the name
            of a file with these, or - for standard input. `rnar solve bfs graph.json 0`; a graph in JSON may name its
            nodes, '{"a": {"b": 2}, "b": ["c"], "c": []}'.
        edges: A graph as a list of edges: a file with lines of two nodes and perhaps a weight (a CSV, with or without a
            header), or JSON, or -. INPUT is the source then. `rnar solve dijkstra --edges roads.csv Rome`.
        network: The folder of a run of yours, or the name of a network that ships. Opening a run imports the
            modules of yours that its config names.
        lines: Many problems instead: a file with one in each line as JSON, or -. Answers are lines of JSON, too.
        json: The answer as a line of JSON.
        n: A random problem of this size instead.
        seed: The seed of a random problem.
        threads: How many threads compute, where there are many problems.
        distribution: What a random problem is drawn from.
    """
    random = distribution.given(n=n, seed=seed)
    own = given(task, input, random, edges, solves=network is None)

    from rnar.inference.problem import Problem
    from rnar.inference.solver import PRETRAINED, solver_for
    from rnar.runtime.workers import check_threads

    check_threads(threads)
    solver = solver_for(task, network or PRETRAINED)
    if lines is not None:
        if input or random or edges is not None:
            raise ValueError("--lines has all problems; give no other beside it")
        return solve_lines(solver, task, lines, threads)
    if not input and not random and edges is None:
        raise ValueError(f"what shall be solved? {task} takes {example(task)}; or --n 16 for a random problem")
    asked = Problem.of(task, own) if own else Problem.random(task, **random)
    with begun(asked) as progress:
        answer = solver.answer(asked, progress)
    if json:
        print(writer.dumps(answer.plain(), ensure_ascii=False))
        return
    for line in page(answer):
        screen().print(line, soft_wrap=True)


@contextmanager
def begun(problem: Problem) -> Iterator[Callable[[float], None]]:
    """Tell what is begun, and how far it is: in a bar, or of what takes long, without a terminal, in lines."""
    steps, nodes, done = max(1, problem.sample.steps - 1), problem.sample.nodes, 0.0
    what, is_long = f"solving: {steps:,} steps of {nodes:,} nodes", steps * problem.sample.nodes**2 > LONG
    if is_long:
        tell(what)
    with bar(screen()) as progress:
        work = progress.add_task(what, total=1.0)

        def advance(share: float) -> None:
            nonlocal done
            before, done = done, done + share
            progress.advance(work, share)
            if is_long and progress.disable and int(10 * done) > int(10 * before):
                tell(f"solving: {done:.0%}")

        yield advance


def page(answer: Answer) -> Iterator[Text]:
    """An answer for people."""
    from rnar.inference.answer import described

    yield Text.assemble((answer.task, "bold"), "  ", (described(answer.sample, answer.origin, answer.by), "dim"))
    lines = answer.lines()
    width = max(len(line.term) for line in lines)
    for line in lines:
        style = {"right": "bold green", "wrong": "bold red"}.get(line.tone, "")
        yield Text.assemble((f"{line.term:{width}}  ", "dim"), (line.mark + line.text, style))


def solve_lines(solver: Solver, task: str, source: str, threads: int | None) -> int:
    """A line of JSON for each problem; where one is no problem, its line says why, and the exit code is 1."""
    from rnar.inference.problem import Problem
    from rnar.inference.solver import AT_ONCE

    failed, done, source_lines = 0, 0, lines_of(source)
    with bar(screen(stderr=True)) as progress:
        work = progress.add_task(task, total=None if source == STDIN else sum(1 for _ in lines_of(source)))
        while some := list(islice(source_lines, AT_ONCE)):
            problems = {number: _read(task, text) for number, text in some}
            good = {number: problem for number, problem in problems.items() if isinstance(problem, Problem)}
            answers = dict(zip(good, solver.answers(good.values(), threads=threads), strict=True))
            for number, problem in problems.items():
                said = answers[number].plain() if number in answers else {"error": str(problem)}
                print(writer.dumps({"line": number, **said}, ensure_ascii=False), flush=True)
            failed, done = failed + len(problems) - len(good), done + len(problems)
            progress.update(work, completed=done, description=f"{task}: {done} lines")
    if not done:
        raise ValueError(f"{source} has no line with a problem; {task} takes {example(task)}, as a list in JSON")
    if failed:
        tell(f"{failed} of {done} lines are no problems of {task}: see their errors")
    return int(failed > 0)


def _read(task: str, text: str) -> Problem | ValueError:
    from rnar.inference.problem import Problem

    try:
        return Problem.of(task, of_line(task, text))
    except ValueError as error:
        return error
