"""A rollout: a network runs through samples, from their first hint to their last."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rnar.functional.scope import Scope, entered
from rnar.nn.draws import Purpose, draws
from rnar.nn.heads import Inputs, Wide
from rnar.nn.kinds import Logits, PermutationLogits, kind_of
from rnar.nn.samples import Samples

if TYPE_CHECKING:
    from rnar.nn.reasoner import Reasoner


class StepOutput(NamedTuple):
    """What one step leaves."""

    state: Any
    """the processor's"""
    hints: dict[str, Tensor]
    """the logits of the next hints, [active samples, ...]"""
    outputs: dict[str, Logits]
    """the logits of the samples that end here"""
    losses: dict[str, Tensor]
    """auxiliary losses, [active samples]"""


class Steps(NamedTuple):
    """All steps of a rollout."""

    outputs: dict[str, Logits]
    """[B, ...], the longest sample first"""
    hints: dict[str, list[Tensor]]
    """of each step; empty if they were not kept"""
    losses: dict[str, list[Tensor]]
    """of each step"""


Step = Callable[..., StepOutput]
Run = Callable[[int, Step, int, Any, dict[str, Tensor]], StepOutput]
"""(active samples, step, t, state, hints) -> step(t, state, hints), or the same by checkpointing"""


class Rollout:
    """The steps of some samples: who takes each, what is fed to them, what is drawn.

    Samples that have ended leave, so that a step is computed for the others alone.

    Args:
        reasoner: The network.
        samples: What it runs through.
        seed: Decides all that is drawn.
        lengths: Other numbers of steps than the samples' own, descending.
    """

    def __init__(self, reasoner: Reasoner, samples: Samples, seed: int = 0, lengths: list[int] | None = None):
        self.reasoner, self.samples, self.seed = reasoner, samples, seed
        self.heads = reasoner.heads_of(samples.task)
        self.like = next(reasoner.parameters())
        self.device = self.like.device
        steps = [max(1, length - 1) for length in lengths or samples.lengths]
        self.steps = max(steps)
        self.active: list[int] = (np.array(steps) > np.arange(self.steps + 1)[:, None]).sum(axis=1).tolist()
        """how many samples take step t; the last entry is 0"""
        self.scope = Scope(_autocast_dtype(self.device))

    def run(
        self,
        keep_hints: bool = True,
        each: Callable[[int, dict[str, Tensor]], None] | None = None,
        run: Run | None = None,
    ) -> Steps:
        """Take all steps.

        Args:
            keep_hints: Return the logits of hints.
            each: Is told each step's number and the logits of the next hints, [active, ...].
            run: Takes a step: to keep less for a backward pass.
        """
        self.scope.batch_generator = self._draws("batch", 0)
        with entered(self.scope), torch.autocast(self.device.type, enabled=False):
            self.inputs = self._inputs()
            state, hints, done = None, {}, []
            for t in range(self.steps):
                if t and self.active[t] < self.active[t - 1]:
                    state, hints = first(state, self.active[t]), first(hints, self.active[t])
                taken = self.step(t, state, hints) if run is None else run(self.active[t], self.step, t, state, hints)
                state, hints = taken.state, taken.hints
                if each is not None:
                    each(t, hints)
                done.append(taken._replace(state=None, hints=hints if keep_hints else {}))
            return _gathered(done)

    def step(self, t: int, state: Any, hints: dict[str, Tensor]) -> StepOutput:
        """Step t of the active samples, after a state and the logits of hints."""
        with entered(self.scope) as scope:
            scope.losses, scope.draws = {}, partial(self._draws, "processor", t)
            ending = slice(self.active[t + 1], self.active[t])
            graph = self.heads.graph(self.inputs, self._fed(t, hints), self.active[t])
            output = self.reasoner.processor(graph, state)
            decoded, outputs = self.heads.decode(graph, output, ending, self._noise(t, ending))
            return StepOutput(output.state, decoded, outputs, scope.losses)  # type: ignore[arg-type]

    def _inputs(self) -> Inputs:
        inputs, nodes = self.samples.inputs, self.samples.nodes
        if "pos" in inputs and self._forgets_positions():
            inputs = {**inputs, "pos": torch.zeros_like(inputs["pos"])}
        spec = self.heads.spec.inputs
        wide = {name: kind_of(feature).widen(inputs[name], nodes) for name, feature in spec.items()}
        return self.heads.encode(wide, nodes, self.like.new_zeros(self.reasoner.size))

    def _forgets_positions(self) -> bool:
        reasoner, rng = self.reasoner, self.scope.batch_generator
        if not reasoner.training or not reasoner.without_positions:
            return False
        return bool(torch.rand((), generator=rng, device=self.device) < reasoner.without_positions)

    def _fed(self, t: int, hints: dict[str, Tensor]) -> Wide:
        """The hints that are encoded at step t: the true ones at first, then the network's own."""
        features = self.heads.encoded_hints
        if t == 0 or self.reasoner.hints.source == "truth":
            return {name: self._true(name, t) for name in features}
        wide, forced = fed_back(self.reasoner, self.samples.task, hints, self.samples.nodes), self._forced(t)
        if forced is None:
            return wide
        return {
            name: torch.where(forced.view(-1, *[1] * (own.dim() - 1)), self._true(name, t), own)
            for name, own in wide.items()
        }

    def _true(self, name: str, t: int) -> Tensor:
        stored = self.samples.hints[name][t, : self.active[t]]
        return kind_of(self.heads.encoded_hints[name]).widen(stored, self.samples.nodes)

    def _forced(self, t: int) -> Tensor | None:
        """Which of the active samples are fed the true hints, in training with a teacher: bool [active]."""
        teacher = self.reasoner.hints.teacher
        if not self.reasoner.training or not teacher or t == 0:
            return None
        return (self._uniform("teacher", t, self.samples.whole) < teacher)[self.samples.places[: self.active[t]]]

    def _noise(self, t: int, some: slice) -> Tensor | None:
        """Uniform numbers [some, N, N] for the permutations of some samples, in training."""
        if not self.reasoner.training or not self.heads.predicts_permutations or some.start == some.stop:
            return None
        nodes = self.samples.nodes
        return self._uniform("noise", t, self.samples.whole, nodes, nodes)[self.samples.places[some]]

    def _uniform(self, purpose: Purpose, t: int, *shape: int) -> Tensor:
        """Uniform numbers for all samples of the whole batch."""
        return torch.rand(shape, generator=self._draws(purpose, t), device=self.device)

    def _draws(self, purpose: Purpose, t: int) -> torch.Generator:
        return draws(self.seed, purpose, t, self.device)


def fed_back(reasoner: Reasoner, task: str, hints: dict[str, Tensor], nodes: int) -> Wide:
    """What is fed of a network's own hints: what the logits suggest, as decisions or not; or nothing, zeros."""
    wide = {}
    for name, feature in reasoner.heads_of(task).encoded_hints.items():
        kind = kind_of(feature)
        if reasoner.hints.source == "nothing":
            wide[name] = torch.zeros_like(kind.relax(hints[name]))
        elif reasoner.hints.hard:
            wide[name] = kind.widen(kind.decide(hints[name]), nodes)
        else:
            wide[name] = kind.relax(hints[name])
    return wide


def first(values: Any, count: int) -> Any:
    """The first samples of tensors [B, ...] in (nested) tuples, lists and dicts."""
    if isinstance(values, Tensor):
        return values[:count]
    if isinstance(values, dict):
        return {name: first(x, count) for name, x in values.items()}
    if isinstance(values, (tuple, list)):
        parts = (first(x, count) for x in values)
        return type(values)(*parts) if hasattr(values, "_fields") else type(values)(parts)
    return values


def _autocast_dtype(device: torch.device) -> torch.dtype | None:
    """The precision of large products: that of autocast, where it is on."""
    return torch.get_autocast_dtype(device.type) if torch.is_autocast_enabled(device.type) else None


def _gathered(steps: list[StepOutput]) -> Steps:
    ended = [step.outputs for step in reversed(steps) if step.outputs]  # those that end first stand last
    return Steps(
        {name: _concatenated([each[name] for each in ended]) for name in ended[0]},
        {name: [step.hints[name] for step in steps] for name in steps[0].hints},
        {name: [step.losses[name] for step in steps if name in step.losses] for name in _names(steps)},
    )


def _names(steps: list[StepOutput]) -> list[str]:
    return list(dict.fromkeys(name for step in steps for name in step.losses))


def _concatenated(pieces: list[Any]) -> Logits:
    if isinstance(pieces[0], PermutationLogits):
        return PermutationLogits(*(torch.cat(part) for part in zip(*pieces, strict=True)))
    return torch.cat(pieces)
