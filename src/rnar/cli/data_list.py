"""`rnar data list`: the tasks in a table."""

from typing import Annotated

import tyro
from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from rnar.cli.output import screen
from rnar.clrs import Algorithm, Feature
from rnar.clrs.choosing import matching
from rnar.clrs.splits import mean_steps

WIDE = 160  # columns of a terminal from which inputs, hints and outputs stand side by side
CAPTION = (
    "Steps are the mean of the official sets, or of sets that are drawn likewise; there string matchers have 20 and 80 "
    "letters, segments 4 ends."
)


def list_tasks(pattern: Annotated[str, tyro.conf.arg(metavar="PATTERN")] = "*", /) -> None:
    """The tasks with their features, and how many steps they take at sizes 16 and 64.

    Args:
        pattern: Which tasks, with wildcards: 'mst*'. One of your own is my_tasks:mine, all of a module 'my_tasks:*'.
    """
    console = screen()
    console.print((wide if console.width >= WIDE else narrow)(matching(pattern)))
    console.print(Text(CAPTION, "dim"))


def wide(algorithms: list[Algorithm]) -> Table:
    """A row for each task."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 1, 0), expand=True)
    for name in ("task", "chapter", "n=16", "n=64"):
        table.add_column(name, no_wrap=True, justify="right" if name.startswith("n=") else "left")
    for name, ratio in (("inputs", 3), ("hints", 4), ("outputs", 2)):
        table.add_column(name, ratio=ratio)
    for algorithm in algorithms:
        stages = (by_feature(stage) for stage in algorithm.spec)
        table.add_row(Text(algorithm.name, "bold"), algorithm.chapter, *_steps(algorithm), *stages)
    return table


def narrow(algorithms: list[Algorithm]) -> Group:
    """The same in blocks: a task's features stand below its name."""
    parts: list[RenderableType] = [_line("task", "chapter", ("n=16", "n=64"))]
    for algorithm in algorithms:
        features = Table.grid(padding=(0, 2, 0, 0))
        for title, stage in zip(("in", "hints", "out"), algorithm.spec, strict=True):
            features.add_row(Text(title, "dim"), by_feature(stage))
        line = _line(algorithm.name, algorithm.chapter, _steps(algorithm))
        parts += ["", line, Padding(features, (0, 0, 0, 2))]
    return Group(*parts, "")


def _line(task: str, chapter: str, steps: tuple[str, str]) -> Text:
    return Text.assemble((f"{task:30} ", "bold"), f"{chapter:20}", *(f"{x:>6}" for x in steps))


def _steps(algorithm: Algorithm) -> tuple[str, str]:
    return f"{mean_steps(algorithm.name, 'val'):.0f}", f"{mean_steps(algorithm.name, 'test'):.0f}"


def by_feature(stage: dict[str, Feature]) -> Text:
    """The names of one stage, those of one feature together: `pos, key: node.scalar; pred: node.pointer`."""
    names: dict[str, list[str]] = {}
    for name, feature in stage.items():
        names.setdefault(str(feature), []).append(name)
    return Text("; ").join(Text.assemble(", ".join(found), (f": {feature}", "dim")) for feature, found in names.items())
