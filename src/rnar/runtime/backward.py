"""The gradients of a batch, in a given amount of memory."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from rnar.clrs.batch import Batch, Sample, as_batch
from rnar.functional.scope import Scope
from rnar.nn.kinds import LossSum
from rnar.nn.losses import Counts, losses_of, total_loss
from rnar.nn.reasoner import Reasoner
from rnar.nn.rollout import Rollout, Step, StepOutput
from rnar.nn.samples import Part, load


def backward(
    reasoner: Reasoner,
    batch: Batch | Sample,
    seed: int = 0,
    memory: int | None = None,
    of: Counts | None = None,
    part: Part | None = None,
) -> dict[str, LossSum]:
    """Add the gradient of the sum of the mean losses to the parameters; return the losses.

    Args:
        reasoner: The network.
        batch: Samples of one of its tasks, as its model sees them.
        seed: Decides all that is drawn.
        memory: Activation memory budget in bytes: steps that do not fit are computed again in the backward pass.
            None: there is no limit. No result depends on it.
        of: By how many entries each loss is divided, if the batch is a part of a larger one.
        part: Which samples of that one it has.
    """
    batch = as_batch(batch)
    heads, device = reasoner.heads_of(batch.task), next(reasoner.parameters()).device
    samples = load(heads.spec, batch, device, part)
    rollout = Rollout(reasoner, samples, seed)
    steps = rollout.run(run=None if memory is None else Budget(rollout.scope, memory))
    losses = losses_of(heads, samples, steps)
    del steps, rollout
    total_loss(losses, of).backward()
    return {name: LossSum(total.detach(), count) for name, (total, count) in losses.items()}


class Budget:
    """Keeps the activations of steps as long as they fit into memory, and checkpoints the other steps.

    The first step is always kept, and tells how much a sample takes in one: what is computed in it once a batch, such
    as products of weights, must not belong to a step that is computed again.
    """

    def __init__(self, scope: Scope, memory: int):
        self.scope, self.memory, self.by_sample = scope, memory, 0

    def __call__(self, active: int, step: Step, t: int, state: Any, hints: dict[str, Tensor]) -> StepOutput:
        if t == 0:
            with (saved := _SavedBytes()):
                taken = step(t, state, hints)
            self.by_sample = saved.bytes // active
            self.memory -= saved.bytes
            return taken
        if self.by_sample * active < self.memory:
            self.memory -= self.by_sample * active
            return step(t, state, hints)
        again = partial(self._again, step, self.scope.count, t)
        return checkpoint(again, state, hints, use_reentrant=False, determinism_check="none")

    def _again(self, step: Step, count: int, t: int, state: Any, hints: dict[str, Tensor]) -> StepOutput:
        with self.scope.limited(count):
            return step(t, state, hints)


class _SavedBytes(torch.autograd.graph.saved_tensors_hooks):
    """Counts the bytes that are saved for a backward pass, parameters aside."""

    def __init__(self) -> None:
        self.bytes = 0
        self._seen: set[int] = set()
        super().__init__(self._count, lambda x: x)

    def _count(self, x: Tensor) -> Tensor:
        memory = x.untyped_storage()
        if not (x.is_leaf and x.requires_grad) and memory.data_ptr() not in self._seen:
            self._seen.add(memory.data_ptr())
            self.bytes += memory.nbytes()
        return x
