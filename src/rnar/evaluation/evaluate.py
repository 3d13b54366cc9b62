"""Trying a network on samples, in little memory.

    evaluate(Workers(reasoner), model.batch(rnar.clrs.official("bfs", "test"))).score

Samples are cut into pieces that fit into memory. Of a piece nothing is kept but a few numbers of each sample, and of a
step but a few of each hint: so neither samples nor steps are too many. How samples are cut, and how many threads work,
changes nothing but the last bits of floating-point sums.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import reduce

import numpy as np
import torch
from torch import Tensor

from rnar.clrs.batch import Batch
from rnar.clrs.spec import Feature
from rnar.engine.unroll import Context, unroll
from rnar.engine.workers import Workers
from rnar.evaluation.evaluation import Evaluation
from rnar.evaluation.measures import Measure, Tally, measure_of
from rnar.evaluation.memory import BUDGET, heads_of, samples_at_once
from rnar.nn.decoders import Logits
from rnar.nn.reasoner import Reasoner, decide

__all__ = ["Evaluation", "evaluate"]

View = Callable[[Batch], Batch]
Progress = Callable[[float], None]


def evaluate(
    workers: Workers,
    batch: Batch,
    seed: int = 0,
    hints: bool = False,
    progress: Progress | None = None,
    view: View | None = None,
    budget: int = BUDGET,
) -> Evaluation:
    """Let the network predict a batch's outputs and count what is right; with `hints` also along the steps.

    `seed` is for aggregators that draw. `progress` is told which share of the work has been done since it was last
    told, often, and from any thread. `view` (`model.batch`) makes of samples what the model sees; without it the batch
    must be so already. With it large sets take far less memory, for each piece is seen by itself. `budget` is how many
    bytes the tensors of all threads may take, about.
    """
    hints_needed = hints or workers.reasoner.feeding.source == "truth"
    at_once = samples_at_once(workers.reasoner, batch, hints_needed, budget // workers.threads)
    pieces = cut(batch.lengths, min(at_once, -(-batch.size // workers.threads)))
    total = np.maximum(1, batch.lengths - 1).sum()

    def work(reasoner: Reasoner, piece: np.ndarray, stop: threading.Event) -> Evaluation:
        def after_step(samples: int) -> None:
            if stop.is_set():
                raise _Stopped
            if progress is not None:
                progress(samples / total)

        return _try(reasoner, _taken(batch, piece, hints_needed, view), seed, hints, after_step)

    return _in_order(pieces, reduce(Evaluation.__add__, _shared_out(workers, work, pieces)))


class _Stopped(Exception):
    """Another thread has failed, or the user has had enough."""


def _shared_out(
    workers: Workers, work: Callable[[Reasoner, np.ndarray, threading.Event], Evaluation], pieces: list[np.ndarray]
) -> list[Evaluation]:
    """What `work` makes of each piece; whichever thread is free takes the next. It shall stop where the event says so.

    Without that, Ctrl-C would wait for threads that have long to go.
    """
    waiting, stop = iter(range(len(pieces))), threading.Event()
    found: dict[int, Evaluation] = {}

    def many(thread: int) -> None:
        reasoner = workers._twins[thread].eval()
        try:
            for k in waiting:
                found[k] = work(reasoner, pieces[k], stop)
        except _Stopped:
            pass  # whoever stopped it has more to tell
        except BaseException:
            stop.set()
            raise

    training = workers.reasoner.training
    try:
        workers._run(many)
    finally:
        stop.set()
        workers.reasoner.train(training)
    return [found[k] for k in range(len(pieces))]


def cut(lengths: np.ndarray, at_once: int) -> list[np.ndarray]:
    """The indices of samples in pieces of at most so many, and of like work: each has long ones and short ones."""
    order = np.argsort(-lengths, kind="stable")
    pieces = -(-len(order) // at_once)
    return [order[k::pieces] for k in range(pieces)]


def _taken(batch: Batch, some: np.ndarray, hints: bool, view: View | None) -> Batch:
    """Some samples as the model sees them. It is given no hint but the first: others are taken if they are wanted."""
    lengths = batch.lengths[some]
    kept = lengths if hints else np.minimum(lengths, 1)
    piece = Batch(
        batch.task,
        {name: x[some] for name, x in batch.inputs.items()},
        {name: x[: kept.max(), some] for name, x in batch.hints.items()},
        {name: x[some] for name, x in batch.outputs.items()},
        kept,
    )
    return (view(piece) if view else piece)._replace(lengths=lengths)


@torch.no_grad()
def _try(reasoner: Reasoner, piece: Batch, seed: int, hints: bool, after_step: Callable[[int], None]) -> Evaluation:
    """Run the network on some samples, and count."""
    heads, data = heads_of(reasoner, piece.task), reasoner.tensors(piece)
    context = Context(reasoner, heads, data, data.lengths, seed)
    along = {name: [] for name in (heads.decoded_hints if hints else {})}

    def each(t: int, predicted: dict[str, Tensor]) -> None:
        judged = sum(length > t + 1 for length in data.lengths)
        for name, steps in along.items() if judged else ():
            truth = data.hints[name][t + 1, :judged]
            steps.append(_counts(heads.spec.hints[name], predicted[name][:judged], truth).sum(axis=0))
        after_step(context.active[t])

    logits = unroll(context, keep_hints=False, each=each).outputs
    back = torch.argsort(data.order).cpu().numpy()
    outputs = {name: _counts(f, logits[name], data.outputs[name])[back] for name, f in heads.spec.outputs.items()}
    return Evaluation(
        {name: Tally(measure_of(heads.spec.outputs[name]), counts) for name, counts in outputs.items()},
        {name: _at_steps(measure_of(heads.spec.hints[name]), steps) for name, steps in along.items()},
    )


def _counts(feature: Feature, logits: Logits, truth: Tensor) -> np.ndarray:
    """What is counted of each sample: [B, width]"""
    return measure_of(feature).counts(decide(feature, logits), truth).cpu().numpy()


def _at_steps(measure: Measure, steps: list[np.ndarray]) -> Tally:
    return Tally(measure, np.array(steps).reshape(-1, measure.width))


def _in_order(pieces: list[np.ndarray], whole: Evaluation) -> Evaluation:
    """Samples in the batch's order, and not piece by piece."""
    back = np.argsort(np.concatenate(pieces))
    return replace(
        whole, tallies={name: tally._replace(counts=tally.counts[back]) for name, tally in whole.tallies.items()}
    )
