"""All that changes while a network learns: one step of it, and how it is saved."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import reduce
from operator import add
from pathlib import Path
from typing import Annotated, Any, NamedTuple, TypedDict

import msgspec
import numpy as np
import torch
from msgspec import Meta
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from rnar.clrs import Batch
from rnar.common.checking import shown
from rnar.evaluation.evaluate import Evaluation, evaluate
from rnar.evaluation.memory import check_step
from rnar.runtime.workers import Workers
from rnar.training.data import largest, ood_set, selection_samples, selection_set, training_data, validation_set
from rnar.training.files import pack, unpack
from rnar.training.portions import portions
from rnar.training.result import Amount, Candidate, Count, Share
from rnar.training.run import Run, Which, below, check_state, load_weights
from rnar.training.schedules import factor, name_of
from rnar.training.settings import Settings
from rnar.training.stopping import Diverged

MOMENTS = ("step", "exp_avg", "exp_avg_sq")  # what Adam keeps of a parameter, by its names
CANDIDATES = 4  # networks that are kept for the comparison in the end

Weights = dict[str, Tensor]


class Kept(NamedTuple):
    """The weights after some step, and how they did in validation. Of two that did equally well the later is better."""

    score: float
    step: int
    weights: Weights

    def packed(self) -> bytes:
        return pack(self.weights, {"step": self.step, "validation": self.score})


class KeptNote(TypedDict):
    score: Share
    step: Count


class LaterNotes(TypedDict, total=False):
    """What not all versions of states have: older ones have one `best` in place of candidates."""

    best: KeptNote
    candidates: Annotated[list[KeptNote], Meta(min_length=1)]
    improved: Count


class Notes(LaterNotes):
    """What a state has beside tensors."""

    step: Count
    streams: dict[str, dict[str, Any]]
    sums: dict[str, dict[str, float]]
    summed: Count
    seconds: Amount
    memory_mb: Amount


class Learner:
    """A network that learns, one step after the other."""

    def __init__(self, settings: Settings, device: torch.device):
        self.settings, self.device, self.model = settings, device, settings.architecture
        reasoner = self.model.build(settings.tasks, settings.size, settings.seed)
        self.reasoner = reasoner.to(device).train()
        for task in settings.tasks:
            check_step(self.reasoner, task, largest(settings, task), settings.batch)
        memory = None if settings.memory is None else int(settings.memory * 1e9)
        self.workers = Workers(self.reasoner, settings.threads, memory)
        kind, decay = torch.optim.AdamW if settings.weight_decay else torch.optim.Adam, settings.weight_decay
        self.optimiser = kind(self.reasoner.parameters(), settings.learning_rate, weight_decay=decay, fused=True)
        self.streams = {task: training_data(settings, task) for task in settings.tasks}
        self.validation = {task: validation_set(settings, task) for task in settings.tasks}
        self.ood = {task: ood_set(settings, task) for task in settings.tasks if settings.ood_samples}
        self.step = 0
        self.candidates: list[Kept] = []
        """those that did best in validation, the best first"""
        self.improved = 0
        """the step at which validation was last better than ever before"""
        self.average = self._weights() if settings.average else None
        self.seconds = 0.0
        self.memory_mb = 0.0
        self._sums: dict[str, Counter[str]] = {}
        """the losses of each task since the last report"""
        self._summed = 0

    @property
    def parameters(self) -> int:
        return sum(p.numel() for p in self.reasoner.parameters())

    @property
    def ended(self) -> bool:
        """True if all steps are taken, or if validation was not better than before for too long."""
        steps, patience = self.settings.steps, self.settings.patience
        validated = self.step % self.settings.validate_every == 0
        return self.step >= steps or (validated and patience is not None and self.step - self.improved >= patience)

    @property
    def best(self) -> Kept | None:
        """The network that did best in validation."""
        return self.candidates[0] if self.candidates else None

    @property
    def paced(self) -> str | None:
        """What goes by the share of training that is done, if anything does: then a longer run learns otherwise."""
        if name_of(self.settings.schedule) != "constant":
            return f"with the schedule {name_of(self.settings.schedule)} it"
        if any(hasattr(module, "progress") for module in self.reasoner.modules()):
            return self.settings.name
        return None

    def learn(self) -> float:
        """One step: a batch of every task. The sum of its losses."""
        start = time.perf_counter()
        progress, total = self.step / self.settings.steps, 0.0
        for group in self.optimiser.param_groups:
            group["lr"] = self.settings.learning_rate * factor(self.settings.schedule, progress)
        for k, (task, stream) in enumerate(self.streams.items()):
            seed = int(np.random.SeedSequence((self.settings.seed, self.step, k)).generate_state(1)[0])
            losses = self.workers.backward(next(stream), seed, progress, self.settings.precision)
            norm = clip_grad_norm_(self.reasoner.parameters(), self.settings.clip)
            if not torch.isfinite(norm):
                raise Diverged(f"training diverged at step {self.step}: the norm of the gradients is {norm.item()}")
            self.optimiser.step()
            self._sums.setdefault(task, Counter()).update(losses)
            total += sum(losses.values())
        if self.average is not None and self.settings.average:
            for name, tensor in self.reasoner.state_dict().items():
                self.average[name].lerp_(tensor.detach().cpu(), 1 - self.settings.average)
        self.step += 1
        self._summed += 1
        self.seconds += time.perf_counter() - start
        return total

    def validate(self) -> dict[str, Any]:
        """Try the network, keep it if it is one of the best so far, and report."""
        start = time.perf_counter()
        scores, more = self._scores(self.validation), {}
        score = _mean(scores)
        if self.ood:
            more |= {"ood": self._scores(self.ood), "ood_n": self.settings.ood_n}
        if self.average is not None:
            with self.having(self.average):
                more["average"] = self._scores(self.validation)
                if self.ood:
                    more["ood_average"] = self._scores(self.ood)
        if self.best is None or score > self.best.score:
            self.improved = self.step
        kept = [*self.candidates, Kept(score, self.step, self._weights())]
        self.candidates = sorted(kept, key=lambda x: (x.score, x.step), reverse=True)[:CANDIDATES]
        self.seconds += time.perf_counter() - start
        return {**self._report(score, scores), **more}

    def _scores(self, sets: dict[str, Batch]) -> dict[str, float]:
        return {task: evaluate(self.workers, batch).score for task, batch in sets.items()}

    @property
    def selection_samples(self) -> int:
        """On how many samples of each task candidates are compared, at most."""
        return max(selection_samples(self.settings, task) for task in self.settings.tasks)

    def _weights(self) -> Weights:
        return {name: tensor.detach().cpu().clone() for name, tensor in self.reasoner.state_dict().items()}

    @contextmanager
    def having(self, weights: Weights) -> Iterator[None]:
        """The network with other weights, for a while."""
        own = self._weights()
        self.reasoner.load_state_dict(weights)
        try:
            yield
        finally:
            self.reasoner.load_state_dict(own)

    def select(
        self, seconds: float = math.inf, tell: Callable[[float], None] | None = None
    ) -> tuple[Kept, list[Candidate], int]:
        """Compare those that did best in validation on more samples: the best, how each did, and on how many samples.

        `tell` is told which share of all samples has been tried since it was last told.
        """
        assert self.best is not None
        if self.settings.selection_samples == 0 or len(self.candidates) == 1:
            return self.best, [], 0
        sets, done = {task: selection_set(self.settings, task) for task in self.settings.tasks}, 0
        whole = len(self.candidates) * sum(batch.size for batch in sets.values())
        tried: list[dict[str, list[Evaluation]]] = [{task: [] for task in sets} for _ in self.candidates]
        for portion in portions(0, self.selection_samples, self.selection_samples, seconds):
            some = {task: batch.part(portion) for task, batch in sets.items() if batch.size > portion.start}
            for kept, parts in zip(self.candidates, tried, strict=True):
                with self.having(kept.weights):
                    for task, batch in some.items():
                        progress = lambda share, part=batch.size / whole: tell(share * part) if tell else None  # noqa: E731
                        parts[task].append(evaluate(self.workers, batch, progress=progress))
            done = portion.stop
        scores = [_mean({task: reduce(add, x).score for task, x in parts.items()}) for parts in tried]
        pairs = zip(self.candidates, scores, strict=True)
        compared = [Candidate(kept.step, kept.score, score) for kept, score in pairs]
        best = max(compared, key=lambda x: (x.score, x.step))
        return self.candidates[compared.index(best)], compared, done

    def networks(self, selected: Kept) -> dict[Which, Weights]:
        """Those that are tested: the selected one, the last one if that is another, and the average if there is one."""
        networks: dict[Which, Weights] = {"best": selected.weights}
        if selected.step != self.step:
            networks["last"] = self._weights()
        if self.average is not None:
            networks["average"] = self.average
        return networks

    def _report(self, score: float, scores: dict[str, float]) -> dict[str, Any]:
        """A line of the metrics: losses are means over the steps since the last one."""
        assert self.best is not None
        self.memory_mb = max(self.memory_mb, self.workers.peak_memory() / 1e6)
        losses = {task: {name: x / self._summed for name, x in sums.items()} for task, sums in self._sums.items()}
        line = dict(
            step=self.step,
            loss=sum(sum(x.values()) for x in losses.values()) if losses else None,
            losses=losses,
            validation=score,
            validations=scores,
            best=self.best.score,
            best_step=self.best.step,
            seconds=round(self.seconds, 3),
            memory_mb=round(self.memory_mb, 1),
        )
        self._sums, self._summed = {}, 0
        return line

    def snapshot(self) -> bytes:
        """All that is needed to go on from here."""
        assert self.best is not None
        tensors = {f"weights/{name}": tensor for name, tensor in self.reasoner.state_dict().items()}
        for kept in self.candidates:
            tensors |= {f"candidate/{kept.step}/{name}": tensor for name, tensor in kept.weights.items()}
        tensors |= {f"average/{name}": tensor for name, tensor in (self.average or {}).items()}
        for name, parameter in self.reasoner.named_parameters():
            kept = self.optimiser.state.get(parameter, {})
            tensors |= {f"adam/{moment}/{name}": kept[moment] for moment in MOMENTS if moment in kept}
        notes = dict(
            step=self.step,
            candidates=[{"score": kept.score, "step": kept.step} for kept in self.candidates],
            streams={task: stream.state for task, stream in self.streams.items()},
            sums=self._sums,
            summed=self._summed,
            seconds=self.seconds,
            memory_mb=self.memory_mb,
            improved=self.improved,
        )
        return pack(tensors, notes)

    def begin_with(self, run: Run) -> str:
        """Take over those weights of another run's network that fit; how many they are, in words."""
        ours, theirs = self.reasoner.state_dict(), run.network().state_dict()
        fitting = {name: x for name, x in theirs.items() if name in ours and x.shape == ours[name].shape}
        if lacking := [name for name in ours if name.startswith("processor.") and name not in fitting]:
            raise ValueError(f"the processor in {run.path} does not fit: {lacking[0]} is missing, or of another shape")
        self.reasoner.load_state_dict({**ours, **fitting})
        if self.average is not None:
            self.average = self._weights()
        return f"begins with {len(fitting)} of {len(ours)} weights of {run.path}"

    def restore(self, content: bytes, path: Path) -> None:
        """Go on from a snapshot, which was read from that file."""
        tensors, notes = unpack(content, path)
        check_state(self.reasoner, tensors, path)
        load_weights(self.reasoner, below("weights/", tensors), path)
        try:
            msgspec.convert(notes, Notes)
            self.optimiser.state.clear()
            for name, parameter in self.reasoner.named_parameters():
                if f"adam/step/{name}" in tensors:  # a head that has not learned yet has none
                    kept = {moment: tensors[f"adam/{moment}/{name}"].to(parameter.device) for moment in MOMENTS}
                    self.optimiser.state[parameter] = kept
            self.candidates = _candidates(tensors, notes)
            if self.average is not None:
                self.average = below("average/", tensors)
                if not self.average:
                    raise ValueError("it has no average of the weights")
            self._sums = {task: Counter(sums) for task, sums in notes["sums"].items()}
            self.step, self._summed = notes["step"], notes["summed"]
            self.seconds, self.memory_mb = notes["seconds"], notes["memory_mb"]
            self.improved = notes.get("improved", self.candidates[0].step)  # older states do not say
            self._check_steps()
            for task, stream in self.streams.items():
                stream.restore(notes["streams"][task])
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path} is damaged or not of a run: it has no {error}") from None
        except ValueError as error:
            raise ValueError(f"{path} is not of this run: {error}") from None

    def _check_steps(self) -> None:
        """Raise where no run of these settings can be after what was restored."""
        if lacking := [kept.step for kept in self.candidates if not kept.weights]:
            raise ValueError(f"it has no weights of step {lacking[0]}, which was one of the best")
        last, steps = max(self.improved, *(kept.step for kept in self.candidates)), self.settings.steps
        if not last <= self.step <= steps:
            raise ValueError(f"it is of step {shown(self.step)}, and has the best of {shown(last)}, of {steps} steps")

    def close(self) -> None:
        self.workers.close()
        for stream in self.streams.values():
            stream.close()


def _mean(scores: dict[str, float]) -> float:
    """The mean over tasks."""
    return sum(scores.values()) / len(scores)


def _candidates(tensors: Weights, notes: dict[str, Any]) -> list[Kept]:
    if "best" in notes:  # a state of an older version kept one
        return [Kept(notes["best"]["score"], notes["best"]["step"], below("best/", tensors))]
    return [Kept(x["score"], x["step"], below(f"candidate/{x['step']}/", tensors)) for x in notes["candidates"]]
