"""A problem of a user's own, in the forms that users have, as the arguments that a task takes."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rnar.clrs.own_graphs import NODE_LINK, as_matrix, is_graph, is_list_of_edges
from rnar.clrs.problems.problem import Arguments, Problem
from rnar.common.checking import shown
from rnar.common.names import nearest

OF_GRAPHS = (*NODE_LINK, "nodes", "directed", "multigraph", "graph")
"""the names that a graph as JSON has it may have, `edges` among them"""


class Own(NamedTuple):
    """A user's own problem."""

    arguments: Arguments
    """stacked as one problem: [1, ...] each"""
    names: tuple[str, ...] = ()
    """of the nodes; empty if they have numbers only"""


def own(problem: Problem, arguments: tuple[Any, ...], named: dict[str, Any]) -> Own:
    """Check what a user gives; a TypeError tells of too few, too many or misnamed arguments."""
    takes, names = problem.takes(), ()
    if takes[0] == "A":
        arguments, named, names = _with_matrix(problem, arguments, named)
    elif len(arguments) == 1 and not named and _are_pairs(arguments[0], takes):
        arguments = tuple(np.asarray(arguments[0]).T)
    inputs = [name for name in problem.inputs if name != "pos"]
    aliases = dict(zip(inputs, takes, strict=True)) if len(inputs) == len(takes) else {}  # the benchmark's names
    named = {name if name in takes else aliases.get(name, name): value for name, value in named.items()}
    return Own(tuple(np.array([argument]) for argument in problem.own(*arguments, **named)), tuple(names))


def _with_matrix(
    problem: Problem, arguments: tuple[Any, ...], named: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any], Sequence[str]]:
    """The same with the matrix of a graph, and the number of the source, in place of both; the names of nodes."""
    directed = getattr(problem, "directed", True)
    if any(key in named for key in NODE_LINK):
        graph = {name: value for name, value in named.items() if name in OF_GRAPHS}
        arguments, named = (graph, *arguments), {k: value for k, value in named.items() if k not in OF_GRAPHS}
    elif not arguments and is_graph(named):  # neighbours by node, and perhaps a source
        arguments, named = ({k: v for k, v in named.items() if k != "s"},), {k: v for k, v in named.items() if k == "s"}
    elif arguments and is_list_of_edges(arguments[0], directed):
        raise ValueError(
            f"{shown(arguments[0])} is a matrix of {len(arguments[0])} nodes (say A=..., or '{{\"A\": ...}}' on the "
            f"command line) or a list of {len(arguments[0])} edges (say edges=..., or --edges)"
        )
    graph = arguments[0] if arguments else named.get("A")
    if not is_graph(graph):
        return arguments, named, ()
    A, names = as_matrix(graph, directed)
    if arguments:
        arguments = (A, *(_place(source, names) for source in arguments[1:]))
    else:
        named = {**named, "A": A}
    return arguments, {k: _place(v, names) if k == "s" else v for k, v in named.items()}, names


def _are_pairs(values: Any, takes: tuple[str, ...]) -> bool:
    """True for three or more points (x, y) or intervals (s, f)."""
    try:
        return takes in (("x", "y"), ("s", "f")) and np.shape(values)[1:] == (2,) and len(values) > 2
    except ValueError:  # lists of several lengths
        return False


def _place(name: Any, names: Sequence[str]) -> Any:
    """The number of a node that is given by its name."""
    if not names or str(name) in names:
        return names.index(str(name)) if names else name
    raise ValueError(f"no node {name!r}{nearest(str(name), names)}; the nodes are {', '.join(names[:12])}")
