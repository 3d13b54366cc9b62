"""A run of an algorithm, and what a network predicted of it, as one page that plays it step by step.

The page is one file that needs nothing else, with its data inside.
"""

import json
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from rnar.clrs import Sample
from rnar.common.files import appearing
from rnar.evaluation.beliefs import Belief
from rnar.inference.page.data import page_data

PARTS = ("data", "marks", "rows", "plane", "grids", "timeline", "values", "legend", "play")
"""the files of the page's program, in the order in which they stand in it"""
HEIGHT = 900  # of the page in a notebook, in pixels


class Line(NamedTuple):
    """A line about the answer."""

    term: str
    text: str
    tone: str = ""
    """right or wrong, which have a mark; or neither"""
    step: int | None = None
    """where it can be seen"""

    @property
    def mark(self) -> str:
        return {"right": "✓ ", "wrong": "✗ "}.get(self.tone, "")


class Playback:
    """A run that can be watched: in a notebook it shows itself, elsewhere `save` it and open the file.

    Attributes:
        notes: How the problem differs from those that the network was trained on, as the page has it too.
    """

    def __init__(self, title: str, html: str, notes: Sequence[str] = ()):
        self.title, self.html, self.notes = title, html, tuple(notes)

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, in place of what may be there."""
        with appearing(Path(path)) as file:
            file.write(self.html.encode())
        return Path(path)

    def _repr_html_(self) -> str:
        frame = f"width: 100%; height: {HEIGHT}px; border: 0"
        return f'<iframe title="{escape(self.title)}" style="{frame}" srcdoc="{escape(self.html)}"></iframe>'

    def __repr__(self) -> str:
        return f"<{self.title}: {len(self.html) / 1e6:.2f} MB; save(path) writes the page>"


def playback(
    sample: Sample,
    belief: Belief | None = None,
    about: str = "",
    verdict: Sequence[Line] = (),
    shown: Sample | None = None,
    names: Sequence[str] = (),
) -> Playback:
    """The page of a sample.

    Args:
        sample: A run of an algorithm; where there is a belief, the one that the network was given.
        belief: What a network predicted of it; None shows the algorithm alone.
        about: Where all that comes from, in one line.
        verdict: What is said of the answer, above the picture.
        shown: The same run under other numbers, where the network was given them in another range.
        names: What the nodes are called, where they have names.
    """
    title = f"{sample.task}, {sample.nodes} nodes"
    html = Template(_part("page.html")).substitute(
        title=escape(title),
        task=escape(sample.task),
        about=escape(about),
        verdict="".join(map(_line, verdict)),
        style=_part("page.css"),
        data=_embedded(page_data(sample, belief, shown or sample, names)),
        program="\n".join(_part(f"{name}.js") for name in PARTS),
    )
    return Playback(title, html, [line.text for line in verdict if line.term == "notes"])


def _line(line: Line) -> str:
    step = "" if line.step is None else f' <button class="link" data-step="{line.step}">show step {line.step}</button>'
    tone = f' class="{line.tone}"' if line.tone else ""
    return f"<dt>{escape(line.term)}</dt><dd{tone}>{line.mark}{escape(line.text)}{step}</dd>"


def _embedded(data: Any) -> str:
    """JSON that no string in it can end: `</script>` and `<!--` have no < any more."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


@cache
def _part(name: str) -> str:
    return (resources.files("rnar.inference.page") / "parts" / name).read_text("utf-8")
