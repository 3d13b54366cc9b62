"""Docstrings that are made of what stands below each field in the source, so that nothing is written twice."""

import ast
import inspect
import textwrap
from typing import Any, TypeVar

Class = TypeVar("Class", bound=type)
WIDTH = 112


def documented(made: Class) -> Class:
    """The same dataclass; its docstring, which `help` shows, lists its fields with their meaning."""
    if made.__doc__ and (listed := arguments(made)):
        made.__doc__ = f"{inspect.cleandoc(made.__doc__)}\n\nArgs:\n{listed}\n"
    return made


def arguments(made: type) -> str:
    """The fields of a dataclass as a docstring has arguments; "" where there is no source."""
    try:
        tree: Any = ast.parse(textwrap.dedent(inspect.getsource(made)))
    except (OSError, SyntaxError):
        return ""
    lines, body = [], tree.body[0].body
    for field, text in zip(body, body[1:], strict=False):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(meaning))):
                words = f"{name}: {' '.join(meaning.split())}"
                lines.append(textwrap.fill(words, WIDTH, initial_indent="    ", subsequent_indent="        "))
    return "\n".join(lines)
