"""The networks that come with this package.

    networks/TASK/config.json            of the run that it is from: `rnar networks TASK --copy FOLDER` lets it go on
    networks/TASK/best.safetensors       its weights, as float16
    networks/TASK/card.json              what it scored as stored here, and how it was made

So each is the folder of a run, which lacks only what is needed to go on bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from rnar.common.names import nearest
from rnar.training.files import read_json
from rnar.training.result import Tested
from rnar.training.run import BEST, read_config

CARD = "card.json"


@dataclass(frozen=True)
class Card:
    """What is known of a network that ships."""

    tasks: tuple[str, ...]
    model: str
    size: int
    seed: int
    which: str
    """the selected network of its run (best), the last, or the average of the weights"""
    step: int
    """after how many steps it was there"""
    steps: int
    """how many the run had taken then"""
    minutes: float
    """of training, up to these steps"""
    validation: float | None
    """its score at n=16 while it was trained"""
    commit: str | None
    """of the sources that trained it last"""
    tests: dict[str, Tested]
    """by task: on the official test set (n=64), as stored here"""
    whole: bool
    """Were all samples of the official sets taken, and not the first so many?"""
    probes: dict[str, list[dict[str, Any]]]
    """by task: the scores of a few samples, at n=64 (None) and n=16, so that tests can compare"""
    source: str
    """a digest of the weights it was made of"""

    def plain(self) -> dict[str, Any]:
        return msgspec.to_builtins(self)

    @staticmethod
    def from_plain(plain: dict[str, Any]) -> Card:
        return msgspec.convert(plain, Card)


def home() -> Path:
    """The folder that they lie in."""
    return Path(str(resources.files("rnar"))) / "networks"


def names() -> list[str]:
    """Those that ship: most are called as their task is."""
    return sorted(card.parent.name for card in home().glob(f"*/{CARD}"))


def folder_of(name: str) -> Path:
    """Where the network of that name lies."""
    if name not in names():
        raise ValueError(unknown(name))
    return home() / name


def unknown(name: str) -> str:
    """What is said where there is no such network."""
    known = ", ".join(names()) or "none"
    return f"no network {name!r}{nearest(name, names())} ships with rnar; those that do: {known}"


def read_card(folder: Path) -> Card | None:
    """What is written of a network; None for a run of a user's own."""
    path = folder / CARD
    return Card.from_plain(read_json(path, Card)) if path.is_file() else None


def megabytes(folder: Path) -> float:
    return (folder / BEST).stat().st_size / 1e6


def for_task(task: str) -> Path | None:
    """The folder of a network that ships and has learned a task, if there is one."""
    found = [home() / name for name in names() if task in read_config(home() / name)["settings"]["tasks"]]
    return next((path for path in found if path.name == task), found[0] if found else None)
