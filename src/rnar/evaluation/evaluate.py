"""Trying a network on samples, in little memory.

    evaluate(reasoner, model.batch(rnar.clrs.official("bfs", "test"))).score

Samples are cut into pieces that fit into memory. Of a piece nothing is kept but a few numbers of each sample, and of a
step but a few of each hint: so neither samples nor steps are too many. How samples are cut, and how many cores work,
changes nothing but the last bits of floating-point sums.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from rnar.clrs.batch import Batch, Sample, as_batch
from rnar.clrs.spec import Feature
from rnar.engine.episode import Episode
from rnar.engine.hands import Tell
from rnar.engine.samples import load
from rnar.engine.unroll import unroll
from rnar.engine.workers import Workers
from rnar.evaluation.evaluation import Evaluation
from rnar.evaluation.measures import Measure, Tally, measure_of
from rnar.evaluation.memory import BUDGET, cut
from rnar.nn.decoders import Logits
from rnar.nn.groups import Group, apart
from rnar.nn.kinds import kind_of
from rnar.nn.reasoner import Feeding, Precision, Reasoner

__all__ = ["Evaluation", "evaluate"]

View = Callable[[Batch], Batch]
Progress = Callable[[float], None]


class Piece(NamedTuple):
    """Some samples, and what is wanted of them."""

    batch: Batch
    """as the model sees them"""
    feeding: Feeding
    seed: int
    hints: bool
    total: int
    """the steps of all samples of all pieces"""
    precision: Precision = "float32"


def evaluate(
    network: Reasoner | Workers,
    batch: Batch | Sample,
    seed: int = 0,
    hints: bool = False,
    progress: Progress | None = None,
    view: View | None = None,
    budget: int = BUDGET,
    precision: Precision = "float32",
) -> Evaluation:
    """Let the network predict a batch's outputs and count what is right; with `hints` also along the steps.

    Args:
        network: A network, or the workers that run it.
        batch: Samples of one of its tasks, or one sample.
        seed: For aggregators that draw.
        hints: Score the hints too, at each step.
        progress: Told which share of the work has been done since it was last told, often, and from any thread.
        view: Makes of samples what the model sees (`model.batch`); without it the batch must be so already. With it
            large sets take far less memory, for each piece is seen by itself.
        budget: How many bytes the tensors of all cores may take, about.
        precision: Of products of pairs; in bfloat16 they are quicker where a CPU has it, and less exact.
    """
    workers, batch = network if isinstance(network, Workers) else Workers(network), as_batch(batch)
    feeding = workers.reasoner.feeding
    needed = hints or feeding.source == "truth"
    places = cut(workers, batch, needed, budget)
    total = int(np.maximum(1, batch.lengths - 1).sum())
    pieces = (Piece(_taken(batch, some, needed, view), feeding, seed, hints, total, precision) for some in places)
    training = workers.reasoner.training
    try:
        found = workers.map(_try, pieces, progress)
    finally:
        if workers.reasoner.training != training:
            workers.reasoner.train(training)
    return _in_order(places, reduce(Evaluation.__add__, found))


def _taken(batch: Batch, some: np.ndarray, hints: bool, view: View | None) -> Batch:
    """Some samples as the model sees them. It is given no hint but the first: others are taken if they are wanted."""
    given = batch if hints else batch._replace(lengths=np.minimum(batch.lengths, 1))
    piece = given.part(some)
    return (view(piece) if view else piece)._replace(lengths=batch.lengths[some])


@torch.no_grad()
def _try(reasoner: Reasoner, piece: Piece, tell: Tell) -> Evaluation:
    """Run the network on some samples, and count."""
    reasoner.feeding, reasoner.tried_in = piece.feeding, piece.precision
    if reasoner.training:
        reasoner.eval()
    samples, spec = load(reasoner, piece.batch), reasoner.heads_of(piece.batch.task).spec
    episode = Episode(reasoner, samples, piece.seed)
    along = {name: [] for name in (episode.heads.decoded_hints if piece.hints else {})}

    def each(t: int, predicted: dict[Group, Tensor]) -> None:
        judged = samples.judged[t] if along else 0
        if judged:
            truth = apart({group: x[t + 1, :judged] for group, x in samples.hints.items()})
            for name, logits in apart(predicted).items():
                along[name].append(_counts(spec.hints[name], logits[:judged], truth[name]).sum(axis=0))
        tell(episode.active[t] / piece.total)

    logits, back = unroll(episode, keep_hints=False, each=each).outputs, samples.back.cpu().numpy()
    outputs = {name: _counts(f, logits[name], samples.outputs[name])[back] for name, f in spec.outputs.items()}
    return Evaluation(
        {name: Tally(measure_of(spec.outputs[name]), counts) for name, counts in outputs.items()},
        {name: _at_steps(measure_of(spec.hints[name]), steps) for name, steps in along.items()},
    )


def _counts(feature: Feature, logits: Logits, truth: Tensor) -> np.ndarray:
    """What is counted of each sample: [B, width]"""
    return measure_of(feature).counts(kind_of(feature).decide(logits), truth).cpu().numpy()


def _at_steps(measure: Measure, steps: list[np.ndarray]) -> Tally:
    return Tally(measure, np.array(steps).reshape(-1, measure.width))


def _in_order(pieces: list[np.ndarray], whole: Evaluation) -> Evaluation:
    """Samples in the batch's order, and not piece by piece."""
    back = np.argsort(np.concatenate(pieces))
    return replace(
        whole, tallies={name: tally._replace(counts=tally.counts[back]) for name, tally in whole.tallies.items()}
    )
