"""`rnar networks`: the pretrained networks that come with the package."""

import json as writer
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import tyro
from rich.table import Column, Table
from rich.text import Text

from rnar.cli.flags import flag
from rnar.cli.output import screen
from rnar.common.durations import took
from rnar.inference import pretrained
from rnar.inference.pretrained import Card, copy_run
from rnar.training.run import NETWORKS, read_config

CAPTION = (
    "\nScore: the benchmark's micro-F1 in percent of the network as it is stored, on the official test (n=64) or its "
    "first samples, with its 95% interval. rnar networks NAME tells how one was trained, rnar solve TASK uses it."
)


def networks(
    name: Annotated[str | None, tyro.conf.Positional, flag("NAME", "all")] = None,
    copy: Annotated[Path | None, flag("FOLDER")] = None,
    json: bool = False,
) -> None:
    """The pretrained networks: their scores, steps and sizes; of one of them, how it was trained.

    Args:
        name: One of them.
        copy: Make a run of it in this folder, which `rnar train` takes further.
        json: All that is known of each as a line of JSON.
    """
    chosen = pretrained.names() if name is None else [pretrained.folder_of(name).name]
    console = screen()
    if copy is not None:
        if name is None:
            raise ValueError(f"which network shall be copied? there are {', '.join(chosen)}")
        command = copy_run(pretrained.home() / chosen[0], copy)
        console.print(f"{copy} can be trained further:\n{command}", soft_wrap=True)
    elif json:
        for one in chosen:
            known = {key: value for key, value in _card(one).plain().items() if key != "probes"}
            print(writer.dumps({"name": one, "folder": str(pretrained.home() / one), **known}))
    elif name is None:
        console.print(table(chosen))
        console.print(Text(CAPTION, "dim"))
    else:
        for term, text in details(chosen[0]):
            console.print(Text.assemble((f"{term:10}  ", "dim"), text), soft_wrap=True)


def table(names: list[str]) -> Table:
    """Scores, steps and sizes."""
    left = [Column(head, no_wrap=True) for head in ("network", "model")]
    heads = ("score", "95% interval", "samples", "steps", "MB")
    right = [Column(head, justify="right", no_wrap=True) for head in heads]
    page = Table(*left, *right, box=None, pad_edge=False, collapse_padding=True, header_style="dim")
    for name in names:
        card, size = _card(name), f"{pretrained.megabytes(pretrained.home() / name):.1f}"
        for task, test in card.tests.items():
            named = name if len(card.tests) == 1 else f"{name}: {task}"
            score, interval = Text(_percent(test.score), "bold"), "–".join(map(_percent, test.interval))
            page.add_row(named, card.model, score, interval, f"{test.samples:,}", f"{card.step:,}", size)
    return page


def details(name: str) -> Iterator[tuple[str, str]]:
    """How a network was trained, what it scores and how it is used: terms and texts."""
    card, folder = _card(name), pretrained.home() / name
    config = read_config(folder)
    yield "network", name
    yield "model", f"{card.model}, {card.size} wide, seed {card.seed}"
    for task, test in card.tests.items():
        interval = " to ".join(map(_percent, test.interval))
        samples = "the official test" if card.whole else f"the first {test.samples} samples of the official test"
        yield "score", f"{task}: {_percent(test.score)} (95% interval {interval}) on {samples}, n=64"
    if card.validation is not None:
        yield "validation", f"{_percent(card.validation)}, n=16"
    kept = NETWORKS[card.which] + (f" after {card.step:,} steps" if card.which != "last" else "")
    samples = f"{card.steps:,} steps of {config['settings']['batch']} samples"
    yield "training", f"{samples} in {took(60 * card.minutes)}; {kept}"
    for task, data in config["data"].items():
        options = "".join(f"; {option} = {_listed(value)}" for option, value in data["options"].items())
        yield "data", f"{task}: n = {_listed(data['sizes'])}{options}"
    if card.commit:
        yield "commit", card.commit
    yield "folder", f"{folder}, {pretrained.megabytes(folder):.1f} MB"
    yield "use", f'rnar solve {card.tasks[0]} --network {name}; rnar.load("{name}")'
    yield "train on", f"rnar networks {name} --copy FOLDER"


def _card(name: str) -> Card:
    card = pretrained.read_card(pretrained.home() / name)
    assert card is not None
    return card


def _percent(share: float) -> str:
    return f"{100 * share:.1f}"


def _listed(value: Any) -> str:
    return ", ".join(f"{x:g}" for x in value) if isinstance(value, list) else str(value)
