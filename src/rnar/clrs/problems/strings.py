"""Two strings over four letters, laid out one after the other: a haystack and a needle, or two to compare."""

from typing import Any

import numpy as np

from rnar.clrs.mersenne import Mersenne, below, whole_numbers
from rnar.clrs.problems.problem import Arguments, Problem, positions
from rnar.clrs.spec import node
from rnar.common.compiling import entry_point

LETTERS = "ATCG"


class Strings(Problem):
    """What is common to problems of two strings; the first has `first` letters of `key`."""

    inputs = {"string": node.mask, "pos": node.scalar, "key": node.categorical(len(LETTERS))}

    def view(self, key: np.ndarray, first: np.ndarray) -> dict[str, np.ndarray]:
        second = np.arange(key.shape[1]) >= first[:, None]
        return {"string": second, "pos": positions(first, key), "key": key}


class HaystackAndNeedle(Strings):
    """n letters in all: a random haystack into which a random needle is pasted.

    `needle` is its length, or a range (shortest, longest) to draw from; None is a fifth of all letters.
    The reference's quirk is kept: the last place where the needle would fit is never drawn.
    """

    options = {"needle": None, "letters": 4}
    training = {"needle": (1, 8)}
    training_sizes = (20,)

    def draw(
        self, rng: Mersenne, n: int, batch: int, *, needle: int | tuple[int, int] | None, letters: int
    ) -> Arguments:
        shortest, longest = needle_range(needle, n)
        return draw_haystacks(rng, batch, n, shortest, longest, letters)

    def length(self, n: int) -> int:
        return n + n // 4  # the haystack has the size, the needle comes on top

    def own(self, haystack: Any, needle: Any) -> Arguments:
        text, pattern = letters_of("haystack", haystack), letters_of("needle", needle)
        if len(pattern) > len(text):
            raise ValueError(f"the needle ({len(pattern)} letters) is longer than the haystack ({len(text)})")
        return np.concatenate([text, pattern]), len(text)

    def check_size(self, n: int, options: dict[str, Any]) -> None:
        _, longest = needle_range(options["needle"], n)
        if n < 2 * longest + 1:
            raise ValueError(
                f"n={n} is too small for a needle of {longest}: the haystack has the other {n - longest} letters "
                f"and must be longer than the needle (n of at least {2 * longest + 1})"
            )
        check_letters(options["letters"])


class TwoStrings(Strings):
    """n random letters in all, of which `second` (None: half, rounded down) form the second string."""

    options = {"second": None, "letters": 4}

    def draw(self, rng: Mersenne, n: int, batch: int, *, second: int | None, letters: int) -> Arguments:
        m = n // 2 if second is None else second
        return draw_letters(rng, letters, batch, n), np.full(batch, n - m)

    def own(self, x: Any, y: Any) -> Arguments:
        x, y = letters_of("x", x), letters_of("y", y)
        return np.concatenate([x, y]), len(x)

    def check_size(self, n: int, options: dict[str, Any]) -> None:
        super().check_size(n, options)
        if options["second"] is not None and options["second"] >= n:
            raise ValueError(f"second={options['second']} leaves no letter of n={n} for the first string")
        check_letters(options["letters"])


def needle_range(needle: int | tuple[int, int] | None, n: int) -> tuple[int, int]:
    """The shortest and the longest needle. In the official sets it is a fifth of all letters."""
    if isinstance(needle, tuple):
        return needle
    length = max(1, n // 5) if needle is None else needle
    return length, length


@entry_point
def draw_haystacks(rng, batch, n, shortest, longest, letters):
    key, first = np.empty((batch, n), np.int64), np.empty(batch, np.int64)
    for b in range(batch):
        m = shortest + below(rng, longest - shortest + 1)
        key[b, n - m :] = whole_numbers(rng, letters, m)
        key[b, : n - m] = whole_numbers(rng, letters, n - m)
        start = below(rng, n - m - m)
        key[b, start : start + m] = key[b, n - m :]
        first[b] = n - m
    return key, first


@entry_point
def draw_letters(rng, letters, batch, n):
    return whole_numbers(rng, letters, batch * n).reshape(batch, n)


def check_letters(letters: int) -> None:
    if letters > len(LETTERS):
        raise ValueError(f"letters={letters} is more than the {len(LETTERS)} there are ({LETTERS})")


def letters_of(name: str, string: Any) -> np.ndarray:
    """A user's string of letters, or list of codes, as int64 [n]."""
    if isinstance(string, str):
        unknown = sorted(set(string.upper()) - set(LETTERS))
        if unknown:
            raise ValueError(f"{name} holds {unknown[0]!r}; the letters are {', '.join(LETTERS)}")
        codes = np.array([LETTERS.index(letter) for letter in string.upper()], np.int64)
    else:
        codes = np.asarray(string)
        if codes.dtype.kind not in "iu" or codes.ndim != 1 or ((codes < 0) | (codes >= len(LETTERS))).any():
            raise ValueError(f"{name} must be a string over {LETTERS} or a list of codes from 0 to {len(LETTERS) - 1}")
    if len(codes) == 0:
        raise ValueError(f"{name} is empty; at least one letter is needed")
    return codes.astype(np.int64)
