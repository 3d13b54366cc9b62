"""`rnar view`: a run step by step, as a page for a browser."""

from pathlib import Path
from typing import Annotated

import tyro

from rnar.cli.flags import Distribution, flag
from rnar.cli.inputs import given
from rnar.cli.output import screen
from rnar.cli.solve import begun
from rnar.clrs import find
from rnar.common.files import free

NONE = "none"


def view(
    task: Annotated[str, tyro.conf.arg(metavar="TASK")],
    /,
    input: Annotated[tuple[str, ...], tyro.conf.Positional, flag("INPUT...")] = (),
    network: Annotated[str | None, flag("RUN", "the one that ships for the task, if there is one")] = None,
    edges: Annotated[str | None, flag("FILE")] = None,
    n: Annotated[int | None, flag("INT")] = None,
    seed: Annotated[int | None, flag("INT", "1")] = None,
    out: Annotated[Path | None, flag("PAGE.html", "TASK.html")] = None,
    force: bool = False,
    distribution: Annotated[Distribution, tyro.conf.OmitArgPrefixes] = Distribution(),  # noqa: B008 (it is frozen)
) -> None:
    """Write a page that plays a run step by step: what the algorithm does, and beside it what a network predicted.

    The page is one file that needs nothing else; open it in a browser.

    Args:
        task: Which algorithm; `rnar data list` has them all.
        input: A problem of your own, as `rnar solve` takes it. Without one, a random problem is drawn.
        edges: A graph as a list of edges, as in `rnar solve`.
        network: The folder of a run of yours, or the name of a network that ships; none shows the algorithm alone.
            Opening a run imports the modules of yours that its config names.
        n: The size of a random problem.
        seed: The seed of a random problem.
        out: The file to write.
        force: Replace the file if it is there.
        distribution: What a random problem is drawn from.
    """
    find(task)
    random = distribution.given(n=n, seed=seed)
    target = free(out or Path(f"{task.replace(':', '.')}.html"), replace=force)
    own, console = given(task, input, random, edges), screen()

    from rnar.inference.problem import Problem
    from rnar.inference.solver import PRETRAINED, page_of

    shown = Problem.of(task, own) if own else Problem.random(task, **random)
    if network == NONE:
        page = page_of(shown, None)
    else:
        with begun(shown) as progress:
            page = page_of(shown, network or PRETRAINED, progress)
    page.save(target)
    console.print(f"{target}  {len(page.html) / 1e6:.2f} MB", soft_wrap=True)
    if page.notes:
        console.print(f"notes  {'; '.join(page.notes)}", soft_wrap=True)
