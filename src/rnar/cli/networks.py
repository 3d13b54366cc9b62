"""`rnar networks`: those that come with the package."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import tyro
from rich.table import Column, Table
from rich.text import Text

from rnar.cli.flags import flag
from rnar.cli.output import screen
from rnar.common.durations import took
from rnar.inference import pretrained
from rnar.inference.pretrained import Card, copy_run

CAPTION = (
    "\nScore: the micro-F1 of the benchmark in percent, on the official test (n=64) or its first samples, of the "
    "network as it is stored. rnar.load(NAME) gives it, rnar solve NAME asks it, --copy lets it go on learning."
)


def networks(
    name: Annotated[str | None, tyro.conf.Positional, flag("NAME", "all")] = None,
    copy: Annotated[Path | None, flag("FOLDER")] = None,
) -> None:
    """The networks that ship with rnar: what each has learned, how well, and how it was trained.

    Args:
        name: One of them.
        copy: Make a run of it in this folder, which `rnar train` takes further.
    """
    chosen = pretrained.names() if name is None else [pretrained.folder_of(name).name]
    console = screen()
    if copy is not None:
        if name is None:
            raise ValueError(f"which network shall be copied? there are {', '.join(chosen)}")
        console.print(f"{copy} can be trained further:\n{copy_run(pretrained.folder_of(name), copy)}", soft_wrap=True)
        return
    console.print(table(chosen), end="\n\n")
    for line in histories(chosen):
        console.print(line)
    console.print(Text(CAPTION, "dim"))


def table(names: list[str]) -> Table:
    """The scores of each."""
    words, numbers = ("network", "model"), ("score", "95% interval", "samples")
    columns = [Column(name, justify="left" if name in words else "right", no_wrap=True) for name in words + numbers]
    page = Table(*columns, box=None, pad_edge=False, header_style="dim")
    for name in names:
        card = pretrained.read_card(pretrained.home() / name)
        assert card is not None
        for task, test in card.tests.items():
            low, high = (f"{100 * bound:.1f}" for bound in test.interval)
            named = name if len(card.tests) == 1 else f"{name}: {task}"
            scores = Text(f"{100 * test.score:.1f}", "bold"), f"{low} to {high}", f"{test.samples:,}"
            page.add_row(named, card.model, *scores)
    return page


def histories(names: list[str]) -> Iterator[Text]:
    """How each was trained, in a line, and how large it is."""
    for name in names:
        folder = pretrained.home() / name
        card = pretrained.read_card(folder)
        assert card is not None
        yield Text.assemble(f"{name}: ", (f"{history(card)}, {pretrained.megabytes(folder):.1f} MB", "dim"))


def history(card: Card) -> str:
    """How it was trained, in a few words."""
    which = {"best": f"step {card.step:,}, selected", "last": "last", "average": "average of weights"}[card.which]
    commit = f", commit {card.commit[:7]}" if card.commit else ""
    return f"{which} of {card.steps:,} steps, seed {card.seed}, {took(60 * card.minutes)}{commit}"
