"""Problems of a user's own, as words of a command: JSON, numbers, letters, files, standard input."""

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from rnar.clrs import find
from rnar.clrs.own import Own
from rnar.common.files import read
from rnar.common.memory import check_memory

STDIN = "-"
PAIR_BYTES = 1500  # of a step of RNAR with 128 features: see benchmarks/memory_of_commands.py
ENDS = {"source", "target", "from", "to", "src", "dst", "u", "v", "node1", "node2"}
"""what the columns of edges are usually called"""
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


def given(
    task: str, words: tuple[str, ...], random: dict[str, Any], edges: str | None = None, solves: bool = False
) -> Own | None:
    """The problem that words give, or words and a list of edges; None without any, where it is a random one.

    Without importing torch, what cannot be drawn is refused, and if the network that ships `solves` it, also what is
    far too large for it.
    """
    if not words and edges is None:
        options = {name: value for name, value in random.items() if name not in ("n", "seed", "sample")}
        if (n := random.get("n")) is not None:
            find(task).check(n, 1, options)
            what = f"{task}: {n:,} nodes are too many for the network that ships: the features of a step"
            check_memory(PAIR_BYTES * n**2 if solves else 0, what)
        return None
    if random:
        name = next(iter(random)).replace("_", "-")
        raise ValueError(f"--{name} is about random problems and means nothing with {'INPUT' if words else '--edges'}")
    return own(task, words, edges)


def own(task: str, words: tuple[str, ...], edges: str | None = None) -> Own:
    """The problem that words give; a word is one argument, or all of them.

    A word is JSON; or numbers with commas or spaces between them, in several lines for a matrix; or letters; or the
    name of a file with any of these, or of a .npy file (`@name` always is one); or `-`, what comes from standard input.
    Several numbers where one list is wanted are that list. `edges` is a word too, that of a graph.
    """
    if (count := [*words, edges].count(STDIN)) > 1:
        raise ValueError(f"standard input can be read once, but {STDIN} was given {count} times")
    takes = find(task).problem.takes()
    if edges is not None and takes[0] != "A":
        raise ValueError(f"--edges is about graphs, and {task} takes {', '.join(takes)}")
    graph = [] if edges is None else [{"edges": value_of(edges, edges_of)}]
    plain = (0 if graph else 1) if takes == ("A", "s") else len(words)  # what comes later is a node, perhaps a name
    return of_values(task, [*graph, *map(value_of, words[:plain]), *map(named_node, words[plain:])])


def of_values(task: str, values: list[Any]) -> Own:
    """The problem whose arguments these are, or whose arguments are all in one of them."""
    algorithm = find(task)
    if len(values) == 1 and isinstance(values[0], dict):
        return algorithm.own(**values[0])
    takes = algorithm.problem.takes()
    if len(takes) == 1 and len(values) > 1 and all(isinstance(value, (int, float)) for value in values):
        values = [values]
    try:
        return algorithm.own(*values)
    except ValueError:
        if len(values) != 1 or not isinstance(values[0], list) or not values[0]:
            raise
        (listed,) = values  # of all arguments
        if len(listed) == len(takes) > 1 and not (takes[-1] == "s" and isinstance(listed[-1], list)):
            return algorithm.own(*listed)
        with suppress(ValueError):
            return algorithm.own(*listed)
        raise


def value_of(word: str, parse: Callable[[str, str], Any] | None = None) -> Any:
    """What one word gives."""
    parse = parse or parsed
    if word == STDIN:
        return parse(sys.stdin.read(), "standard input")
    path = Path(word.removeprefix("@"))
    if not word.startswith("@") and not (len(path.suffix) > 1 and not path.suffix[1:].isdigit() and path.is_file()):
        return parse(word, "")
    return np.load(path).tolist() if path.suffix == ".npy" else parse(read(path, pipes=True).decode(), str(path))


def named_node(word: str) -> Any:
    """A number, or else the name of a node."""
    try:
        return value_of(word)
    except ValueError:
        return word


def edges_of(text: str, where: str) -> Any:
    """The rows of a list of edges: JSON, or lines of two or three words, the first of which may be a header."""
    with suppress(ValueError, RecursionError):
        return json.loads(text)
    mark = next((mark for mark in ",;\t" if mark in text), None)
    lines = text.removeprefix("\ufeff").splitlines()
    split = csv.reader(lines, delimiter=mark, skipinitialspace=True) if mark else map(str.split, lines)
    rows = [words for row in split if any(words := [word.strip() for word in row]) and not words[0].startswith("#")]
    for number, row in enumerate(rows, 1):
        if len(row) not in (2, 3):
            place = f"row {number}{f' of {where}' if where else ''}"
            raise ValueError(
                f"{place} has {len(row)} words ({' '.join(row)[:40]}); an edge is two nodes, or a weight too"
            )
    return rows[1:] if rows and _is_header(rows[0], rows[1:]) else rows


def _is_header(first: list[str], rows: list[list[str]]) -> bool:
    """True if the first row names columns and no nodes: those of edges come again, or are as others are."""
    ends, weights, others = first[:2], first[2:], [end for row in rows for end in row[:2]]
    if set(ends) & set(others):
        return False
    if weights:
        return not _is_number(weights[0])
    are_numbers = bool(others) and all(map(_is_number, others)) and not any(map(_is_number, ends))
    return are_numbers or {end.lower() for end in ends} <= ENDS


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


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
        place, hint = f" in {where}" if where else "", "; a list of edges is given with --edges" if "\n" in text else ""
        raise ValueError(f"{text[:40]!r}{place} is neither JSON nor numbers nor letters nor a file{hint}") from None
    return rows if len(rows) > 1 else rows[0]


def lines_of(source: str) -> Iterator[tuple[int, str]]:
    """The lines of a file, or of standard input, with their numbers from 1 on; empty ones are left out."""
    lines = sys.stdin if source == STDIN else io.StringIO(read(Path(source), pipes=True).decode())
    return ((number, line) for number, line in enumerate(lines, 1) if line.strip())


def of_line(task: str, text: str) -> Own:
    """A problem on a line of its own: JSON, of its arguments by name, or in a list, or of its only one."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from None
    return of_values(task, [value])
