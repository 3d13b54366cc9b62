"""What a network believed while it solved problems: its decisions at each step, and how sure it was of them."""

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rnar.clrs import find
from rnar.clrs.batch import Batch, Sample, as_batch
from rnar.clrs.spec import Feature
from rnar.evaluation.evaluate import Piece, Progress, View, evaluating, workers_of
from rnar.evaluation.evaluation import Evaluation
from rnar.evaluation.measures import Tally, measure_of
from rnar.evaluation.memory import BUDGET, cut
from rnar.nn.kinds import Logits, PermutationLogits, kind_of
from rnar.nn.reasoner import Reasoner
from rnar.nn.rollout import Rollout
from rnar.runtime.workers import Tell, Workers

SLACK = 0.1  # of the range that a number has in a run: so far off is wrong


class Said(NamedTuple):
    """What a network said of one feature: of an output once [...], of a hint at each step from 1 on [T-1, ...]."""

    decided: np.ndarray
    """in stored form"""
    sure: np.ndarray | None
    """the same shape: how probable it held what it decided; None of numbers"""
    true: np.ndarray | None
    """the same shape: how probable it held what is true"""
    shares: np.ndarray | None
    """of a mask the probability of yes [...], of a mask_one that of each node [..., n]; None of other kinds"""


class Wrong(NamedTuple):
    """A hint that is wrong at some step."""

    step: int
    hint: str
    entries: int
    """how many of its entries are"""


class Belief:
    """What a network believed of one sample. Of hints, those that the algorithm has and the network predicts."""

    def __init__(self, sample: Sample, hints: dict[str, Said], outputs: dict[str, Said]):
        self.sample, self.hints, self.outputs = sample, hints, outputs
        self.spec = find(sample.task).spec

    @property
    def answers(self) -> dict[str, np.ndarray]:
        """The outputs in stored form, as an algorithm would return them."""
        return {name: said.decided for name, said in self.outputs.items()}

    @cached_property
    def wrong_hints(self) -> dict[str, np.ndarray]:
        """Which entries are wrong, at each step from 1 on: bool [T-1, ...]"""
        truth = self.sample.hints
        return {
            name: is_wrong(self.spec.hints[name], said.decided, truth[name][1:], slack(truth[name]))
            for name, said in self.hints.items()
        }

    @cached_property
    def wrong_outputs(self) -> dict[str, np.ndarray]:
        truth = self.sample.outputs
        return {
            name: is_wrong(self.spec.outputs[name], said.decided, truth[name], slack(truth[name]))
            for name, said in self.outputs.items()
        }

    @property
    def agrees(self) -> bool:
        """Is the answer the algorithm's in every entry?"""
        return not any(wrong.any() for wrong in self.wrong_outputs.values())

    @property
    def evaluation(self) -> Evaluation:
        """What is counted of its answer, as `evaluate` counts it."""
        found = {}
        for name, said in self.outputs.items():
            measure = measure_of(self.spec.outputs[name])
            pair = (torch.from_numpy(np.array(x)[None]) for x in (said.decided, self.sample.outputs[name]))
            found[name] = Tally(measure, measure.counts(*pair).numpy())
        return Evaluation(found)

    @property
    def score(self) -> float:
        """The mean over outputs of the benchmark's measure, of this sample alone."""
        return self.evaluation.score

    @property
    def first_wrong(self) -> Wrong | None:
        """The first hint with a wrong decision. Numbers do not count: they are more or less wrong at every step."""
        first: Wrong | None = None
        for name, wrong in self.wrong_hints.items():
            steps = np.flatnonzero(wrong.any(axis=tuple(range(1, wrong.ndim))))
            if self.spec.hints[name].kind != "scalar" and len(steps) and (first is None or steps[0] + 1 < first.step):
                first = Wrong(int(steps[0]) + 1, name, int(wrong[steps[0]].sum()))
        return first

    @property
    def hints_right(self) -> float:
        """The mean over hints of the share of entries that are right; 1 where there is none to predict."""
        shares = [
            1 - wrong.sum() / judged.sum()
            for name, wrong in self.wrong_hints.items()
            if (judged := is_judged(self.spec.hints[name], self.sample.hints[name][1:])).any()
        ]
        return float(np.mean(shares)) if shares else 1.0

    @property
    def sure(self) -> float:
        """How probable it held its answer: the mean over all entries that are decided."""
        return float(np.mean(self._of_entries())) if self._of_entries().size else float("nan")

    @property
    def least_sure(self) -> float:
        return float(np.min(self._of_entries())) if self._of_entries().size else float("nan")

    def _of_entries(self) -> np.ndarray:
        """Of each decided entry of the outputs how sure it was; what is not judged does not count."""
        kept = [
            said.sure[np.asarray(self.sample.outputs[name]) >= 0]
            for name, said in self.outputs.items()
            if said.sure is not None
        ]
        return np.concatenate([np.ravel(each) for each in kept]) if kept else np.empty(0)


def is_wrong(feature: Feature, decided: np.ndarray, truth: np.ndarray, slack: float) -> np.ndarray:
    """bool [...]: which entries are wrong. Numbers may be off by the slack; what is stored as -1 is not judged."""
    if feature.kind == "scalar":
        return np.asarray(~(np.abs(decided - truth) <= slack))  # NaN is wrong
    return np.asarray((decided != truth) & is_judged(feature, truth))


def is_judged(feature: Feature, truth: np.ndarray) -> np.ndarray:
    """bool [...]"""
    return np.asarray((truth >= 0) | (feature.kind == "scalar"))


def slack(truth: np.ndarray) -> float:
    """How far a number may be off, given its values in a whole run."""
    return SLACK * (float(np.ptp(truth)) or max(1.0, abs(float(np.max(truth, initial=0.0)))))


def believed(
    network: Reasoner | Workers,
    batch: Batch | Sample,
    view: View,
    seed: int = 0,
    hints: bool = True,
    progress: Progress | None = None,
    budget: int = BUDGET,
) -> list[Belief]:
    """Let a network solve a batch, and keep what it decided on the way.

    Args:
        network: A network, or the workers that run it.
        batch: Samples of one of its tasks, or one sample, as the benchmark has them.
        view: Makes of samples what the model sees (`model.batch`).
        seed: For aggregators that draw.
        hints: Keep what it believed of the hints, too, at each step.
        progress: Told which share of the work has been done since it was last told, often, and from any thread.
        budget: How many bytes the tensors of all cores may take, about.
    """
    batch = as_batch(batch)
    with workers_of(network, threads=1) as workers:
        places = cut(workers, batch, True, budget)
        total, config = int(np.maximum(1, batch.lengths - 1).sum()), workers.reasoner.hints
        pieces = (Piece(view(batch.part(some)), config, seed, hints, total) for some in places)
        found = [said for piece in workers.map(_believe, pieces, progress) for said in piece]
    order = np.argsort(np.concatenate(places))
    return [Belief(batch.sample(b), *found[k]) for b, k in enumerate(order)]


@torch.no_grad()
def _believe(reasoner: Reasoner, piece: Piece, tell: Tell) -> list[tuple[dict[str, Said], dict[str, Said]]]:
    """The hints and outputs of each sample of a piece."""
    samples, heads = reasoner.load(piece.batch), reasoner.heads_of(piece.batch.task)
    spec = heads.spec
    of_algorithm = find(piece.batch.task).spec.hints if piece.hints else {}
    steps = max(samples.lengths) - 1
    along = {
        name: _room(spec.hints[name], steps, len(samples.lengths), samples.nodes)
        for name in of_algorithm
        if name in heads.decoded_hints
    }

    def each(t: int, predicted: dict[str, Tensor]) -> None:
        judged = samples.judged[t] if along else 0
        if judged:
            for name, room in along.items():
                said = _said(spec.hints[name], predicted[name][:judged], samples.hints[name][t + 1, :judged])
                for place, x in zip(room, said, strict=True):
                    if place is not None:
                        place[t, :judged] = x
        tell(rollout.active[t] / piece.total)

    with evaluating(reasoner, piece):
        rollout = Rollout(reasoner, samples, piece.seed)
        logits = rollout.run(keep_hints=False, each=each).outputs
    outputs = {name: _said(f, logits[name], samples.outputs[name]) for name, f in spec.outputs.items()}
    return [
        (
            {name: _one(room, (slice(samples.lengths[b] - 1), b)) for name, room in along.items()},
            {name: _one(said, b) for name, said in outputs.items()},
        )
        for b in samples.back.tolist()
    ]


def _room(feature: Feature, steps: int, batch: int, nodes: int) -> Said:
    """Place for a hint at all steps, [T-1, B, ...]: what is kept of each step would else pin the memory around it."""
    shape, kind = (steps, batch, *feature.shape(nodes)), feature.kind
    shares = {"mask": shape, "mask_one": (*shape, nodes)}.get(kind)
    sure, true = (None if kind == "scalar" else np.zeros(shape, np.float32) for _ in range(2))
    return Said(np.zeros(shape, feature.dtype), sure, true, None if shares is None else np.zeros(shares, np.float32))


def _said(feature: Feature, logits: Logits, truth: Tensor) -> Said:
    """Of B samples at one step: [B, ...] each."""
    kind = kind_of(feature)
    decided, wide = kind.decide(logits), kind.relax(logits)
    stored = decided.cpu().numpy().astype(feature.dtype)
    if feature.kind == "scalar":
        return Said(stored, None, None, None)
    if feature.kind == "mask":
        sure, true = (torch.where(yes == 1, wide, 1 - wide) for yes in (decided, truth))
        return Said(stored, _plain(sure), _plain(true), _plain(wide))
    sure, true = (wide.gather(-1, of.clamp(min=0).long()[..., None])[..., 0] for of in (decided, truth))
    if isinstance(logits, PermutationLogits):  # the first node of an order is decided by itself
        first, here = logits.first.softmax(dim=-1), torch.arange(wide.shape[-1], device=wide.device)
        sure, true = (torch.where(of == here, first, x) for of, x in ((decided, sure), (truth, true)))
    return Said(stored, _plain(sure), _plain(true), _plain(wide) if feature.kind == "mask_one" else None)


def _plain(x: Tensor) -> np.ndarray:
    return x.float().cpu().numpy()


def _one(said: Said, where: Any) -> Said:
    parts: list[Any] = [None if x is None else x[where] for x in said]
    return Said(*parts)
