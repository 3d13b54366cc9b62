"""Models that nobody has published, and what came of training them here."""

from typing import Any

from rnar.models.makers import scanning, triplet_gmpnn
from rnar.models.published import TRIPLET_GMPNN
from rnar.models.recipe import Model
from rnar.models.registry import register
from rnar.nn.aggregators import LSTM, Count, Max, Shuffled
from rnar.nn.both import Gated, Summed


def beyond(name: str, equation: str, differs: str, **changes: Any) -> Model:
    """A model that nobody has published: Triplet-GMPNN with some changes. `benchmarks/variants.py` has more."""
    told = dict(name=name, paper=None, equation=equation, differs=f"Not in a paper: {differs}")
    return register(TRIPLET_GMPNN, **told, **changes)


beyond(
    "edge-pointers",
    "triplet-gmpnn with pointers of pairs P_ij = k in t_abc, and read off w . relu(all of i, j, k and P)",
    "triplet-gmpnn but for the three tasks whose pointers are of pairs.",
    pointers="triplets",
)
beyond(
    "linked",
    "edge-pointers, with marks of one node composed with pointers, P m and P^T m, and the inputs' pointers reversed",
    "triplet-gmpnn that can follow what points; has none of the hints of Binary Search.",
    static_reversal=True,
    composed="one",
    pointers="triplets",
    hintless=("binary_search",),
)
beyond(
    "scan",
    "triplet-gmpnn, x_j <- x_j + W s_j, s_j of an LSTM over z_1, ..., z_n and of one over z_n, ..., z_1",
    "one list is read a step, where RNAR reads one for every node.",
    processor=scanning(),
)
beyond(
    "scan-zero",
    "scan with W = 0 at first, so that it begins as triplet-gmpnn",
    "the scan, where order has to be asked for.",
    processor=scanning(from_zero=True),
)
beyond(
    "scan-shuffled",
    "scan that in training reads the nodes of every second batch in a random order",
    "the scan, where order cannot be relied on.",
    processor=scanning(shuffled=0.5),
)
beyond(
    "counting",
    "triplet-gmpnn with max_i m_ij + U (u + sum_i sigmoid(4 V m_ij)) / n in place of max_i m_ij",
    "a share of votes beside the maximum, on 32 questions that are learned.",
    processor=triplet_gmpnn(lambda size: Summed(Max(size), Count(size))),
)
beyond(
    "max-lstm",
    "triplet-gmpnn with g LSTM(m_1j, ..., m_nj) + (1 - g) max_i m_ij, g = sigmoid(G (both))",
    "in training the LSTM reads in a random order at every second step.",
    processor=triplet_gmpnn(lambda size: Gated(Max(size), Shuffled(LSTM(size), 0.5))),
)
beyond(
    "combined",
    "scan-zero of 32 numbers each way, counting with 16 questions, and edge-pointers",
    "also has composed hints and reversed inputs, and none of the hints of Binary Search.",
    processor=scanning(
        lambda size: Summed(Max(size), Count(size, questions=16)), from_zero=True, shuffled=0.25, reads=32, width=32
    ),
    static_reversal=True,
    composed="all",
    pointers="triplets",
    hintless=("binary_search",),
)
FOUND = {
    "linked": "Mean of the panel's eight tasks at n=64 after 1,000 steps: 87.8, triplet-gmpnn 68.1, rnar 58.7. "
    "The lead is three tasks: Binary Search, Floyd-Warshall, Naïve String Matcher; on the other five 87.0, "
    "triplet-gmpnn 89.3. Averages of the weights: Heapsort, seed 0, 4,000 steps, 94.1 (rnar 12.6, triplet-gmpnn 37.7); "
    "seed 1, 1,000 steps, 57.5 (triplet-gmpnn 77.5); Quickselect, 4,000 steps, none of 128 samples (rnar 78.9). "
    "A step costs 0.86 to 1.04 times one of triplet-gmpnn.",
    "combined": "Mean of the panel's eight tasks at n=64 after 1,000 steps: 80.2, linked 87.8, triplet-gmpnn 68.1, "
    "rnar 58.7. Insertion Sort 69.9 and 56.2 with two seeds, without scan and counting 85.6 and more. Quickselect, "
    "2,474 steps: none of 32 samples. "
    "A step costs 1.02 to 1.2 times one of triplet-gmpnn, 1.4 where little is computed (rnar: 2.0 to 3.4).",
    "counting": "Quickselect, 2,000 steps: 87.5 at n=16 and none of 128 samples at n=64 (rnar: 78.9 after 4,000).",
    "edge-pointers": "Floyd-Warshall at n=64 after 2,485 steps, one seed: 88.5; the paper has 48.5 for triplet-gmpnn.",
    "scan": "Topological Sort at n=64 after 1,000 steps, one seed: 98.8, triplet-gmpnn 88.8, rnar 86.8; "
    "LCS Length 72.9, triplet-gmpnn 85.5. A step costs 1.2 times one of triplet-gmpnn.",
}
"""what came of training some of them here (docs/results/reproduction.md)"""
