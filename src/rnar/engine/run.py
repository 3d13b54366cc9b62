"""A network on a batch: what it predicts, what that costs, and the gradients."""

from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor

from rnar.clrs.batch import Batch, Sample, as_batch
from rnar.engine.episode import Episode
from rnar.engine.losses import Counts, judge, total_loss
from rnar.engine.replay import Recordings
from rnar.engine.samples import Part, load
from rnar.engine.trees import mapped
from rnar.engine.unroll import Unrolled, unroll, unroll_backward
from rnar.nn.decoders import Logits
from rnar.nn.groups import apart
from rnar.nn.kinds import Judged
from rnar.nn.reasoner import Reasoner


class Prediction(NamedTuple):
    """What a network says, in the batch's own order."""

    outputs: dict[str, Logits]
    """[B, ...]"""
    hints: dict[str, Tensor]
    """[T-1, B, ...]: of the hints at steps 1 to T-1; zero after a sample's own length. Empty if not asked for."""


def predict(
    reasoner: Reasoner, batch: Batch | Sample, hints: bool = False, through_padding: bool = False, seed: int = 0
) -> Prediction:
    """The outputs, and the hints if asked for. No truth is used but the first hint and the lengths.

    `through_padding`: go on predicting hints to the end of the batch, where samples have ended long since. `seed` is
    for aggregators that draw.
    """
    samples = load(reasoner, as_batch(batch))
    run = unroll(episode := Episode(reasoner, samples, seed), keep_hints=hints)
    steps = run.hints
    if through_padding:
        all_steps = [max(samples.lengths)] * len(samples.lengths)
        steps = unroll(episode := Episode(reasoner, samples, seed, all_steps), keep_hints=True).hints
    rows = episode.active[:-1]
    return Prediction(
        mapped(lambda x: x[samples.back], run.outputs),
        {name: _padded(x.split(rows), samples.back) for name, x in apart(steps).items()},
    )


def _padded(steps: Sequence[Tensor], back: Tensor) -> Tensor:
    """Steps [active, ...] of ever fewer samples -> [T-1, B, ...] in the batch's order."""
    full = steps[0].new_zeros(len(steps), len(back), *steps[0].shape[1:])
    for t, step in enumerate(steps):
        full[t, : len(step)] = step
    return full[:, back]


def losses(reasoner: Reasoner, batch: Batch | Sample, seed: int = 0) -> dict[str, Judged]:
    """The loss of each output and hint, before it is averaged. `seed` decides all that is drawn."""
    samples = load(reasoner, as_batch(batch))
    return judge(reasoner, samples, unroll(Episode(reasoner, samples, seed), keep_hints=True))


def backward(
    reasoner: Reasoner,
    batch: Batch | Sample,
    seed: int = 0,
    of: Counts | None = None,
    part: Part | None = None,
    memory: int = 0,
    recordings: Recordings | None = None,
) -> dict[str, Judged]:
    """Add the gradient of the mean losses' sum to the parameters, in little memory; return the losses.

    Args:
        reasoner: The network.
        batch: Samples of one of its tasks.
        seed: Decides all that is drawn.
        of: By how many entries each loss is divided, if the batch is a part of a larger one.
        part: Which samples of that one it has.
        memory: How many bytes may be spent on not computing steps twice.
        recordings: Of this network, if its steps are to be played; then all but the first are computed twice.
    """
    samples = load(reasoner, as_batch(batch), part)
    judged: dict[str, Judged] = {}

    def loss(run: Unrolled) -> Tensor:
        judged.update(judge(reasoner, samples, run))
        return total_loss(judged, of)

    if recordings is None:
        unroll_backward(Episode(reasoner, samples, seed), loss, memory)
    else:
        unroll_backward(recordings.episode(samples, seed), loss)
    return {name: Judged(total.detach(), count) for name, (total, count) in judged.items()}
