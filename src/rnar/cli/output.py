"""What commands share: messages, a bar for what takes a while, checks of flags."""

import sys
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from rnar.common.escaping import printable

IMAGES = ("png", "svg", "pdf")


def screen(**how: Any) -> Console:
    """Where commands print: what stands in brackets is text, and no style."""
    return Console(highlight=False, markup=False, **how)


def tell(message: str) -> None:
    """A message in one line on stderr."""
    print("rnar: " + printable(message), file=sys.stderr)


def bar(console: Console) -> Progress:
    """Below what is printed to the console meanwhile; on stderr if that goes elsewhere. It vanishes at the end."""
    place = console if console.is_terminal else screen(stderr=True)
    return Progress(
        console=place,
        transient=True,
        disable=not place.is_terminal,
        redirect_stdout=console.is_terminal,
        redirect_stderr=bool(sys.stderr and sys.stderr.isatty()),
    )


def image_format(flag: str, path: Path) -> str:
    """The format of a figure, by the ending of its file's name; `flag` is where that was given."""
    ending = path.suffix.lower().removeprefix(".")
    if ending not in IMAGES:
        raise ValueError(f"{flag} {path}: the name of a figure must end in one of .{', .'.join(IMAGES)}")
    return ending
