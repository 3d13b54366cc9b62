"""The pretrained networks that come with this package.

    networks/NAME/config.json            of the run that it is from
    networks/NAME/best.safetensors       its weights, as float16
    networks/NAME/card.json              what it scored as stored here, and how it was trained

Each is a run folder that lacks only what is needed to resume training bit for bit; `copy_run` makes a run of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from rnar.common.names import nearest
from rnar.training.files import pack, read_json, write
from rnar.training.result import Tested
from rnar.training.run import BEST, CONFIG, STATE, Run, Which
from rnar.training.settings import Resolved, Settings

CARD = "card.json"


@dataclass(frozen=True)
class Card:
    """What is known of a pretrained network."""

    tasks: tuple[str, ...]
    model: str
    size: int
    seed: int
    which: Which
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
    """True if all samples of the official sets were taken, and not the first so many"""
    probes: dict[str, list[dict[str, Any]]]
    """by task: the scores of a few samples, at n=64 (None) and n=16, so that tests can compare"""
    source: str
    """a digest of the weights it was made of"""

    def plain(self) -> dict[str, Any]:
        return msgspec.to_builtins(self)


def home() -> Path:
    """The folder of all pretrained networks."""
    return Path(str(resources.files("rnar"))) / "networks"


def names() -> list[str]:
    """The names of all pretrained networks; most are called as their task is."""
    return sorted(card.parent.name for card in home().glob(f"*/{CARD}"))


def folder_of(name: str) -> Path:
    """The folder of the network of that name: `mst_prim`, also `MST-Prim`."""
    known = names()
    for spelling in (name, name.lower(), re.sub("[- ]", "_", name.lower())):
        if spelling in known:
            return home() / spelling
    listed = ", ".join(known) or "none"
    raise ValueError(f"no network {name!r}{nearest(name, known)} ships with rnar; those that do: {listed}")


def run_folder(network: str | Path) -> Path:
    """The folder of a run, given as such or by the name of a pretrained network."""
    path = Path(network)
    if (path / CONFIG).is_file():
        return path
    try:
        return folder_of(str(network))
    except ValueError as error:
        if not path.is_dir():
            raise ValueError(f"there is no folder {network}, and {error}") from None
    below = sorted(config.parent for config in path.rglob(CONFIG))
    there = f"below it are {', '.join(map(str, below[:3]))}" if below else "there is none below it either"
    raise ValueError(f"{network} is no folder of a run: it has no {CONFIG}; {there}")


def read_card(folder: Path) -> Card | None:
    """The card of a pretrained network; None for a run of a user's own."""
    path = folder / CARD
    return msgspec.convert(read_json(path, Card), Card) if path.is_file() else None


def megabytes(folder: Path) -> float:
    return (folder / BEST).stat().st_size / 1e6


def for_task(task: str) -> Path | None:
    """The folder of the pretrained network for a task: that of the task's name, else the first that has learned it."""
    folders = (home() / name for name in (task, *names()))
    return next((folder for folder in folders if (card := read_card(folder)) and task in card.tasks), None)


def copy_run(folder: Path, into: Path) -> str:
    """Make a run folder of a pretrained network; returns the command with which training goes on there.

    Its weights are those that ship. Adam's moments begin anew, and the data go on where they were.
    """
    run, card = Run(folder), read_card(folder)
    if card is None:
        raise ValueError(f"{folder} is no network that ships: it has no {CARD}")
    if into.exists() and any(into.iterdir()):
        raise ValueError(f"{into} is not empty; choose another folder")
    weights, score = run.network().state_dict(), card.validation or 0.0
    roles = ["weights", f"candidate/{card.step}", *(["average"] if run.settings.average is not None else [])]
    notes = dict(
        step=card.step,
        candidates=[{"score": score, "step": card.step}],
        streams={task: {**data, "next": card.step} for task, data in run.config["data"].items()},
        sums={},
        summed=0,
        seconds=60 * card.minutes,
        memory_mb=0.0,
    )
    into.mkdir(parents=True, exist_ok=True)
    write(into / STATE, pack({f"{role}/{name}": x.clone() for role in roles for name, x in weights.items()}, notes))
    write(into / BEST, pack(weights, {"step": card.step, "validation": score}))
    write(into / CONFIG, (folder / CONFIG).read_bytes())
    return _command(run.settings, card.step, into)


def _command(settings: Resolved, step: int, into: Path) -> str:
    """`rnar train` with those settings that are not as they usually are."""
    usual = Settings(settings.tasks, settings.model, seed=settings.seed).resolved().plain()
    own = {**settings.plain(), "steps": settings.steps if settings.steps > step else 2 * step}
    words = [f"rnar train {' '.join(settings.tasks)} --model {settings.name} --seed {settings.seed} --folder {into}"]
    for name, value in own.items():
        if value != usual[name]:
            none = "all" if name == "test_samples" else "inf"
            text = " ".join(map(str, value)) if isinstance(value, list) else none if value is None else value
            words.append(f"--{name.replace('_', '-')} {text}")
    return " ".join(words)
