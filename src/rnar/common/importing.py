"""What users have written themselves, by the name `module:attribute`."""

import importlib
import os
import sys
from contextlib import redirect_stdout
from types import ModuleType
from typing import TypeVar

from rnar.common.blame import place_of

Kind = TypeVar("Kind")


def imported(name: str, kind: type[Kind], what: str, example: str) -> Kind:
    """The object of that kind that `module:attribute` names; the module may also stand in the current folder.

    `what` such an object is called, and an `example` of a name, are for the errors.
    """
    path, _, attribute = name.partition(":")
    if not all(part.isidentifier() for part in (*path.split("."), attribute)):
        raise ValueError(f"{name!r} does not name {_a(what)} in a module, as {example} would")
    module = import_module(path, f"the {what} {name!r}")
    value = getattr(module, attribute, None)
    if not isinstance(value, kind):
        others = ", ".join(key for key, other in vars(module).items() if isinstance(other, kind))
        raise ValueError(f"{path!r} has no {what} {attribute!r}; it has {others or 'none'}")
    return value


def import_module(path: str, purpose: str) -> ModuleType:
    """A module, also from the current folder. Whatever goes wrong in it is an error of one line that says for what."""
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        with redirect_stdout(sys.stderr):  # what it prints is not to stand among our output, which may be JSON
            return importlib.import_module(path)
    except ModuleNotFoundError as error:
        raise ValueError(f"cannot import {path!r} for {purpose}: {error}") from error
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # the module is not ours: anything may be wrong with it, and it may even exit
        said = error.msg if isinstance(error, SyntaxError) else error
        where = f" ({place})" if (place := place_of(error)) else ""
        raise ValueError(f"cannot import {path!r} for {purpose}: {type(error).__name__}: {said}{where}") from error


def _a(what: str) -> str:
    return f"an {what}" if what[0] in "aeiou" else f"a {what}"
