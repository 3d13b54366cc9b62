"""Batches for other libraries: dm-clrs, networkx and PyTorch Geometric, each imported where it is asked for."""

from typing import Any

from rnar.clrs import Batch, Sample, find, to_dm_clrs
from rnar.clrs.batch import as_batch
from rnar.clrs.graphs import library, to_networkx, to_pyg
from rnar.clrs.transforms import spec_with_order_as_hint

__all__ = ["to_feedback", "to_networkx", "to_pyg"]

STAGES = ("input", "hint", "output")


def to_feedback(batch: Batch | Sample) -> Any:
    """Returns a batch as a `clrs.Feedback`, as the sampler of dm-clrs gives it (`pip install dm-clrs`).

    What is done to a sampler's batches, such as `clrs.process_permutations`, can be done to it as well. Hints that a
    model has added are not in it.
    """
    clrs, batch = library("clrs", "dm-clrs"), as_batch(batch).numpy()
    arrays, spec = to_dm_clrs(batch), spec_with_order_as_hint(find(batch.task).spec)
    points = {stage: [] for stage in STAGES}
    for stage, features in zip(STAGES, spec, strict=True):
        for name, feature in features.items():
            kind = "should_be_permutation" if feature.kind == "permutation" else feature.kind
            points[stage].append(clrs.DataPoint(name, feature.place, kind, arrays[f"{stage}/{name}"]))
    return clrs.Feedback(clrs.Features(points["input"], points["hint"], arrays["lengths"]), points["output"])
