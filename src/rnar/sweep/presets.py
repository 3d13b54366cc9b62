"""The sweeps behind the tables of the paper (Xu and Veličković, 2024), one for models beyond it, and a quick one.

All follow the standard protocol and share their runs: what `quick` began, `table2` continues. Only the runs that are
timed, and those of the panel, are kept apart.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from rnar.common.names import nearest
from rnar.report.published import SUBSTITUTE, models_of, substituted, tasks_of


class Part(NamedTuple):
    """Each of these tasks with each of these models, written as on the command line."""

    tasks: str
    models: str


@dataclass(frozen=True)
class Preset:
    """What a sweep is if no flag says otherwise."""

    main: Part
    besides: tuple[Part, ...] = ()
    """flags can choose from these, but not add to them"""
    seeds: str = "0-4"
    parallel: int | None = None
    folder: str = "runs"
    settings: dict[str, Any] = field(default_factory=dict)
    """of training; only those whose default is None"""


def _table(number: int) -> Part:
    """All tasks and models that have a number in a table of the paper. It has none for what did not fit in memory."""
    return Part(",".join(tasks_of(number)), ",".join(models_of(number)))


PRESETS = {
    "table1": Preset(_table(1)),
    "table2": Preset(_table(2), (Part(",".join(substituted()), SUBSTITUTE),)),
    "ablation": Preset(_table(3)),
    "janossy": Preset(_table(4)),
    "timing": Preset(  # Figure 1 has eight tasks that are not named; these are one of each kind
        Part(
            "find_maximum_subarray_kadane,lcs_length,graham_scan,dfs,activity_selector,insertion_sort,quickselect,"
            "naive_string_matcher",
            "triplet-gmpnn,rnar",
        ),
        seeds="0",
        parallel=1,  # runs at the same time would slow each other down, nobody knows how much
        folder="runs-timing",
        settings=dict(steps=200, test_samples=32),
    ),
    "panel": Preset(
        Part(
            "insertion_sort,minimum,binary_search,lcs_length,naive_string_matcher,dijkstra,topological_sort,"
            "floyd_warshall",
            "triplet-gmpnn,rnar,linked,scan,counting,combined",
        ),
        (Part("floyd_warshall", "edge-pointers"),),  # elsewhere it is triplet-gmpnn
        seeds="0",
        folder="runs-panel",
        # three of the tasks would be compared on 4096 samples and tested on 2048, which takes longer than 1000 steps
        # and a network after so few steps is good or bad at n=64 by chance, the average of its weights less so
        settings=dict(steps=1000, validate_every=100, selection_samples=256, test_samples=32, average=0.99),
    ),
    "quick": Preset(Part("bfs,bellman_ford", "triplet-gmpnn,rnar"), seeds="0-1", settings=dict(steps=100)),
}


def preset(name: str) -> Preset:
    """The preset of that name."""
    if name not in PRESETS:
        raise ValueError(f"no preset {name!r}{nearest(name, PRESETS)}; there are {', '.join(PRESETS)}")
    return PRESETS[name]
