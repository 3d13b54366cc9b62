"""What is wrong with an algorithm that numba cannot compile, in one line that names the algorithm's own."""

import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core.errors import NumbaError, UnsupportedBytecodeError

ERRORS = (NumbaError, UnsupportedBytecodeError)
NOISE = ("Failed in", "During:", "File ", "There are ", "Known signatures", "No implementation of function")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")  # numba's, where colorama is installed
PLACE = re.compile(r'File "(?P<file>[^"\n]+)", line (?P<line>\d+)')


def uncompiled(error: Exception, function: Callable[..., Any]) -> ValueError:
    """Returns an error that says where and why the function of an algorithm cannot be compiled."""
    text = COLOURS.sub("", str(error))
    file, line = _place(text, function)
    return ValueError(f"{file}, line {line}, in {function.__name__}: numba cannot compile this: {_reason(text)}")


def function_of(run: Any) -> Callable[..., Any]:
    """The function of a user, of what `over_all` made of it."""
    return inspect.getclosurevars(run.py_func).nonlocals["one"].py_func


def _place(text: str, function: Callable[..., Any]) -> tuple[str, int]:
    """The innermost line that is told of the function's own file; else where the function begins."""
    own = Path(inspect.getfile(function))
    lines, first = inspect.getsourcelines(function)
    for found in PLACE.finditer(text):
        if Path(found["file"]).name == own.name:
            return str(own), int(found["line"])
    unknown = re.search(r"name '(\w+)' is not defined", text)
    using = [k for k, line in enumerate(lines) if unknown and re.search(rf"\b{unknown[1]}\b", line)]
    return str(own), first + (using[0] if using else 0)


def _reason(text: str) -> str:
    """The first lines that say something of the code, and not of numba."""
    lines = [line.strip().removesuffix(" Raised from None").rstrip(".") for line in text.splitlines()]
    said = [line for line in lines if line and line.strip("-^ >.") and not line.startswith(NOISE)]
    return said[0].replace(">>> ", "it knows no ") if said else "it gives no reason"
