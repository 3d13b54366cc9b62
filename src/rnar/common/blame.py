"""Where in somebody's own code an error arose."""

import inspect
import sysconfig
import traceback
from collections.abc import Callable
from pathlib import Path

_PATHS = sysconfig.get_paths()
_INSTALLED = [Path(__file__).parents[1], *(Path(_PATHS[name]) for name in ("stdlib", "purelib", "platlib"))]


def place_of(error: BaseException) -> str:
    """`my_models.py, line 12, in forward`: the last place in code that is not installed; empty if there is none."""
    if isinstance(error, SyntaxError) and error.filename and _is_own(error.filename):
        return f"{error.filename}, line {error.lineno}"
    noted = vars(error).get("place", "")
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(frame.filename)]
    return f"{frames[-1].filename}, line {frames[-1].lineno}, in {frames[-1].name}" if frames else noted


def definition_of(x: Callable[..., object]) -> str:
    """` (my_models.py, line 3)`: where a function or class of somebody's own is written; empty if it is not known."""
    try:
        file, line = inspect.getfile(x), inspect.getsourcelines(x)[1]
    except (OSError, TypeError):
        return ""
    return f" ({file}, line {line})" if _is_own(file) else ""


def with_place(error: BaseException) -> BaseException:
    """The same error, which remembers its place when it is sent to another process."""
    vars(error)["place"] = place_of(error)
    return error


def _is_own(file: str) -> bool:
    path = Path(file)
    return path.is_file() and not any(path.is_relative_to(folder) for folder in _INSTALLED)
