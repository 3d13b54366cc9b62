"""All that changes while a network learns: one step of it, and how it is saved."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from rnar.evaluate import evaluate
from rnar.nn.workers import Workers
from rnar.training.data import training_data, validation_set
from rnar.training.environment import peak_memory
from rnar.training.files import pack, unpack
from rnar.training.run import load_weights
from rnar.training.settings import Settings
from rnar.training.stopping import Stop
from rnar.training.team import Team

MOMENTS = ("step", "exp_avg", "exp_avg_sq")  # what Adam keeps of a parameter, by its names


class Best(NamedTuple):
    """The weights that did best in validation, the earliest of those that did equally well."""

    score: float
    step: int
    weights: dict[str, Tensor]

    def packed(self) -> bytes:
        return pack(self.weights, {"step": self.step, "validation": self.score})


class Learner:
    """A network that learns, one step after the other."""

    def __init__(self, settings: Settings, team: Team):
        self.settings, self.team, self.model = settings, team, settings.recipe
        reasoner = self.model.build(settings.tasks, settings.size, settings.seed)
        self.reasoner = reasoner.to(team.device).train()
        self.workers = Workers(self.reasoner, team.threads, (team.rank, team.world))
        self.optimiser = torch.optim.Adam(self.reasoner.parameters(), settings.learning_rate or 0.0, fused=True)
        self.streams = {task: training_data(settings, task) for task in settings.tasks}
        self.validation = {task: validation_set(settings, task) for task in settings.tasks} if team.first else {}
        self.step = 0
        self.best: Best | None = None
        self.seconds = 0.0
        self.memory_mb = 0.0
        self._sums: dict[str, dict[str, float]] = {}
        self._summed = 0

    @property
    def parameters(self) -> int:
        return sum(p.numel() for p in self.reasoner.parameters())

    def learn(self, stop: Stop) -> tuple[float, bool]:
        """One step: a batch of every task. The sum of its losses, and whether any process wants to stop."""
        start = time.perf_counter()
        self.reasoner.processor.progress(self.step / (self.settings.steps or 1))
        total, stopping = 0.0, False
        for k, (task, stream) in enumerate(self.streams.items()):
            losses, stopping = self.team.backward(self.workers, next(stream), self._seed(k), stop)
            norm = clip_grad_norm_(self.reasoner.parameters(), self.settings.clip or 0.0)
            if not torch.isfinite(norm):
                raise ValueError(
                    f"the gradients are no numbers any more at step {self.step}: is the learning rate high?"
                )
            self.optimiser.step()
            sums = self._sums.setdefault(task, {})
            for name, loss in losses.items():
                sums[name] = sums.get(name, 0.0) + loss
            total += sum(losses.values())
        self.step += 1
        self._summed += 1
        self.seconds += time.perf_counter() - start
        return total, stopping

    def _seed(self, k: int) -> int:
        """For all that is drawn in step `step` of task number `k`."""
        return int(np.random.SeedSequence((self.settings.seed, self.step, k)).generate_state(1)[0])

    def validate(self) -> dict[str, Any]:
        """Try the network, keep it if it is the best so far, and report."""
        start = time.perf_counter()
        scores = {task: evaluate(self.workers, batch).score for task, batch in self.validation.items()}
        score = sum(scores.values()) / len(scores)
        if self.best is None or score > self.best.score:
            weights = {name: tensor.detach().cpu().clone() for name, tensor in self.reasoner.state_dict().items()}
            self.best = Best(score, self.step, weights)
        self.seconds += time.perf_counter() - start
        return self._report(score, scores)

    def _report(self, score: float, scores: dict[str, float]) -> dict[str, Any]:
        """A line of the metrics: losses are means over the steps since the last one."""
        assert self.best is not None
        self.memory_mb = max(self.memory_mb, peak_memory(self.workers))
        losses = {task: {name: x / self._summed for name, x in sums.items()} for task, sums in self._sums.items()}
        line = dict(
            step=self.step,
            loss=sum(sum(each.values()) for each in losses.values()) if losses else None,
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
        tensors |= {f"best/{name}": tensor for name, tensor in self.best.weights.items()}
        for name, parameter in self.reasoner.named_parameters():
            kept = self.optimiser.state.get(parameter, {})
            tensors |= {f"adam/{moment}/{name}": kept[moment] for moment in MOMENTS if moment in kept}
        notes = dict(
            step=self.step,
            best={"score": self.best.score, "step": self.best.step},
            streams={task: stream.state for task, stream in self.streams.items()},
            sums=self._sums,
            summed=self._summed,
            seconds=self.seconds,
            memory_mb=self.memory_mb,
        )
        return pack(tensors, notes)

    def restore(self, content: bytes, path: Path) -> None:
        """Go on from a snapshot, which was read from that file."""
        tensors, notes = unpack(content, path)
        load_weights(self.reasoner, _below("weights/", tensors), path)
        try:
            self._restore_moments(tensors)
            self.best = Best(notes["best"]["score"], notes["best"]["step"], _below("best/", tensors))
            self.step, self._sums, self._summed = notes["step"], notes["sums"], notes["summed"]
            self.seconds, self.memory_mb = notes["seconds"], notes["memory_mb"]
            for task, stream in self.streams.items():
                stream.restore(notes["streams"][task])
        except (KeyError, TypeError) as error:
            raise ValueError(f"{path} is damaged or not of a run: it has no {error}") from None
        except ValueError as error:
            raise ValueError(f"{path} is not of this run: {error}") from None

    def _restore_moments(self, tensors: dict[str, Tensor]) -> None:
        self.optimiser.state.clear()
        for name, parameter in self.reasoner.named_parameters():
            if f"adam/step/{name}" in tensors:  # a head that has not learned yet has none
                kept = {moment: tensors[f"adam/{moment}/{name}"].to(parameter.device) for moment in MOMENTS}
                self.optimiser.state[parameter] = kept

    def use_best(self) -> Best:
        """Take the best weights, for the test."""
        assert self.best is not None
        self.reasoner.load_state_dict(self.best.weights)
        return self.best

    def close(self) -> None:
        for stream in self.streams.values():
            stream.close()


def _below(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
