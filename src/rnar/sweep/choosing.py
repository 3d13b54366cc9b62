"""Tasks, models and seeds from the words of a command line."""

import re
from fnmatch import fnmatchcase

from rnar.clrs.choosing import matching
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
