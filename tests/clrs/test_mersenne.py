"""Every function draws what `numpy.random.RandomState` draws, in any order of calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rnar.clrs import mersenne
from rnar.clrs.mersenne import Mersenne, borrow, copy_of, seeded

BOUNDS = (1, 2, 3, 4, 5, 7, 8, 9, 64, 100, 1000, 2**31)
PROBABILITIES = (0.0, 1e-9, 0.01, 0.1, 0.3, 0.5, 0.5000001, 0.7, 0.9, 1.0)


def filled(rng: Mersenne, size: int) -> np.ndarray:
    out = np.empty(size)
    mersenne.fill(rng, out)
    return out


Draw = Callable[..., Any]
OURS: dict[str, Draw] = {
    "fill": lambda rng, k: filled(rng, k % 700),
    "uniform": lambda rng, k: mersenne.uniform(rng, -1.0 - k, 2.5, k % 400),
    "below": lambda rng, k: mersenne.below(rng, BOUNDS[k % len(BOUNDS)]),
    "whole_numbers": lambda rng, k: mersenne.whole_numbers(rng, BOUNDS[k % len(BOUNDS)], k % 50),
    "permutation": lambda rng, k: mersenne.permutation(rng, k % 80),
    "trials": lambda rng, k: mersenne.trials(rng, PROBABILITIES[k % len(PROBABILITIES)], k % 300),
    "word": lambda rng, k: mersenne.word(rng),
}
THEIRS: dict[str, Draw] = {
    "fill": lambda rng, k: rng.random_sample(k % 700),
    "uniform": lambda rng, k: rng.uniform(-1.0 - k, 2.5, k % 400),
    "below": lambda rng, k: rng.randint(BOUNDS[k % len(BOUNDS)]),
    "whole_numbers": lambda rng, k: rng.randint(0, BOUNDS[k % len(BOUNDS)], k % 50),
    "permutation": lambda rng, k: rng.permutation(k % 80),
    "trials": lambda rng, k: rng.binomial(1, PROBABILITIES[k % len(PROBABILITIES)], k % 300),
    "word": lambda rng, k: rng.randint(2**32, dtype=np.uint32),
}


def same_state(a: np.random.RandomState, b: np.random.RandomState) -> bool:
    (_, *ours), (_, *theirs) = a.get_state(), b.get_state()
    return all(np.array_equal(x, y) for x, y in zip(ours, theirs, strict=True))


@pytest.mark.parametrize("name", OURS)
def test_one_function_again_and_again_equals_numpy(name):
    ours, theirs = copy_of(np.random.RandomState(3)), np.random.RandomState(3)
    for k in range(120):
        np.testing.assert_array_equal(OURS[name](ours, k), THEIRS[name](theirs, k), err_msg=f"call {k}")


@given(seed=st.integers(0, 2**32 - 1), calls=st.lists(st.tuples(st.sampled_from(sorted(OURS)), st.integers(0, 800))))
def test_any_order_of_calls_equals_numpy_and_leaves_the_same_state(seed, calls):
    ours, theirs = np.random.RandomState(seed), np.random.RandomState(seed)
    with borrow(ours) as rng:
        for name, k in calls:
            np.testing.assert_array_equal(OURS[name](rng, k), THEIRS[name](theirs, k), err_msg=f"{name} {k}")
    assert same_state(ours, theirs)


@pytest.mark.parametrize("p", PROBABILITIES)
def test_trials_equal_numpys_binomial_and_use_as_many_words(p):
    ours, theirs = copy_of(np.random.RandomState(11)), np.random.RandomState(11)
    np.testing.assert_array_equal(mersenne.trials(ours, p, 5000), theirs.binomial(1, p, 5000))
    assert mersenne.word(ours) == THEIRS["word"](theirs, 0)


def test_where_there_is_no_choice_nothing_is_drawn():
    rng = copy_of(np.random.RandomState(0))
    assert mersenne.below(rng, 1) == 0
    assert mersenne.word(rng) == THEIRS["word"](np.random.RandomState(0), 0)


def test_a_copy_leaves_the_original_alone():
    original, untouched = np.random.RandomState(5), np.random.RandomState(5)
    original.random_sample(10)
    untouched.random_sample(10)
    mersenne.permutation(copy_of(original), 2000)
    assert same_state(original, untouched)


def test_a_borrowed_generator_keeps_its_spare_normal_number():
    ours, theirs = np.random.RandomState(5), np.random.RandomState(5)
    assert ours.standard_normal() == theirs.standard_normal()  # two are made at once, the second is kept
    with borrow(ours) as rng:
        mersenne.below(rng, 100)
    theirs.randint(100)
    assert ours.standard_normal() == theirs.standard_normal()
    assert same_state(ours, theirs)


def test_a_borrowed_generator_goes_on_also_after_an_error():
    ours, theirs = np.random.RandomState(5), np.random.RandomState(5)
    with pytest.raises(RuntimeError, match="halfway"), borrow(ours) as rng:
        mersenne.below(rng, 100)
        raise RuntimeError("halfway")
    theirs.randint(100)
    assert same_state(ours, theirs)


def test_tempering_all_words_equals_tempering_one_by_one_in_compiled_code():
    key = np.random.RandomState(9).get_state(legacy=False)["state"]["key"]
    words = np.array([mersenne.tempered_word(x) for x in key], np.uint32)
    np.testing.assert_array_equal(mersenne.tempered(key), words, strict=True)


def test_only_the_mersenne_twister_will_do():
    with pytest.raises(ValueError, match="need a RandomState over MT19937, not PCG64"):
        copy_of(np.random.RandomState(np.random.PCG64(0)))


@pytest.mark.parametrize("seed", [0, 42, 2**32 - 1])
def test_a_seed_gives_the_generator_of_that_seed(seed):
    np.testing.assert_array_equal(filled(seeded(seed), 9), np.random.RandomState(seed).random_sample(9))


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_that_numpy_does_not_take_is_refused(seed):
    with pytest.raises(ValueError, match=rf"^a seed must be from 0 to 2\*\*32 - 1, not {seed}"):
        seeded(seed)
