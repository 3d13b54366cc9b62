"""Which samples go together: all are somewhere, no share costs much more than another, and long ones are together."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from rnar.runtime.shares import CALLS, shares


def cost(lengths: np.ndarray, nodes: int) -> float:
    steps = np.maximum(1, lengths - 1)
    return CALLS / nodes**2 * steps.max(initial=0) + steps.sum()


def dearest(lengths: np.ndarray, nodes: int, found: list[np.ndarray]) -> float:
    return max(cost(lengths[some], nodes) for some in found)


@settings(deadline=None)
@given(
    st.lists(st.integers(1, 300), max_size=60),
    st.integers(1, 64),
    st.integers(1, 9),
    st.one_of(st.none(), st.integers(1, 9)),
)
def test_every_sample_is_in_one_share_and_none_has_too_many(lengths, nodes, count, most):
    count = max(count, -(-len(lengths) // most)) if most else count
    found = shares(np.array(lengths, dtype=int), nodes, count, most)
    assert len(found) == count
    assert sorted(np.concatenate(found)) == list(range(len(lengths)))
    assert max(map(len, found)) <= (most or len(lengths))


@settings(deadline=None)
@given(st.lists(st.integers(2, 300), min_size=16, max_size=40), st.sampled_from([4, 16, 64]), st.integers(2, 4))
def test_no_share_costs_more_than_its_part_and_one_sample(lengths, nodes, count):
    """In no order can the dearest cost less than the mean of sums; a single cut is at most one sample off."""
    lengths = np.array(lengths)
    found, longest = shares(lengths, nodes, count), lengths.max()
    assert dearest(lengths, nodes, found) <= (lengths.sum() / count + longest) + CALLS / nodes**2 * longest


def test_one_share_has_all_however_costs_are_rounded():
    rng = np.random.default_rng(0)
    for nodes in range(2, 65):
        for size in (13, 32, 40):
            (whole,) = shares(rng.integers(1, 99, size), nodes, 1)
            assert len(whole) == size


def test_samples_of_one_length_are_dealt_out_evenly():
    assert [len(some) for some in shares(np.full(32, 16), 16, 2)] == [16, 16]


def test_long_samples_are_together_so_that_others_take_fewer_steps():
    lengths = np.random.default_rng(0).integers(25, 70, 32)
    found, order = shares(lengths, 16, 2), np.argsort(-lengths, kind="stable")
    assert lengths[found[1]].max() < lengths[found[0]].max() - 10
    assert dearest(lengths, 16, found) < 0.99 * dearest(lengths, 16, [order[::2], order[1::2]])


def test_where_a_cut_between_lengths_is_off_samples_are_exchanged():
    lengths = np.array([60, 50, 50, 40, 30, 21, 20])
    found = [lengths[some].sum() for some in shares(lengths, 64, 2)]
    assert abs(found[0] - found[1]) <= 10  # in order the best would be 110 and 161
