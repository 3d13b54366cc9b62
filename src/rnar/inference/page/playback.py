"""The page itself: one file that needs nothing else, with its data inside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rnar.clrs import Feature, Sample, find
from rnar.clrs.naming import classes
from rnar.common.files import appearing
from rnar.inference.page.encoding import Packer, as_shares, rounded, typed
from rnar.inference.page.scene import is_shown_at_first, scene, way_to_draw

if TYPE_CHECKING:
    from rnar.evaluation.beliefs import Belief, Said

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


class Playback:
    """A run that can be watched: in a notebook it shows itself, elsewhere `save` it and open the file."""

    def __init__(self, title: str, html: str):
        self.title, self.html = title, html

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
        belief: What a network believed of it; None shows the algorithm alone.
        about: Where all that comes from, in one line.
        verdict: What is said of the answer, above the picture.
        shown: The same run under other numbers, where the network was given them in another range.
        names: What the nodes are called, where they have names.
    """
    of_inputs = shown or sample
    title = f"{sample.task}, {sample.nodes} nodes"
    packer = Packer()
    picture = scene(of_inputs, names)
    data = {
        "task": sample.task,
        "nodes": sample.nodes,
        "steps": sample.steps,
        "network": belief is not None,
        "scene": picture,
        "features": _features(sample, belief, packer, picture["kind"]),
    }
    data["packed"] = packer.text()
    text = Template(_part("page.html")).substitute(
        title=escape(title),
        task=escape(sample.task),
        about=escape(about),
        verdict="".join(map(_line, verdict)),
        style=_part("page.css"),
        data=_embedded(data),
        program="\n".join(_part(f"{name}.js") for name in PARTS),
    )
    return Playback(title, text)


def _line(line: Line) -> str:
    mark = {"right": "✓ ", "wrong": "✗ "}.get(line.tone, "")
    step = "" if line.step is None else f' <button class="link" data-step="{line.step}">show step {line.step}</button>'
    tone = f' class="{line.tone}"' if line.tone else ""
    return f"<dt>{escape(line.term)}</dt><dd{tone}>{mark}{escape(line.text)}{step}</dd>"


def _embedded(data: Any) -> str:
    """JSON that no string in it can end: `</script>` and `<!--` have no < any more."""
    text = json.dumps(data, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text


@cache
def _part(name: str) -> str:
    return (resources.files("rnar.inference.page") / "parts" / name).read_text("utf-8")


def _features(sample: Sample, belief: Belief | None, packer: Packer, kind: str) -> list[dict[str, Any]]:
    """A description of each feature; its values go into the packer."""
    spec, found = find(sample.task).spec, []
    for stage, features, arrays in (("hint", spec.hints, sample.hints), ("output", spec.outputs, sample.outputs)):
        ways: list[str] = []
        for name, feature in features.items():
            values = arrays[name] if stage == "hint" else np.asarray(arrays[name])[None]
            said = None if belief is None else (belief.hints if stage == "hint" else belief.outputs).get(name)
            way = way_to_draw(name, feature, values, kind)
            found.append(
                {
                    "name": name,
                    "stage": stage,
                    "place": feature.place,
                    "kind": feature.kind,
                    "way": way,
                    "shown": is_shown_at_first(way, ways, values, sample.nodes),
                    "classes": _classes(sample.task, name, feature),
                    "slack": _slack(values) if said and feature.kind == "scalar" else 0,
                    "said": said is not None,
                    "type": _pack(packer, feature, values, said, stage, sample.nodes),
                    "size": int(np.prod(values.shape[1:], dtype=int)),
                }
            )
            ways.append(way)
    return found


def _classes(task: str, name: str, feature: Feature) -> list[str]:
    named = feature.kind == "categorical" or str(feature) == "graph.mask"
    return list(classes(task, name, feature)) if named else []


def _slack(values: np.ndarray) -> float:
    from rnar.evaluation.beliefs import slack  # which needs torch: a page of an algorithm alone does not

    return slack(values)


def _pack(packer: Packer, feature: Feature, values: np.ndarray, said: Said | None, stage: str, nodes: int) -> str:
    """The truth at all steps, what was decided from step 1 on, probabilities: in the order of `parts/data.js`."""
    truth, type_ = typed(values, feature.kind, nodes)
    packer.in_time(truth)
    if said is None:
        return type_
    at_once = stage == "output"
    decided = said.decided[None] if at_once else said.decided
    if feature.kind == "scalar":
        packer.plain(rounded(decided))
        return type_
    packer.beside(typed(decided, feature.kind, nodes)[0], truth if at_once else truth[1:])
    for each in (said.shares,) if said.shares is not None else (said.sure, said.true):
        assert each is not None
        packer.plain(as_shares(each[None] if at_once else each))
    return type_
