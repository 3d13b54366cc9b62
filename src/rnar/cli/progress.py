"""A bar for what takes a while."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.progress import Progress


def bar(console: Console) -> Progress:
    """Below what is printed to the console meanwhile; on stderr if that goes elsewhere. It vanishes at the end."""
    terminal = console if console.is_terminal else Console(stderr=True)
    return Progress(
        console=terminal,
        transient=True,
        disable=not terminal.is_terminal,
        redirect_stdout=console.is_terminal,
        redirect_stderr=bool(sys.stderr and sys.stderr.isatty()),
    )
