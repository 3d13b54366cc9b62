"""An episode: samples that a network runs through, from their first hint to their last."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from rnar.engine.draws import Purpose, draws
from rnar.engine.samples import Samples
from rnar.engine.trees import mapped, tensors
from rnar.nn.groups import Group
from rnar.nn.kinds import kind_of
from rnar.nn.linear import LinearMap
from rnar.nn.processors.processor import State
from rnar.nn.reasoner import Moment, Prepared, Reasoner


class Start(NamedTuple):
    """What a step starts from."""

    state: State
    hints: dict[Group, Tensor]
    """the logits of the step before, [B, k, ...]; empty at first"""


class Episode:
    """What each step of some samples is: who takes it, what is fed to them, what is drawn.

    Samples that have ended leave, so that a step is computed for the others alone.
    """

    def __init__(self, reasoner: Reasoner, samples: Samples, seed: int, lengths: list[int] | None = None):
        """`lengths`: other numbers of steps than the samples' own, descending."""
        self.reasoner, self.samples, self.seed = reasoner, samples, seed
        self.heads = reasoner.heads_of(samples.task)
        self.device = next(reasoner.parameters()).device
        steps = [max(1, length - 1) for length in lengths or samples.lengths]
        self.steps = max(steps)
        self.active = (np.array(steps) > np.arange(self.steps + 1)[:, None]).sum(axis=1).tolist()
        """how many samples take step t; the last entry is 0"""

    def prepare(self) -> Prepared:
        """What is the same at every step."""
        rng, precision = draws(self.seed, "batch", 0, self.device), self.reasoner.rounding
        prepared = self.reasoner.prepare(self.samples.task, self.samples.inputs, self.samples.nodes, rng)
        return prepared if precision is None else mapped(lambda x: x.rounded(precision), prepared, LinearMap)

    def first(self, prepared: Prepared) -> Start:
        return Start(self.reasoner.start(prepared), {})

    def next(self, t: int, moment: Moment) -> Start:
        """What step t starts from: what the step before has left of those samples that take this one too."""
        active = self.active[t]
        if active == self.active[t - 1]:
            return Start(moment.state, moment.hints)
        return Start(tuple(x[:active] for x in moment.state), {group: x[:active] for group, x in moment.hints.items()})

    def step(self, t: int, prepared: Prepared, start: Start) -> Moment:
        """Step t of the active samples."""
        ending = self.ending(t)
        noise, fed = self.noise(t, ending), self._fed(t, start.hints)
        return self.reasoner(self.samples.task, prepared, start.state, fed, ending, self.random(t), noise)

    def backward(
        self, t: int, prepared: Prepared, start: Start, moment: Moment | None, gradients: Sequence[Tensor | None]
    ) -> None:
        """Take the gradients of what step t gives, in their order, back to its start and to what is the same at every
        step. Without a moment that was kept, the step is taken once more."""
        moment = moment or self.step(t, prepared, start)
        pairs = zip(tensors(moment), gradients, strict=True)
        wanted = [(x, gradient) for x, gradient in pairs if gradient is not None and x.requires_grad]
        torch.autograd.backward([x for x, _ in wanted], [gradient for _, gradient in wanted])

    def settle(self, prepared: Prepared) -> None:
        """After the last step: all gradients of what was prepared are in their `.grad`."""
        for each in tensors(prepared, LinearMap):
            each.gathered.settle()

    def ending(self, t: int) -> slice:
        """Those samples of which step t is the last."""
        return slice(self.active[t + 1], self.active[t])

    def random(self, t: int) -> torch.Generator:
        """For processors that draw."""
        return draws(self.seed, "processor", t, self.device)

    def _fed(self, t: int, hints: dict[Group, Tensor]) -> dict[Group, Tensor]:
        """The hints that are encoded at step t, wide: the true ones at first, then the network's own."""
        if t == 0 or self.reasoner.feeding.source == "truth":
            return {group: self._true(group, t) for group in self.heads.hints.groups}
        wide, forced = fed_back(self.reasoner, self.samples.task, hints, self.samples.nodes), self._forced(t)
        if forced is None:
            return wide
        return {
            group: torch.where(forced.view(-1, *[1] * (own.dim() - 1)), self._true(group, t), own)
            for group, own in wide.items()
        }

    def _true(self, group: Group, t: int) -> Tensor:
        stored = self.samples.hints[group][t, : self.active[t]]
        return kind_of(self.heads.hints.groups[group]).widen(stored, self.samples.nodes)

    def _forced(self, t: int) -> Tensor | None:
        """Which of the active samples are fed the true hints, in training with a teacher: bool [active]."""
        teacher = self.reasoner.feeding.teacher
        if not self.reasoner.training or not teacher or t == 0:
            return None
        drawn = self._uniform("teacher", t, self.samples.whole)
        return (drawn < teacher)[self.samples.places[: self.active[t]]]

    def noise(self, t: int, some: slice) -> Tensor | None:
        """Uniform numbers [some, N, N] for the permutations of some samples, in training."""
        if not self.reasoner.training or not self.heads.predicts_permutations or some.start == some.stop:
            return None
        drawn = self._uniform("noise", t, self.samples.whole, self.samples.nodes, self.samples.nodes)
        return drawn[self.samples.places[some]]

    def _uniform(self, purpose: Purpose, t: int, *shape: int) -> Tensor:
        """Uniform numbers for all samples of the whole batch."""
        return torch.rand(shape, generator=draws(self.seed, purpose, t, self.device), device=self.device)


def fed_back(reasoner: Reasoner, task: str, hints: dict[Group, Tensor], nodes: int) -> dict[Group, Tensor]:
    """A network's own hints as it is fed them, wide, of the logits of the step before."""
    feeding, wide = reasoner.feeding, {}
    for group, feature in reasoner.heads_of(task).hints.groups.items():
        kind, logits = kind_of(feature), hints[group]
        own = kind.widen(kind.decide(logits), nodes) if feeding.hard else kind.relax(logits)
        wide[group] = torch.zeros_like(own) if feeding.source == "nothing" else own
    return wide
