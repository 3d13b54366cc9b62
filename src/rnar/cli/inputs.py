"""Problems of a user's own, as words of a command: JSON, numbers, letters, files, standard input."""

import io
import json
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from rnar.clrs import find
from rnar.common.files import read
from rnar.inference.problem import Problem

STDIN = "-"
EXAMPLES = {
    "string": "ATCGATC GAT",
    "f": "'[0, 2, 1]' '[1, 3, 4]'",
    "w": "'[1, 2, 2]' '[3, 1, 2]'",
    "q": "'[0.2, 0.3]' '[0.1, 0.2, 0.2]'",
    "s": "'[[0, 1], [1, 0]]' 0",
    "A": "'[[0, 1], [1, 0]]'",
    "target": "'[1, 3, 5]' 3",
    "key": "5 2 9",
    "p": "5 2 9",
    "x": "'[0, 2, 1, 3]' '[0, 1, 3, 2]'",
}
"""of how a problem is given, by one of its inputs, the first that it has"""


def example(task: str) -> str:
    """How a problem of this task may be given."""
    problem = find(task).problem
    takes = " ".join(problem.takes()).upper()
    words = next((words for name, words in EXAMPLES.items() if name in problem.inputs), None)
    if words and getattr(problem, "acyclic", False):
        words = words.replace("[1, 0]", "[0, 0]")  # an edge and no way back
    return f"{takes}, as in {words}" if words else takes


def given_problem(task: str, words: tuple[str, ...], random: dict[str, Any]) -> Problem:
    """The problem that words give; without words a random one, with these options."""
    if not words:
        return Problem.random(task, **random)
    if random:
        name = next(iter(random)).replace("_", "-")
        raise ValueError(f"--{name} is about random problems and means nothing with INPUT")
    return problem(task, words)


def problem(task: str, words: tuple[str, ...]) -> Problem:
    """The problem that words give; a word is one argument, or all of them.

    A word is JSON; or numbers with commas or spaces between them, in several lines for a matrix; or letters; or the
    name of a file with any of these, or of a .npy file (`@name` always is one); or `-`, what comes from standard input.
    Several numbers where one list is wanted are that list.
    """
    if words.count(STDIN) > 1:
        raise ValueError(f"standard input can be read once, but {STDIN} was given {words.count(STDIN)} times")
    return of_values(task, [value_of(word) for word in words])


def of_values(task: str, values: list[Any]) -> Problem:
    """The problem whose arguments these are, or whose arguments are all in one of them."""
    if len(values) == 1 and isinstance(values[0], dict):
        return Problem.own(task, **values[0])
    takes = find(task).problem.takes()
    if len(takes) == 1 and len(values) > 1 and all(isinstance(value, (int, float)) for value in values):
        values = [values]
    try:
        return Problem.own(task, *values)
    except ValueError:
        if len(values) != 1 or not isinstance(values[0], list) or not values[0]:
            raise
        (listed,) = values  # of all arguments, as `rnar data show --input` takes it
        if len(listed) == len(takes) > 1:
            return Problem.own(task, *listed)
        with suppress(ValueError):
            return Problem.own(task, *listed)
        raise


def value_of(word: str) -> Any:
    """What one word gives."""
    if word == STDIN:
        return parsed(sys.stdin.read(), "standard input")
    path = Path(word.removeprefix("@"))
    if not word.startswith("@") and not (len(path.suffix) > 1 and not path.suffix[1:].isdigit() and path.is_file()):
        return parsed(word, "")
    return np.load(path).tolist() if path.suffix == ".npy" else parsed(read(path, pipes=True).decode(), str(path))


def parsed(text: str, where: str) -> Any:
    """JSON; or numbers, a list of lists if they stand in several lines; or letters."""
    text = text.strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if not text:
        raise ValueError(f"{where or 'the input'} is empty; give a problem as JSON, as numbers or as letters")
    try:
        rows = [[float(part) for part in line.replace(",", " ").split()] for line in text.splitlines()]
    except ValueError:
        if text.isalpha():
            return text
        place = f" in {where}" if where else ""
        raise ValueError(f"{text[:40]!r}{place} is neither JSON nor numbers nor letters nor a file") from None
    return rows if len(rows) > 1 else rows[0]


def lines_of(source: str) -> Iterator[tuple[int, str]]:
    """The lines of a file, or of standard input, with their numbers from 1 on; empty ones are left out."""
    lines = sys.stdin if source == STDIN else io.StringIO(read(Path(source), pipes=True).decode())
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())


def of_line(task: str, text: str) -> Problem:
    """A problem on a line of its own: JSON, of its arguments by name, or in a list, or of its only one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    return of_values(task, [value])
