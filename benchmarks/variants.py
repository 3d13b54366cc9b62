"""Variants of RNAR and of the models that go beyond it, to be tried by name:

    cd benchmarks && rnar sweep panel --models variants:scan_gru,variants:combined_without_scan
    cd benchmarks && rnar train quickselect --model variants:scan_priced

Those that help get a name in `rnar.models`. (Without positions: `--without pos`.)
"""

from __future__ import annotations

from dataclasses import replace

from rnar.models import MODELS, Model, message_passing, scanning, triplet_gmpnn
from rnar.nn.aggregators import LSTM, Count, Max, Shuffled
from rnar.nn.both import Added, Gated, Mapped, Summed
from rnar.nn.heads import HintConfig

BASE, COMBINED, LINKED, RNAR = MODELS["scan"], MODELS["combined"], MODELS["linked"], MODELS["rnar"]
TRIPLET = MODELS["triplet-gmpnn"]


def variant(name: str, processor, **switches) -> Model:
    return replace(BASE, name=name, processor=processor, equation="", differs="", **switches)


def counting(size: int) -> Summed:
    return Summed(Max(size), Count(size, questions=16))


# RNAR whose hints are predicted and not fed back; fed back as decisions, with gradients that end there; not reversed
rnar_unfed = replace(RNAR, name="rnar-unfed", hints=HintConfig(mode="decoded"))
rnar_hard = replace(RNAR, name="rnar-hard", hints=HintConfig(hard=True))
rnar_without_reversal = replace(RNAR, name="rnar-without-reversal", reversal="none")
rnar_transposed = replace(RNAR, name="rnar-transposed", reversal="transpose")
rnar_without_gate = replace(RNAR, name="rnar-without-gate", processor=message_passing(LSTM, triplets=8))
rnar_without_triplets = replace(RNAR, name="rnar-without-triplets", processor=message_passing(LSTM, gate=True))
triplet_without_reversal = replace(TRIPLET, name="triplet-without-reversal", reversal="none")
triplet_transposed = replace(TRIPLET, name="triplet-transposed", reversal="transpose")

# the scan
scan_gru = variant("scan-gru", scanning(cell="gru"))
scan_forward = variant("scan-forward", scanning(both_ways=False))
scan_gated = variant("scan-gated", scanning(gated=True))
scan_priced = variant("scan-priced", scanning(gated=True, price=0.1))
scan_narrow = variant("scan-narrow", scanning(reads=32, width=32))
scan_rarely_placed = variant("scan-rarely-placed", scanning(), without_positions=0.5)

# counting
counting_alone = variant("counting-alone", triplet_gmpnn(Count))
counting_hard = variant("counting-hard", triplet_gmpnn(lambda size: Summed(Max(size), Count(size, hard=True))))
counting_mapped = variant("counting-mapped", triplet_gmpnn(lambda size: Mapped(Max(size), Count(size))))
counting_gated = variant("counting-gated", triplet_gmpnn(lambda size: Gated(Max(size), Count(size))))

# the maximum and the LSTM of RNAR
lstm_added = variant("lstm-added", triplet_gmpnn(lambda size: Added(Max(size), LSTM(size))))
lstm_priced = variant("lstm-priced", triplet_gmpnn(lambda size: Gated(Max(size), LSTM(size), price=0.1)))
lstm_shuffled = variant("lstm-shuffled", triplet_gmpnn(lambda size: Shuffled(LSTM(size), 0.5)))

# each part of the combination taken away, and each small switch alone (without scan and counting it is `linked`)
combined_without_scan = replace(COMBINED, name="combined-without-scan", processor=triplet_gmpnn(counting))
combined_without_counting = replace(
    COMBINED,
    name="combined-without-counting",
    processor=scanning(from_zero=True, shuffled=0.25, reads=32, width=32),
)
combined_in_order = replace(
    COMBINED, name="combined-in-order", processor=scanning(counting, from_zero=True, reads=32, width=32)
)
combined_without_composed = replace(COMBINED, name="combined-without-composed", composed="none")
combined_without_reversal = replace(COMBINED, name="combined-without-reversal", static_reversal=False)
combined_with_hints = replace(COMBINED, name="combined-with-hints", hintless=())
composed = replace(MODELS["triplet-gmpnn"], name="composed", composed="one")
linked_all_marks = replace(LINKED, name="linked-all-marks", composed="all")
static_reversal = replace(MODELS["triplet-gmpnn"], name="static-reversal", static_reversal=True)
hintless = replace(MODELS["triplet-gmpnn"], name="hintless", hintless=("binary_search",))
