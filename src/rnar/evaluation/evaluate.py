"""Trying a network on samples, in little memory.

    evaluate(reasoner, model.batch(rnar.clrs.official("bfs", "test"))).score

Samples are cut into pieces that fit into memory. Of a piece nothing is kept but a few numbers of each sample, and of a
step but a few of each hint: so neither samples nor steps are too many. How samples are cut, and how many cores work,
changes nothing but the last bits of floating-point sums.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from typing import Annotated, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rnar.clrs.batch import Batch, Sample, as_batch
from rnar.clrs.spec import Feature
from rnar.common.checking import checked
from rnar.evaluation.changes import ChangeCounter
from rnar.evaluation.evaluation import Evaluation
from rnar.evaluation.measures import Measure, Tally, measure_of
from rnar.evaluation.memory import BUDGET, cut
from rnar.nn.heads import HintConfig
from rnar.nn.kinds import Logits, kind_of
from rnar.nn.reasoner import Reasoner
from rnar.nn.rollout import Rollout
from rnar.runtime.workers import Precision, Tell, Workers, autocast

__all__ = ["Evaluation", "evaluate"]

View = Callable[[Batch], Batch]
Progress = Callable[[float], None]


class Piece(NamedTuple):
    """Some samples, and what is wanted of them."""

    batch: Batch
    """as the model sees them"""
    config: HintConfig
    seed: int
    hints: bool
    total: int
    """the steps of all samples of all pieces"""
    precision: Precision = "float32"


@checked
def evaluate(
    network: Annotated[Reasoner | Workers, "as Run(path).network() gives"],
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
    batch = as_batch(batch)
    if batch.size == 0:
        raise ValueError("this batch has no samples to evaluate a network on")
    with workers_of(network) as workers:
        return _evaluated(workers, batch, seed, hints, progress, view, budget, precision)


@contextmanager
def workers_of(network: Reasoner | Workers, threads: int | None = None) -> Iterator[Workers]:
    """Workers as they are, or workers of a network, whose processes end with this."""
    if isinstance(network, Workers):
        yield network
        return
    workers = Workers(network, threads)
    try:
        yield workers
    finally:
        workers.close()


def _evaluated(
    workers: Workers,
    batch: Batch,
    seed: int,
    hints: bool,
    progress: Progress | None,
    view: View | None,
    budget: int,
    precision: Precision,
) -> Evaluation:
    config = workers.reasoner.hints
    needed = hints or config.source == "truth"
    places = cut(workers, batch, needed, budget)
    total = int(np.maximum(1, batch.lengths - 1).sum())
    pieces = (Piece(_taken(batch, some, needed, view), config, seed, hints, total, precision) for some in places)
    found = workers.map(_try, pieces, progress)
    return _in_order(places, reduce(Evaluation.__add__, found))


def _taken(batch: Batch, some: np.ndarray, hints: bool, view: View | None) -> Batch:
    """Some samples as the model sees them. It is given no hint but the first: others are taken if they are wanted."""
    given = batch if hints else replace(batch, lengths=np.minimum(batch.lengths, 1))
    piece = given.part(some)
    return replace(as_batch(view(piece)) if view else piece, lengths=batch.lengths[some])


@contextmanager
def evaluating(reasoner: Reasoner, piece: Piece) -> Iterator[None]:
    """A network in evaluation mode, with the hints and the precision of a piece; afterwards it is as it was."""
    modes, config = {module: module.training for module in reasoner.modules()}, reasoner.hints
    try:
        reasoner.eval()
        reasoner.hints = piece.config
        with autocast(reasoner, piece.precision):
            yield
    finally:
        reasoner.hints = config
        for module, training in modes.items():
            module.training = training


@torch.no_grad()
def _try(reasoner: Reasoner, piece: Piece, tell: Tell) -> Evaluation:
    """Run the network on some samples, and count."""
    samples, spec = reasoner.load(piece.batch), reasoner.heads_of(piece.batch.task).spec
    decoded = reasoner.heads_of(piece.batch.task).decoded_hints if piece.hints else {}
    along = {name: [] for name in decoded}
    changes = {name: ChangeCounter() for name, feature in decoded.items() if feature.kind != "scalar"}

    def each(t: int, predicted: dict[str, Tensor]) -> None:
        judged = samples.judged[t] if along else 0
        if judged:
            for name, logits in predicted.items():
                before, truth = samples.hints[name][t : t + 2, :judged]
                decided = kind_of(spec.hints[name]).decide(logits[:judged])
                along[name].append(measure_of(spec.hints[name]).counts(decided, truth).sum(dim=0).cpu().numpy())
                if name in changes:
                    changes[name].add(decided, before, truth)
        tell(rollout.active[t] / piece.total)

    with evaluating(reasoner, piece):
        rollout = Rollout(reasoner, samples, piece.seed)
        logits = rollout.run(keep_hints=False, each=each).outputs
    back = samples.back.cpu().numpy()
    outputs = {name: _counts(f, logits[name], samples.outputs[name])[back] for name, f in spec.outputs.items()}
    return Evaluation(
        {name: Tally(measure_of(spec.outputs[name]), counts) for name, counts in outputs.items()},
        {name: _at_steps(measure_of(spec.hints[name]), steps) for name, steps in along.items()},
        {name: counter.changes for name, counter in changes.items()},
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
