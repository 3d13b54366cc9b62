"""What of an object is somebody's own code, as digests: a result is of the code that it was computed with.

Walked are the functions and classes that an object refers to, the helpers and constants that they use in turn, and
plain values. Of code that belongs to this package, to torch or to Python only what it was given is of interest: the
rest is told by versions. Comments, blanks and docstrings make no difference.
"""

import ast
import hashlib
import inspect
import sys
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

KNOWN = frozenset({"rnar", "torch", "numpy", "numba", "__builtin__", *sys.stdlib_module_names} - {"__main__"})
"""packages whose code is nobody's own"""
RECIPE = "the recipe"
PLAIN = (int, float, complex, str, bytes, type(None))


def fingerprint(*roots: Any) -> dict[str, str]:
    """A digest for each function, class and constant of somebody's own that these are made of, by name; and one of
    all plain values that they were given, under RECIPE."""
    walk = _Walk()
    for root in roots:
        walk.visit(root)
    return {**dict(sorted(walk.code.items())), RECIPE: _digest("\n".join(walk.values))}


def differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """The names under which two fingerprints differ."""
    return [name for name in {**before, **now} if before.get(name) != now.get(name)]


class _Walk:
    def __init__(self) -> None:
        self.code: dict[str, str] = {}
        self.values: list[str] = []
        self._seen: dict[int, Any] = {}
        """what was visited, kept alive so that no other object takes its place in memory"""

    def visit(self, x: Any) -> None:
        x = getattr(x, "py_func", x)  # what numba has compiled
        if isinstance(x, PLAIN):
            self.values.append(repr(x))
        elif not isinstance(x, ModuleType) and id(x) not in self._seen:
            self._seen[id(x)] = x
            for inner in self._inside(x):
                self.visit(inner)

    def _inside(self, x: Any) -> Iterable[Any]:
        """What an object refers to; its own code is noted."""
        if isinstance(x, Mapping):
            return [part for pair in x.items() for part in pair]
        if isinstance(x, (tuple, list)):
            return x
        if isinstance(x, (set, frozenset)):
            return sorted(x, key=repr)
        if isinstance(x, partial):
            return [x.func, x.args, x.keywords]
        if isinstance(x, FunctionType):
            return self._function(x)
        if isinstance(x, type):
            return self._class(x)
        if is_dataclass(x):
            return [type(x), *_unusual(x)]
        return [type(x), vars(x) if hasattr(x, "__dict__") else ()]

    def _function(self, function: FunctionType) -> list[Any]:
        return [*_given(function), *(self._used(function) if self._note(function) else ())]

    def _class(self, kind: type) -> list[Any]:
        if not self._note(kind):
            return []
        methods = [each for each in vars(kind).values() if isinstance(each, FunctionType)]
        return [*kind.__bases__, *(x for method in methods for x in (*_given(method), *self._used(method)))]

    def _used(self, function: FunctionType) -> Iterable[Any]:
        """The globals that a function names. Constants are noted, for a function may change because one does."""
        for name in _names(function.__code__):
            if name in function.__globals__:
                value = getattr(function.__globals__[name], "py_func", function.__globals__[name])
                if isinstance(value, PLAIN):
                    self.code[f"{function.__module__}.{name}"] = _digest(repr(value))
                elif isinstance(value, (FunctionType, type, partial, tuple, list, dict)):
                    yield value

    def _note(self, x: FunctionType | type) -> bool:
        """Note the code of a function or class, if it is somebody's own."""
        if x.__module__.partition(".")[0] in KNOWN:
            return False
        self.code[f"{x.__module__}.{x.__qualname__}"] = _digest(_source(x))
        return True


def _given(function: FunctionType) -> list[Any]:
    return [cell.cell_contents for cell in function.__closure__ or ()] + [function.__defaults__ or ()]


def _unusual(x: Any) -> list[Any]:
    """What a dataclass was given other than its defaults: so a field that is added later is no difference."""
    found = []
    for each in fields(x):
        makes, value = each.default_factory, getattr(x, each.name)
        usual = each.default if makes is MISSING else makes()
        if each.compare and value is not usual and value != usual:
            found.append(value)
    return found


def _names(code: CodeType) -> Iterable[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _names(inner)


def _source(x: FunctionType | type) -> str:
    """What a function or class does, in text that depends neither on its layout nor on what is said about it."""
    try:
        text = textwrap.dedent(inspect.getsource(x))
    except (OSError, TypeError):  # it was typed at a prompt
        return repr([x.__code__.co_code, x.__code__.co_names]) if isinstance(x, FunctionType) else ""
    try:
        tree = ast.parse(text)
    except SyntaxError:  # a lambda in the middle of an expression
        return text
    for part in ast.walk(tree):
        if isinstance(part, (ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(part) is not None:
            part.body = part.body[1:]
    return ast.dump(tree)


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()
