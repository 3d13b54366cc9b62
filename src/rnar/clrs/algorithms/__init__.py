"""The 30 algorithms of CLRS-30. Importing this package fills `rnar.clrs.ALGORITHMS`."""

from rnar.clrs.algorithms import (
    divide_and_conquer,
    dynamic_programming,
    geometry,
    graph_traversal,
    greedy,
    searching,
    shortest_paths,
    sorting,
    spanning_trees,
    strings,
)

__all__ = [
    "divide_and_conquer",
    "dynamic_programming",
    "geometry",
    "graph_traversal",
    "greedy",
    "searching",
    "shortest_paths",
    "sorting",
    "spanning_trees",
    "strings",
]
