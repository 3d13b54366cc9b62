"""The random numbers of `numpy.random.RandomState`, drawn by compiled code: bit for bit the same, without its overhead.

Sampling is most of the work for the small tasks, and NumPy spends most of that between its calls. What is here
repeats what NumPy does with the Mersenne twister (Matsumoto and Nishimura, 1998): 53-bit doubles out of two words,
whole numbers by masking and rejection, Bernoulli trials by inversion, Fisher and Yates' shuffle. NumPy has promised
never to change these streams; the tests compare every function with it.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from rnar.common.compiling import kernel

WORDS, SHIFT = 624, 397


class Mersenne(NamedTuple):
    """The state of a generator; compiled code advances it in place."""

    key: np.ndarray
    """uint32 [624]"""
    words: np.ndarray
    """uint32 [624]: what the key gives, tempered all at once, for that vectorises"""
    at: np.ndarray
    """int64 [1]: which of the words comes next"""


def copy_of(rng: np.random.RandomState) -> Mersenne:
    """The state of `rng`, which itself is not advanced by what is drawn from the copy."""
    state = rng.get_state(legacy=False)
    if state["bit_generator"] != "MT19937":
        raise ValueError(f"the reference's streams need a RandomState over MT19937, not {state['bit_generator']}")
    key, at = state["state"]["key"], np.array([state["state"]["pos"]], np.int64)
    return Mersenne(key, tempered(key), at)


def seeded(seed: int) -> Mersenne:
    """The state of a `numpy.random.RandomState(seed)`."""
    if not isinstance(seed, (int, np.integer)) or not 0 <= seed < 2**32:
        raise ValueError(f"a seed must be from 0 to 2**32 - 1, not {seed!r}")
    return copy_of(np.random.RandomState(seed))


@contextmanager
def borrow(rng: np.random.RandomState) -> Iterator[Mersenne]:
    """The state of `rng` to draw from; afterwards `rng` goes on where that stopped."""
    mersenne = copy_of(rng)
    try:
        yield mersenne
    finally:
        state = rng.get_state(legacy=False)
        state["state"] = {"key": mersenne.key, "pos": int(mersenne.at[0])}
        rng.set_state(state)


def tempered(y):
    """The word that an entry of a key gives, or all words of a key, for NumPy and for compiled code.

    numba computes in 64 bits, so that each result is cut back to 32.
    """
    y = np.uint32(y ^ (y >> np.uint32(11)))
    y = np.uint32(y ^ (np.uint32(y << np.uint32(7)) & np.uint32(0x9D2C5680)))
    y = np.uint32(y ^ (np.uint32(y << np.uint32(15)) & np.uint32(0xEFC60000)))
    return np.uint32(y ^ (y >> np.uint32(18)))


tempered_word = kernel(tempered)


@kernel
def twisted(above, here, far):
    """One new word."""
    y = np.uint32((above & np.uint32(0x80000000)) | (here & np.uint32(0x7FFFFFFF)))
    if_odd = np.uint32(0x9908B0DF) if y & np.uint32(1) else np.uint32(0)
    return np.uint32(far ^ np.uint32(y >> np.uint32(1)) ^ if_odd)


@kernel
def twist(key):
    """The next 624 words."""
    for i in range(WORDS - SHIFT):
        key[i] = twisted(key[i], key[i + 1], key[i + SHIFT])
    for i in range(WORDS - SHIFT, WORDS - 1):
        key[i] = twisted(key[i], key[i + 1], key[i - (WORDS - SHIFT)])
    key[WORDS - 1] = twisted(key[WORDS - 1], key[0], key[SHIFT - 1])


@kernel
def word(rng):
    """32 random bits."""
    if rng.at[0] == WORDS:
        twist(rng.key)
        for i in range(WORDS):
            rng.words[i] = tempered_word(rng.key[i])
        rng.at[0] = 0
    rng.at[0] += 1
    return rng.words[rng.at[0] - 1]


@kernel
def double_of(a, b):
    """53 bits out of two words, as a number in [0, 1)."""
    return (np.int32(a >> np.uint32(5)) * 67108864.0 + np.int32(b >> np.uint32(6))) / 9007199254740992.0


@kernel
def doubles(words, out):
    for i in range(len(out)):
        out[i] = double_of(words[2 * i], words[2 * i + 1])


@kernel
def fill(rng, out):
    """Uniform numbers in [0, 1): `rng.random_sample(len(out))`."""
    k = 0
    while k < len(out):
        at = rng.at[0]
        many = min((WORDS - at) // 2, len(out) - k)
        doubles(rng.words[at:], out[k : k + many])  # as many as there are words for
        rng.at[0] += 2 * many
        k += many
        if k < len(out):  # the words are at their end, or one is left
            a = word(rng)
            out[k] = double_of(a, word(rng))
            k += 1


@kernel
def uniform(rng, low, high, size):
    """`rng.uniform(low, high, size)`, flat."""
    out = np.empty(size)
    fill(rng, out)
    for k in range(size):
        out[k] = low + (high - low) * out[k]
    return out


@kernel
def below(rng, bound):
    """A whole number from 0 to bound - 1: `rng.randint(bound)`. Where there is no choice, nothing is drawn."""
    most = bound - 1
    if most == 0:
        return 0
    mask = 1  # all ones, and not less than `most`
    while mask < most:
        mask = 2 * mask + 1
    while True:
        drawn = word(rng) & mask
        if drawn <= most:
            return drawn


@kernel
def whole_numbers(rng, bound, size):
    """`rng.randint(0, bound, size)`."""
    out = np.empty(size, np.int64)
    for k in range(size):
        out[k] = below(rng, bound)
    return out


@kernel
def permutation(rng, n):
    """`rng.permutation(n)`."""
    order = np.arange(n)
    for i in range(n - 1, 0, -1):
        j = below(rng, i + 1)
        order[i], order[j] = order[j], order[i]
    return order


@kernel
def trials(rng, p, size):
    """`rng.binomial(1, p, size)`, as floats.

    NumPy inverts the distribution of the rarer outcome with one uniform number for each trial, and so does this.
    """
    out = np.empty(size)
    fill(rng, out)
    rarer = p if p <= 0.5 else 1.0 - p
    threshold = math.exp(math.log(1.0 - rarer))
    for k in range(size):
        hit = out[k] > threshold
        out[k] = hit if p <= 0.5 else not hit
    return out
