"""Which samples go together: shares of like cost, each of samples that are about as long.

A step costs its calls, whether many samples take it or one. If each core had long samples and short ones, each would
take all the steps of the longest; so the long ones are together, and fewer.
"""

import numpy as np

CALLS = 320
"""pairs of nodes: to work on so many takes as long as the calls of a step do (benchmarks/share_costs.py; Triplet-GMPNN
360 to 470, RNAR 220 to 250)"""
ROUNDS = 30
"""of halving the interval in which the least possible cost lies; and the most samples that are exchanged"""


def shares(lengths: np.ndarray, nodes: int, count: int, most: int | None = None) -> list[np.ndarray]:
    """The places of samples in so many shares, the longest samples first; some have none if there are too few.

    Args:
        lengths: int [B], of each sample.
        nodes: How many each sample has.
        count: How many shares.
        most: How many samples a share may have at most; there must be room for all.
    """
    order = np.argsort(-lengths, kind="stable")
    steps, calls = np.maximum(1, lengths - 1), CALLS / nodes**2
    sorted_steps = steps[order].tolist()
    low, high = 0.0, (1 + calls) * sum(sorted_steps) + 1  # enough for all, however costs are rounded
    for _ in range(ROUNDS):
        middle = (low + high) / 2
        low, high = (low, middle) if len(_ends(sorted_steps, calls, middle, most)) <= count else (middle, high)
    ends = _ends(sorted_steps, calls, high, most)
    found = [some.tolist() for some in np.split(order, ends[:-1] + [len(order)] * (count - len(ends)))]
    for _ in range(ROUNDS):
        if not _exchange(found, steps, calls, most):
            break
    return [np.array(some, dtype=int) for some in found]


def _ends(steps: list[int], calls: float, limit: float, most: int | None) -> list[int]:
    """Where shares end that are filled one after the other, each up to a cost; only a single sample may cost more."""
    ends, first, cost = [], 0, 0.0
    for k, each in enumerate(steps):
        if k > first and (cost + each > limit or k - first == most):
            ends.append(k)
            first = k
        cost = cost + each if k > first else calls * each + each
    return [*ends, len(steps)]


def _exchange(found: list[list[int]], steps: np.ndarray, calls: float, most: int | None) -> bool:
    """One sample of the dearest share for a shorter one of the cheapest, or for none, if it costs less then."""
    costs = [calls * steps[some].max(initial=0) + steps[some].sum() for some in found]
    dear, cheap = found[int(np.argmax(costs))], found[int(np.argmin(costs))]
    given, taken = steps[dear], steps[cheap]
    if most is None or len(cheap) < most:
        taken = np.append(taken, 0)
    if taken.size == 0 or given.size == 0:
        return False
    more = given[:, None] - taken
    longer = calls * np.maximum(0, given - taken.max())[:, None]
    worst = np.maximum(max(costs) - more, min(costs) + more + longer)
    k, j = np.unravel_index(worst.argmin(), worst.shape)
    if worst[k, j] >= max(costs):
        return False
    dear[k : k + 1], cheap[j : j + 1] = cheap[j : j + 1], dear[k : k + 1]
    return True
