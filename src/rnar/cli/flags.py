"""Flags: what stands for their values in the help, and what is said there of their defaults."""

from dataclasses import field, fields, make_dataclass
from typing import Annotated, Any

import tyro
from msgspec import inspect

from rnar.training.settings import LISTS, SETTINGS, TYPES, Settings


def flag(metavar: str, default: str | None = None, **more: Any) -> Any:
    """A flag that may be left out, and what its help says of that."""
    hint = f"(default: {default})" if default else ""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint=hint, **more)


def settings_flags(hidden: tuple[str, ...] = (), **words: str) -> Any:
    """Makes a parameter of a command a flag for each setting that is not hidden; `words` tell another default of some.

    Values are kept as they are written, for `Settings` reads text. The docstrings of its fields are the help.
    """
    made = [_flag(name, name in hidden, words.get(name)) for name in (*SETTINGS, "complete")]
    namespace = {"__doc__": Settings.__doc__, "__post_init__": lambda self: None}
    return tyro.conf.arg(
        constructor=make_dataclass("Settings", made, bases=(Settings,), namespace=namespace, frozen=True)
    )


def given(flags: Settings) -> dict[str, Any]:
    """The settings that were given by flags, as they were written."""
    return {each.name: value for each in fields(flags) if (value := getattr(flags, each.name)) not in (None, (), False)}


def _flag(name: str, hidden: bool, words: str | None) -> tuple[str, Any, Any]:
    """The field of a setting, which says how it is written."""
    if hidden or name == "complete":
        return name, Annotated[Any, tyro.conf.Suppress, tyro.conf.Fixed], field(default=None)
    metadata, kind = SETTINGS[name].metadata, TYPES[name]
    if kind is bool and SETTINGS[name].default is False:
        return name, Annotated[bool, tyro.conf.FlagCreatePairsOff], field(default=False)
    metavar = metadata["metavar"] or _metavar(kind)
    if metadata.get("positional"):
        return name, Annotated[tuple[str, ...], tyro.conf.Positional, flag(metavar)], field(default=())
    aliases = ["--" + alias.replace("_", "-") for alias in metadata.get("aliases", ()) if alias != metadata.get("name")]
    more = dict(name=metadata.get("name"), aliases=aliases)
    words = words or metadata["words"]
    if name in LISTS:
        return name, Annotated[tuple[str, ...], flag(metavar, words, **more)], field(default=())
    return name, Annotated[str | None, flag(metavar, words, constructor=str, **more)], field(default=None)


METAVARS: dict[type, str] = {
    inspect.IntType: "INT",
    inspect.FloatType: "NUMBER",
    inspect.BoolType: "{True,False}",
    inspect.VarTupleType: "INT...",
}


def _metavar(kind: Any) -> str:
    """What stands for a value of that type, or of the same with None."""
    found = inspect.type_info(kind)
    if isinstance(found, inspect.UnionType):
        found = found.types[0]
    if isinstance(found, inspect.LiteralType):
        return "{" + ",".join(map(str, found.values)) + "}"
    return METAVARS[type(found)]
