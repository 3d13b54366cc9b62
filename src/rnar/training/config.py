"""Settings in a file of JSON or TOML: `rnar train --config FILE`."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from rnar.common.files import read, write
from rnar.training.settings import HOW, RENAMED, Settings, as_json, canonical


def read_settings(path: Path) -> dict[str, Any]:
    """The settings that a file gives, by their names; the config.json of a run is such a file, too."""
    kind = _module(path)
    try:
        content = kind.decode(read(path, pipes=True))
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise ValueError(f"{path} cannot be read as {kind.__name__[8:].upper()}: {error}") from None
    if isinstance(content, dict) and isinstance(content.get("settings"), dict):
        content = content["settings"]
    if not isinstance(content, dict):
        kind = type(content).__name__
        raise ValueError(f"{path} must have names and values of settings, as in steps = 500; it has a {kind}")
    try:
        settings = canonical({RENAMED[name] if name in RENAMED else name: value for name, value in content.items()})
        Settings(**settings)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return {**settings, "clip": math.inf} if settings.get("clip", 0) is None else settings  # JSON has no infinity


def write_settings(path: Path, settings: Settings) -> None:
    """Write all settings of a run to a file that is not there yet."""
    if path.exists():
        raise ValueError(f"{path} exists already; choose another name")
    values = {**settings.plain(), **{name: as_json(getattr(settings, name)) for name in HOW}}
    if settings.test_samples is None:  # which in a file would be the default
        values["test_samples"] = "all"
    if settings.path != replace(settings, folder=None).path:
        values["folder"] = str(settings.path)
    if _module(path) is msgspec.json:
        text = json.dumps(values, indent=2)
    else:  # TOML has no null, and else the same numbers, texts and lists
        values["clip"] = values["clip"] or "inf"
        given = {name: value for name, value in values.items() if value is not None}
        text = "\n".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in given.items())
    write(path, f"{text}\n".encode())


def _module(path: Path) -> Any:
    """What reads files of that name."""
    if path.suffix.lower() not in (".json", ".toml"):
        raise ValueError(f"the name of a file of settings ends in .json or .toml, not as {path.name!r} does")
    return msgspec.toml if path.suffix.lower() == ".toml" else msgspec.json
