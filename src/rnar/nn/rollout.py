"""A rollout: a network runs through samples, from their first hint to their last."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from rnar.common.checking import shown
from rnar.functional.scope import Purpose, Scope, entered
from rnar.nn.draws import draws
from rnar.nn.encoders import Wide
from rnar.nn.kinds import Logits, concatenated, kind_of
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
        if not isinstance(seed, (int, np.integer)) or seed < 0:
            raise ValueError(f"seed must be a whole number from 0 on, not {shown(seed)}")
        self.reasoner, self.samples = reasoner, samples
        self.heads, self.device = reasoner.heads_of(samples.task), samples.back.device
        steps = [max(1, length - 1) for length in lengths or samples.lengths]
        self.active: list[int] = (np.array(steps) > np.arange(max(steps) + 1)[:, None]).sum(axis=1).tolist()
        """how many samples take step t; the last entry is 0"""
        autocast = torch.is_autocast_enabled(self.device.type)
        precision = torch.get_autocast_dtype(self.device.type) if autocast else None
        self.draws = partial(draws, seed, self.device)
        self.scope = Scope(precision, self.draws)

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
        outputs, kept, losses = defaultdict(list), defaultdict(list), defaultdict(list)
        state, hints = None, {}
        with entered(self.scope), torch.autocast(self.device.type, enabled=False):
            self.inputs = self._inputs()
            self.channels = self.heads.channels(self.inputs, self.samples.nodes)
            for t, active in enumerate(self.active[:-1]):
                if t and active < self.active[t - 1]:
                    state, hints = first(state, active), first(hints, active)
                taken = self.step(t, state, hints) if run is None else run(active, self.step, t, state, hints)
                state, hints = taken.state, taken.hints
                if each is not None:
                    each(t, hints)
                for pieces, made in (
                    (outputs, taken.outputs),
                    (kept, hints if keep_hints else {}),
                    (losses, taken.losses),
                ):
                    for name, x in made.items():
                        pieces[name].append(x)
        # the samples that end first are the last of the batch
        return Steps({name: concatenated(pieces[::-1]) for name, pieces in outputs.items()}, dict(kept), dict(losses))

    def step(self, t: int, state: Any, hints: dict[str, Tensor]) -> StepOutput:
        """Step t of the active samples, after a state and the logits of hints."""
        with entered(self.scope) as scope:
            scope.begin_step(t)
            active, ending = self.active[t], slice(self.active[t + 1], self.active[t])
            inputs, channels = first((self.inputs, self.channels), active)
            graph = self.heads.graph(inputs, channels, self._fed(t, hints))
            output = self.reasoner.processor(graph, state)
            decoded, outputs = self.heads.decode(graph, output, ending, self._noise(t, ending))
            return StepOutput(output.state, decoded, outputs, scope.losses)  # type: ignore[arg-type]

    def _inputs(self) -> Wide:
        inputs, reasoner = self.samples.inputs, self.reasoner
        if reasoner.training and reasoner.without_positions and "pos" in inputs:
            drawn = torch.rand((), generator=self.scope.batch_generator, device=self.device)
            if drawn < reasoner.without_positions:
                inputs = {**inputs, "pos": torch.zeros_like(inputs["pos"])}
        spec = self.heads.spec.inputs
        return {name: kind_of(feature).widen(inputs[name], self.samples.nodes) for name, feature in spec.items()}

    def _fed(self, t: int, hints: dict[str, Tensor]) -> Wide:
        """The hints that are encoded at step t: the true ones at first, then the network's own."""
        config, active = self.reasoner.hints, self.active[t]
        if t == 0 or config.source == "truth":
            return self._true(t)
        wide = {}
        for name, feature in self.heads.encoded_hints.items():
            kind, logits = kind_of(feature), hints[name]
            wide[name] = kind.widen(kind.decide(logits), self.samples.nodes) if config.hard else kind.relax(logits)
            if config.source == "nothing":
                wide[name] = torch.zeros_like(wide[name])
        if not self.reasoner.training or not config.teacher:
            return wide
        forced = (self._uniform("teacher", t, self.samples.whole) < config.teacher)[self.samples.places[:active]]
        return {
            name: torch.where(forced.view(-1, *[1] * (own.dim() - 1)), true, own)
            for (name, own), true in zip(wide.items(), self._true(t).values(), strict=True)
        }

    def _true(self, t: int) -> Wide:
        """The true hints of the active samples."""
        stored, active, nodes = self.samples.hints, self.active[t], self.samples.nodes
        features = self.heads.encoded_hints.items()
        return {name: kind_of(feature).widen(stored[name][t, :active], nodes) for name, feature in features}

    def _noise(self, t: int, some: slice) -> Tensor | None:
        """Uniform numbers [some, N, N] for the permutations of some samples, in training."""
        if not self.reasoner.training or not self.heads.predicts_permutations or some.start == some.stop:
            return None
        nodes = self.samples.nodes
        return self._uniform("noise", t, self.samples.whole, nodes, nodes)[self.samples.places[some]]

    def _uniform(self, purpose: Purpose, t: int, *shape: int) -> Tensor:
        """Uniform numbers for all samples of the whole batch."""
        return torch.rand(shape, generator=self.draws(purpose, t), device=self.device)


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
