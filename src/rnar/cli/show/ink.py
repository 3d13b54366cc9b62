"""Text in which what is new stands out: in colour, or, where there is none, by a mark."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from rich.console import Console
from rich.text import Text

NEW = "bold yellow"
MARK = "*"


class Item(NamedTuple):
    text: str
    new: bool | np.bool_ = False


class Ink:
    """How this terminal shows what is new."""

    def __init__(self, console: Console):
        self.colour = console.color_system is not None and not console.no_color

    @property
    def legend(self) -> Text:
        how = ("what is yellow", NEW) if self.colour else (f"what is marked {MARK}", "")
        return Text.assemble(how, (" changed in that step", "dim"))

    def item(self, item: Item, style: str = "") -> Text:
        if self.colour:
            return Text.assemble((item.text, NEW if item.new else style))
        return Text((MARK if item.new else "") + item.text)

    def padded(self, item: Item, style: str = "") -> Text:
        """The same, where columns shall not move when a mark comes: with room for it."""
        text = self.item(item, style)
        return text if self.colour or item.new else Text(" ") + text

    def line(self, items: Iterable[Item], separator: str = "  ", nothing: str = "–") -> Text:
        written = [self.item(item) for item in items]
        return Text(separator).join(written) if written else Text(nothing)
