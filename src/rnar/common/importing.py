"""What is named by its place, `module:attribute`: a model, a schedule, a task of a user's own."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any


def imported(name: str, what: str) -> Any:
    """What `module:attribute` names, also in a module of the current folder. `what` it should be is for the errors."""
    path, _, attribute = name.partition(":")
    if not all(part.isidentifier() for part in (*path.split("."), attribute)):
        raise ValueError(f"{name!r} does not name a {what} in a module, as my_{what}s:mine would")
    if os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())
    try:
        module = importlib.import_module(path)
    except ImportError as error:
        raise ValueError(f"cannot import {path!r} for the {what} {name!r}: {error}") from error
    if not hasattr(module, attribute):
        known = ", ".join(key for key in vars(module) if not key.startswith("_"))
        raise ValueError(f"{path!r} has no {what} {attribute!r}; it has {known or 'nothing'}")
    return getattr(module, attribute)
