"""What a sweep runs: tasks, models and seeds in the words of a command line, and presets of them.

The presets are the sweeps behind the tables of the paper (Xu and Veličković, 2024), one for models beyond it, and a
quick one. All follow the standard protocol and share their runs: what `quick` began, `table2` continues. Only the runs
that are timed, and those of the panel, are kept apart.
"""

import re
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from rnar.clrs.choosing import matching
from rnar.common.names import nearest
from rnar.models import MODELS
from rnar.models import find as find_model
from rnar.report import published

MOST_SEEDS = 10_000  # more must be a typing error


def tasks_of(words: str) -> list[str]:
    """`all`, `sequential` (those of the paper's Table 1), names, wildcards and `module:function`, separated by commas;
    each task once."""
    names: list[str] = []
    for word in _split(words, "tasks"):
        if word == "sequential":
            names += published.tasks_of(1)
        else:
            names += [algorithm.name for algorithm in matching("*" if word == "all" else word)]
    return list(dict.fromkeys(names))


def models_of(words: str) -> list[str]:
    """Names, wildcards and `module:attribute`, separated by commas; each model once."""
    names: list[str] = []
    for word in _split(words, "models"):
        names += [name for name in MODELS if fnmatchcase(name, word)] or [word]
    for name in names:
        find_model(name)  # raises if there is none, and says which names are similar
    return list(dict.fromkeys(names))


def seeds_of(words: str) -> list[int]:
    """`3`, `0-4`, `0,2,5-7`; each seed once."""
    seeds: list[int] = []
    for word in _split(words, "seeds"):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", word)
        if not match:
            raise ValueError(f"--seeds {words}: {word!r} is neither a seed nor a range of them, as 0-4 is")
        first, last = int(match[1]), int(match[2] or match[1])
        if last < first:
            raise ValueError(f"--seeds {words}: {word} goes backwards; did you mean {last}-{first}?")
        if last - first >= MOST_SEEDS:
            raise ValueError(f"--seeds {words}: {last - first + 1} seeds are more than {MOST_SEEDS}")
        seeds += range(first, last + 1)
    return list(dict.fromkeys(seeds))


def _split(words: str, flag: str) -> list[str]:
    split = [word.strip() for word in words.split(",") if word.strip()]
    if not split:
        raise ValueError(f"--{flag} {words!r} names none, so there would be nothing to run")
    return split


class Part(NamedTuple):
    """Each of these tasks with each of these models, written as on the command line."""

    tasks: str
    models: str = "rnar"


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

    def parts(self, tasks: str | None, models: str | None) -> list[Part]:
        """The runs if these flags are given: they replace the main part, and choose from what is besides."""
        main = self.main
        parts = [Part(main.tasks if tasks is None else tasks, main.models if models is None else models)]
        for part in self.besides:
            some = [task for task in tasks_of(part.tasks) if tasks is None or task in tasks_of(tasks)]
            with_some = [model for model in models_of(part.models) if models is None or model in models_of(models)]
            if some and with_some:
                parts.append(Part(",".join(some), ",".join(with_some)))
        return parts


def _table(number: int) -> Part:
    """All tasks and models that have a number in a table of the paper. It has none for what did not fit in memory."""
    return Part(",".join(published.tasks_of(number)), ",".join(published.models_of(number)))


PRESETS = {
    "table1": Preset(_table(1)),
    "table2": Preset(_table(2), (Part(",".join(published.substituted()), published.SUBSTITUTE),)),
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


def find_preset(name: str | None) -> Preset:
    """The preset of that name; without one, `rnar` on the tasks that are still to be named."""
    if name is None:
        return Preset(Part(""))
    if name not in PRESETS:
        raise ValueError(f"no preset {name!r}{nearest(name, PRESETS)}; there are {', '.join(PRESETS)}")
    return PRESETS[name]
