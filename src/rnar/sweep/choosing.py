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
    found: list[str] = []
    for word in _words(words, "tasks"):
        if word == "sequential":
            found += published.tasks_of(1)
        else:
            found += [algorithm.name for algorithm in matching("*" if word == "all" else word)]
    return list(dict.fromkeys(found))


def models_of(words: str) -> list[str]:
    """Names, wildcards and `module:attribute`, separated by commas; each model once."""
    found: list[str] = []
    for word in _words(words, "models"):
        found += [name for name in MODELS if fnmatchcase(name, word)] or [word]
    for name in found:
        find_model(name)  # raises if there is none, and says which names are similar
    return list(dict.fromkeys(found))


def seeds_of(words: str) -> list[int]:
    """`3`, `0-4`, `0,2,5-7`; each seed once."""
    found: list[int] = []
    for word in _words(words, "seeds"):
        match = re.fullmatch(r"(\d+)(?:-(\d+))?", word)
        if not match:
            raise ValueError(f"--seeds {words}: {word!r} is neither a seed nor a range of them, as 0-4 is")
        first = int(match[1])
        last = int(match[2] or first)
        if last < first:
            raise ValueError(f"--seeds {words}: {word} goes backwards; did you mean {last}-{first}?")
        if last - first >= MOST_SEEDS:
            raise ValueError(f"--seeds {words}: {last - first + 1} seeds are more than {MOST_SEEDS}")
        found += range(first, last + 1)
    return list(dict.fromkeys(found))


def _words(words: str, what: str) -> list[str]:
    found = [word.strip() for word in words.split(",") if word.strip()]
    if not found:
        raise ValueError(f"--{what} {words!r} names none, so there would be nothing to run")
    return found
