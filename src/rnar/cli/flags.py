"""Flags: what stands for their values in the help, and what is said there of their defaults."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import tyro


def flag(metavar: str, default: str | None = None, **more: Any) -> Any:
    """A flag that may be left out, and what its help says of that."""
    hint = f"(default: {default})" if default else ""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint=hint, **more)


@dataclass(frozen=True)
class Distribution:
    """What is not given is as in the official sets. A task refuses the options that it does not have."""

    p: Annotated[str | None, flag("P[,P...]")] = None
    """Graphs: the probability of an edge, or several to choose from for each graph."""
    low: Annotated[float | None, flag("NUMBER")] = None
    """Numbers and weights: the least one."""
    high: Annotated[float | None, flag("NUMBER")] = None
    """Numbers and weights: all are below this."""
    needle: Annotated[str | None, flag("INT[,INT]")] = None
    """String matching: the needle's length, or its shortest and longest length."""
    letters: Annotated[int | None, flag("INT")] = None
    """Strings: how many of the letters A, T, C and G are used."""
    second: Annotated[int | None, flag("INT")] = None
    """Longest common subsequence: the length of the second string."""
    max_deadline: Annotated[int | None, flag("INT")] = None
    """Task scheduling: the latest deadline."""
    communities: Annotated[int | None, flag("INT")] = None
    """Strongly connected components: how many communities a graph has."""
    toggle: Annotated[float | None, flag("NUMBER")] = None
    """Strongly connected components: the probability that an edge is toggled."""
    radius: Annotated[float | None, flag("NUMBER")] = None
    """Convex hulls: the radius of the disk in which the points lie."""
    center: Annotated[str | None, flag("X,Y")] = None
    """Convex hulls: the middle of that disk."""

    def given(self, **others: Any) -> dict[str, Any]:
        """Those of the options, and of others, that were given, as `rnar.clrs.sample` takes them."""
        given = {name: value for name, value in {**others, **asdict(self)}.items() if value is not None}
        texts = {name: value for name, value in given.items() if isinstance(value, str)}
        return given | {name: several(name, text, int if name == "needle" else float) for name, text in texts.items()}


def whole_numbers(name: str, texts: Sequence[str]) -> tuple[int, ...]:
    """The values of a flag, with blanks or commas between them."""
    try:
        return tuple(int(word) for text in texts for word in text.replace(",", " ").split())
    except ValueError:
        said = " ".join(texts)
        raise ValueError(f"--{name} takes whole numbers, as in 16 64 or 16,64, not {said!r}") from None


def several(name: str, text: str, kind: Callable[[str], Any]) -> Any:
    """One number, or a tuple of those between commas."""
    try:
        numbers = [kind(part) for part in text.split(",")]
    except ValueError:
        what = "whole numbers" if kind is int else "numbers"
        raise ValueError(f"--{name} takes {what} with commas between them, not {text!r}") from None
    return tuple(numbers) if len(numbers) > 1 else numbers[0]
