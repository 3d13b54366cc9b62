"""The API reference: a page for each room, of the names that its `__all__` has, written by mkdocstrings."""

from __future__ import annotations

import importlib
import inspect
from functools import cache
from typing import Any

SECTION = "API"
ROOMS = {
    "rnar": "What a notebook needs; each name is imported when it is first used.",
    "rnar.clrs": "The benchmark.",
    "rnar.nn": "The model in plain PyTorch.",
    "rnar.models": "Models by name.",
    "rnar.runtime": "How a batch is run.",
    "rnar.training": "Training.",
    "rnar.evaluation": "Scores.",
    "rnar.inference": "Pretrained networks, and problems of your own.",
    "rnar.interop": "Networks and data to and from dm-clrs, networkx and PyTorch Geometric.",
}


def navigation() -> list[Any]:
    return [{room: f"api/{room}.md"} for room in ROOMS]


@cache
def pages() -> dict[str, str]:
    """The pages by their paths."""
    return {"api/index.md": overview()} | {f"api/{room}.md": page(room, about) for room, about in ROOMS.items()}


def overview() -> str:
    lines = [f"| [`{room}`]({room}.md) | {about} | {', '.join(f'`{name}`' for name in names(room))} |"
             for room, about in ROOMS.items()]  # fmt: skip
    return "\n".join(["# API reference", "", "| room | | names |", "| --- | --- | --- |", *lines, ""])


def names(room: str) -> list[str]:
    """The functions, classes and modules of a room that are public."""
    module = importlib.import_module(room)
    return [name for name in module.__all__ if not name.startswith("_")]


def page(room: str, about: str) -> str:
    """A page of a room: its classes and functions, then what else it has."""
    module = importlib.import_module(room)
    values = {name: getattr(module, name) for name in names(room)}
    here, rest = [], []
    for name, value in values.items():
        path = path_of(value)
        if path and place_of(path) == room:
            here.append(f"::: {path}")
        elif path:
            rest.append(f"* [`{name}`]({place_of(path)}.md#{path})")
        elif inspect.ismodule(value):
            rest.append(f"* [`{name}`]({value.__name__}.md)")
        else:
            rest.append(f"* `{name}`, of type `{type(value).__name__}`")
    listed = ["## Other names", "\n".join(rest)] if rest else []
    return "\n\n".join([f"# {room}", about, *dict.fromkeys(here), *listed]) + "\n"


def path_of(value: Any) -> str | None:
    """Where a class or function of this package is defined; None for anything else."""
    if not (inspect.isclass(value) or inspect.isfunction(value)) or "<" in value.__qualname__:
        return None
    return f"{value.__module__}.{value.__qualname__}" if value.__module__.startswith("rnar") else None


@cache
def place_of(path: str) -> str:
    """The room whose page documents this; `rnar` where no other has it."""
    for room in (name for name in ROOMS if name != "rnar"):
        module = importlib.import_module(room)
        if path in [path_of(getattr(module, name)) for name in names(room)]:
            return room
    return "rnar"
