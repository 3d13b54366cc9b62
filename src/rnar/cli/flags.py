"""Flags: what stands for their values in the help, and what is said there of their defaults."""

from dataclasses import Field, field, fields, make_dataclass
from typing import Annotated, Any, get_type_hints

import tyro


def flag(metavar: str, default: str | None = None, text: bool = False, name: str | None = None) -> Any:
    """A flag that may be left out, and what its help says of that. `text`: its value is taken as it is written."""
    hint = f"(default: {default})" if default else ""
    return tyro.conf.arg(name=name, metavar=metavar, help_behavior_hint=hint, constructor=str if text else None)


def flags_of(settings: type, hidden: tuple[str, ...] = ()) -> Any:
    """Makes a parameter of a command a flag for each field of a dataclass, but for those that are hidden.

    Fields say their words by `rnar.training.settings.asked`; their docstrings are the help.
    """
    types = get_type_hints(settings)
    made = [
        (each.name, Annotated[(types[each.name], *_words(each, each.name in hidden))], field(default=each.default))
        for each in fields(settings)
    ]
    same: Any = dict(bases=(settings,), namespace={"__doc__": settings.__doc__}, frozen=True)
    return tyro.conf.arg(constructor=make_dataclass(settings.__name__, made, **same))


def _words(each: Field[Any], hidden: bool) -> tuple[Any, ...]:
    """What tyro is told of a field besides its type."""
    if hidden:
        return tyro.conf.Suppress, tyro.conf.Fixed
    words = each.metadata
    if words.get("positional"):
        return tyro.conf.Positional, tyro.conf.arg(metavar=words["metavar"])
    said = {key: words[key] for key in ("text", "name") if key in words}
    return (flag(words["metavar"], words["words"], **said) if words else tyro.conf.arg(),)
