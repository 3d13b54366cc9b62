"""Evaluating a network on samples, in little memory.

    evaluate(reasoner, model.batch(rnar.clrs.official("bfs", "test"))).score

Samples are cut into pieces that fit into memory. Of a piece nothing is kept but a few numbers of each sample, and of a
step but a few of each hint: so neither samples nor steps are too many. How samples are cut, and how many cores work,
changes nothing but the last bits of floating-point sums.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import reduce
from typing import Annotated, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rnar.clrs.batch import Batch, Sample, as_batch
from rnar.clrs.spec import Spec
from rnar.common.checking import checked, shown
from rnar.evaluation.changes import Changes
from rnar.evaluation.evaluation import Evaluation
from rnar.evaluation.measures import Tally, measure_of
from rnar.evaluation.memory import BUDGET, cut
from rnar.nn.heads import HintConfig
from rnar.nn.kinds import Logits, kind_of
from rnar.nn.reasoner import Reasoner
from rnar.nn.rollout import Rollout
from rnar.nn.samples import Samples
from rnar.runtime.workers import Precision, Tell, Workers, autocast

__all__ = ["Evaluation", "evaluate"]

View = Callable[[Batch], Batch]
Progress = Callable[[float], None]
OnHint = Callable[[str, int, Tensor, Tensor], None]
"""(hint, t, logits [B, ...], truth at steps t and t + 1 [2, B, ...]), of the samples that are judged at step t"""


class Piece(NamedTuple):
    """Some samples, and how a network runs through them."""

    batch: Batch
    """as the model sees them"""
    config: HintConfig
    total: int
    """the steps of all samples of all pieces"""
    seed: int
    hints: bool
    """hints are wanted, too"""
    precision: Precision


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
    if seed < 0:
        raise ValueError(f"seed must be at least 0, not {shown(seed)}")
    if batch.size == 0:
        raise ValueError("this batch has no samples to evaluate a network on")
    with workers_of(network) as workers:
        needed = hints or workers.reasoner.hints.source == "truth"
        parts, order = in_pieces(_evaluated, workers, batch, needed, view, progress, budget, seed, hints, precision)
    whole = reduce(Evaluation.__add__, parts)
    return replace(whole, tallies={name: Tally(x.measure, x.counts[order]) for name, x in whole.tallies.items()})


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


def in_pieces(
    work: Callable[[Reasoner, Piece, Tell], Any],
    workers: Workers,
    batch: Batch,
    needed: bool,
    view: View | None,
    progress: Progress | None,
    budget: int,
    *how: Any,
) -> tuple[list[Any], np.ndarray]:
    """Let workers do something with a batch, piece by piece.

    Args:
        needed: All true hints are, and not the first alone.
        how: The last fields of `Piece`.

    Returns:
        What came of each piece, and int [B]: at which place of all pieces in a row each sample of the batch is.
    """
    places = cut(workers, batch, needed, budget)
    total, config = int(np.maximum(1, batch.lengths - 1).sum()), workers.reasoner.hints
    pieces = (Piece(_taken(batch, some, needed, view), config, total, *how) for some in places)
    return workers.map(work, pieces, progress), np.argsort(np.concatenate(places))


def _taken(batch: Batch, some: np.ndarray, hints: bool, view: View | None) -> Batch:
    """Some samples as the model sees them. It is given no hint but the first: others are taken if they are needed."""
    given = batch if hints else replace(batch, lengths=np.minimum(batch.lengths, 1))
    piece = given.part(some)
    seen = view(piece) if view else piece
    if not isinstance(seen, Batch):
        raise ValueError(f"view must make a batch of a batch, as model.batch does, not {shown(seen)}")
    return replace(seen, lengths=batch.lengths[some])


@torch.no_grad()
def run_through(
    reasoner: Reasoner, samples: Samples, piece: Piece, tell: Tell, on_hint: OnHint | None
) -> dict[str, Logits]:
    """Run a network through a piece: the logits of its outputs, in the order of `samples`."""

    def each(t: int, predicted: dict[str, Tensor]) -> None:
        judged = samples.judged[t]
        if on_hint is not None and judged:
            for name, logits in predicted.items():
                on_hint(name, t, logits[:judged], samples.hints[name][t : t + 2, :judged])
        tell(rollout.active[t] / piece.total)

    modes, config = {module: module.training for module in reasoner.modules()}, reasoner.hints
    try:
        reasoner.eval()
        reasoner.hints = piece.config
        with autocast(reasoner, piece.precision):
            rollout = Rollout(reasoner, samples, piece.seed)
            return rollout.run(keep_hints=False, each=each).outputs
    finally:
        reasoner.hints = config
        for module, training in modes.items():
            module.training = training


def _evaluated(reasoner: Reasoner, piece: Piece, tell: Tell) -> Evaluation:
    """Run the network on some samples, and count."""
    samples, heads = reasoner.load(piece.batch), reasoner.heads_of(piece.batch.task)
    spec, names = heads.spec, heads.decoded_hints if piece.hints else ()
    hints, changes = _places(spec, names, max(samples.lengths) - 1, samples.nodes)

    def on_hint(name: str, t: int, logits: Tensor, truth: Tensor) -> None:
        decided = kind_of(spec.hints[name]).decide(logits)
        hints[name].counts[t] = hints[name].measure.counts(decided, truth[1]).sum(dim=0).cpu().numpy()
        if name in changes:
            changes[name].count(t, decided, *truth)

    logits, tallies = run_through(reasoner, samples, piece, tell, on_hint if names else None), {}
    for name, feature in spec.outputs.items():
        measure, decided = measure_of(feature), kind_of(feature).decide(logits[name])
        counts = measure.counts(decided, samples.outputs[name])[samples.back]
        tallies[name] = Tally(measure, counts.cpu().numpy())
    return Evaluation(tallies, hints, changes)


def _places(spec: Spec, names: Any, steps: int, nodes: int) -> tuple[dict[str, Tally], dict[str, Changes]]:
    """Zeros, to which the counts of hints are added at each of T-1 steps."""
    measures = {name: measure_of(spec.hints[name]) for name in names}
    tallies = {name: Tally(measure, np.zeros((steps, measure.width))) for name, measure in measures.items()}
    rows = {name: (*spec.hints[name].shape(nodes), 0)[0] for name in names if spec.hints[name].kind != "scalar"}
    return tallies, {name: Changes(np.zeros((steps, 4)), np.zeros((count, 4))) for name, count in rows.items()}
