"""What a network believed while it solved problems: its decisions at each step, and how sure it was of them."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rnar.clrs import find
from rnar.clrs.batch import Batch, Sample, as_batch
from rnar.clrs.spec import Feature, Spec
from rnar.common.cached import cached_property
from rnar.evaluation.evaluate import Piece, Progress, View, in_pieces, run_through, workers_of
from rnar.evaluation.evaluation import Evaluation
from rnar.evaluation.measures import Tally, measure_of
from rnar.evaluation.memory import BUDGET
from rnar.nn.kinds import Logits, PermutationLogits, kind_of
from rnar.nn.reasoner import Reasoner
from rnar.runtime.workers import Tell, Workers

SLACK = 0.1  # of the range that a number has in a run: so far off is wrong


class Said(NamedTuple):
    """What a network said of one feature: of an output once [...], of a hint at each step from 1 on [T-1, ...]."""

    decided: np.ndarray
    """in stored form"""
    sure: np.ndarray | None
    """the same shape: the probability of what it decided; None of numbers"""
    true: np.ndarray | None
    """the same shape: the probability of what is true; None of numbers"""
    shares: np.ndarray | None
    """of a mask the probability of yes [...], of a mask_one that of each node [..., n]; None of other kinds"""


class Wrong(NamedTuple):
    """A hint that is wrong at some step."""

    step: int
    hint: str
    entries: int
    """how many of its entries are"""


@dataclass
class Belief:
    """What a network believed of one sample. Of hints, those that the algorithm has and the network predicts."""

    sample: Sample
    hints: dict[str, Said]
    outputs: dict[str, Said]

    @property
    def spec(self) -> Spec:
        return find(self.sample.task).spec

    @property
    def answers(self) -> dict[str, np.ndarray]:
        """The outputs in stored form, as an algorithm would return them."""
        return {name: said.decided for name, said in self.outputs.items()}

    @cached_property
    def wrong_hints(self) -> dict[str, np.ndarray]:
        """Which entries are wrong, at each step from 1 on: bool [T-1, ...]"""
        truth, features = self.sample.hints, self.spec.hints
        return {
            name: is_wrong(features[name], said.decided, truth[name][1:], slack(truth[name]))
            for name, said in self.hints.items()
        }

    @cached_property
    def wrong_outputs(self) -> dict[str, np.ndarray]:
        """Which entries are wrong: bool [...]"""
        truth, features = self.sample.outputs, self.spec.outputs
        return {
            name: is_wrong(features[name], said.decided, truth[name], slack(truth[name]))
            for name, said in self.outputs.items()
        }

    @property
    def agrees(self) -> bool:
        """True if the answer is the algorithm's in every entry."""
        return not any(wrong.any() for wrong in self.wrong_outputs.values())

    @property
    def evaluation(self) -> Evaluation:
        """The same counts of its answer as those of `evaluate`."""
        tallies = {}
        for name, said in self.outputs.items():
            measure = measure_of(self.spec.outputs[name])
            pair = (torch.from_numpy(np.array(x)[None]) for x in (said.decided, self.sample.outputs[name]))
            tallies[name] = Tally(measure, measure.counts(*pair).numpy())
        return Evaluation(tallies)

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
        """The mean probability of its decisions over all judged entries of the outputs; NaN if there are none."""
        return float(np.mean(self._probabilities)) if self._probabilities.size else float("nan")

    @property
    def least_sure(self) -> float:
        """The least of these probabilities."""
        return float(np.min(self._probabilities)) if self._probabilities.size else float("nan")

    @property
    def _probabilities(self) -> np.ndarray:
        truth = self.sample.outputs
        sure = {name: said.sure for name, said in self.outputs.items() if said.sure is not None}
        return np.concatenate(
            [np.empty(0, np.float32), *(np.ravel(x[np.asarray(truth[name]) >= 0]) for name, x in sure.items())]
        )


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
        how = seed, hints, "float32"
        pieces, order = in_pieces(_believed, workers, batch, True, view, progress, budget, *how)
    beliefs = [said for piece in pieces for said in piece]
    return [Belief(batch.sample(b), *beliefs[k]) for b, k in enumerate(order)]


def _believed(reasoner: Reasoner, piece: Piece, tell: Tell) -> list[tuple[dict[str, Said], dict[str, Said]]]:
    """The hints and outputs of each sample of a piece."""
    samples, heads = reasoner.load(piece.batch), reasoner.heads_of(piece.batch.task)
    spec, size, steps = heads.spec, len(samples.lengths), max(samples.lengths) - 1
    of_algorithm = find(piece.batch.task).spec.hints if piece.hints else {}
    names = [name for name in of_algorithm if name in heads.decoded_hints]
    room = {name: _room(spec.hints[name], steps, size, samples.nodes) for name in names}

    def on_hint(name: str, t: int, logits: Tensor, truth: Tensor) -> None:
        if name in room:
            for place, x in zip(room[name], _said(spec.hints[name], logits, truth[1]), strict=True):
                if place is not None:
                    place[t, : len(logits)] = x

    logits = run_through(reasoner, samples, piece, tell, on_hint if names else None)
    outputs = {name: _said(f, logits[name], samples.outputs[name]) for name, f in spec.outputs.items()}
    return [
        (
            {name: _part(said, (slice(samples.lengths[b] - 1), b)) for name, said in room.items()},
            {name: _part(said, b) for name, said in outputs.items()},
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
    else:
        sure, true = (wide.gather(-1, of.clamp(min=0).long()[..., None])[..., 0] for of in (decided, truth))
    if isinstance(logits, PermutationLogits):  # the first node of an order is decided by itself
        first, here = logits.first.softmax(dim=-1), torch.arange(wide.shape[-1], device=wide.device)
        sure, true = (torch.where(of == here, first, x) for of, x in ((decided, sure), (truth, true)))
    sure, true, shares = (x.float().cpu().numpy() for x in (sure, true, wide))
    return Said(stored, sure, true, shares if feature.kind in ("mask", "mask_one") else None)


def _part(said: Said, where: Any) -> Said:
    return Said(*(None if x is None else x[where] for x in said))  # type: ignore[arg-type]
