"""Running a network over the steps of its samples: forward, and backward in little memory.

The backward pass keeps of a step what the next one starts from, and computes the rest again where there is no room for
more. What is the same at every step is computed once: each step's backward pass stops at it, and in the end all that
has been added up there goes on to the parameters.
"""

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch
from torch import Tensor

from rnar.engine.episode import Episode, Start
from rnar.engine.trees import cut_off, leaves, mapped, pass_on, tensors
from rnar.nn.decoders import Logits
from rnar.nn.groups import Group
from rnar.nn.kinds import Ring
from rnar.nn.linear import LinearMap
from rnar.nn.reasoner import Moment, Prepared


class Unrolled(NamedTuple):
    """All steps of an episode, those of hints and losses one after the other."""

    outputs: dict[str, Logits]
    """[B, ...], the longest sample first"""
    hints: dict[Group, Tensor]
    """[all steps' active samples, k, ...]; empty if they were not kept"""
    losses: dict[str, Tensor]
    """the processor's own, [all steps' active samples]"""


def unroll(
    episode: Episode, keep_hints: bool, each: Callable[[int, dict[Group, Tensor]], None] | None = None
) -> Unrolled:
    """All steps of all samples. `each` is told each step's number and the logits of the next hints [active, k, ...]."""
    prepared = episode.prepare()
    start, moments = episode.first(prepared), []
    for t in range(episode.steps):
        moment = episode.step(t, prepared, start)
        if each is not None:
            each(t, moment.hints)
        moments.append(moment if keep_hints else moment._replace(state=(), hints={}))
        if t + 1 < episode.steps:
            start = episode.next(t + 1, moment)
    return _gathered(moments)


def unroll_backward(episode: Episode, loss: Callable[[Unrolled], Tensor], memory: int = 0) -> None:
    """Add the gradient of a loss to the parameters' `.grad`.

    What the backward pass needs of a step is kept as long as it fits into `memory`, in bytes. The other steps are
    computed twice: once to know where the next one starts, once more when their gradient is wanted.
    """
    whole = episode.prepare()
    prepared = mapped(LinearMap.gathering, cut_off(whole), LinearMap)
    taken = _forward_through_steps(episode, prepared, memory)
    run = leaves(_gathered([step.moment for step in taken]))
    loss(run).backward()
    _backward_through_steps(episode, prepared, taken, run)
    episode.settle(prepared)
    pass_on(whole, prepared)


class Taken(NamedTuple):
    """A step that was taken."""

    start: Start
    """leaves, which get gradients"""
    moment: Moment
    kept: bool
    """Was all kept that its backward pass needs? If not, it has to be computed once more."""


def _forward_through_steps(episode: Episode, prepared: Prepared, memory: int) -> list[Taken]:
    """All steps, each cut off from the one before."""
    taken: list[Taken] = []
    start = episode.first(prepared)
    by_a_sample, saved = 0, _Saved()  # bytes that are kept of a step, as counted in the first
    for t in range(episode.steps):
        start, active = leaves(start), episode.active[t]
        kept = by_a_sample * active < memory
        with torch.set_grad_enabled(kept), saved if t == 0 else nullcontext():
            moment = episode.step(t, prepared, start)
        if t == 0:
            by_a_sample = saved.bytes // active
        if kept:
            memory -= by_a_sample * active
        taken.append(Taken(start, moment, kept))
        if t + 1 < episode.steps:
            start = episode.next(t + 1, moment)
    return taken


class _Saved(torch.autograd.graph.saved_tensors_hooks):
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
        return x.detach()


def _backward_through_steps(episode: Episode, prepared: Prepared, taken: list[Taken], run: Unrolled) -> None:
    """`run` are leaves that have the gradients of the loss."""
    rows = episode.active[:-1]
    of_hints = {group: _split(x.grad, rows) for group, x in run.hints.items()}
    of_losses = {name: _split(x.grad, rows) for name, x in run.losses.items()}
    after: Start | None = None  # the leaves that the following step started from
    for t in reversed(range(episode.steps)):
        start, moment, kept = taken.pop()
        gradients: list[Tensor | None] = []  # of all tensors of the moment, in their order
        for k, x in enumerate(moment.state):
            gradients.append(None if after is None else _sum(x, None, after.state[k].grad))
        for group, x in moment.hints.items():
            gradients.append(_sum(x, of_hints[group][t], after.hints[group].grad if after else None))
        ending = episode.ending(t)
        for name in moment.outputs:
            gradients += [None if leaf.grad is None else leaf.grad[ending] for leaf in tensors(run.outputs[name])]
        gradients += [of_losses[name][t] for name in moment.losses]
        episode.backward(t, prepared, start, moment if kept else None, gradients)
        after = start


def _split(gradient: Tensor | None, rows: list[int]) -> Sequence[Tensor | None]:
    """A gradient of all steps, by steps."""
    return [None] * len(rows) if gradient is None else gradient.split(rows)


def _gathered(moments: list[Moment]) -> Unrolled:
    ended = [moment.outputs for moment in reversed(moments) if moment.outputs]  # those that end first stand last
    return Unrolled(
        {name: _cat([each[name] for each in ended]) for name in ended[0]},
        {group: torch.cat([moment.hints[group] for moment in moments]) for group in moments[0].hints},
        {name: torch.cat([moment.losses[name] for moment in moments]) for name in moments[0].losses},
    )


def _sum(like: Tensor, own: Tensor | None, of_the_next: Tensor | None) -> Tensor | None:
    """The gradient from the loss and that from the next step, which fewer samples may have taken."""
    if of_the_next is None:
        return own
    count = of_the_next.shape[0]
    if own is None and count == like.shape[0]:
        return of_the_next
    total = torch.zeros_like(like) if own is None else own  # that of the loss is not needed any more
    (total if count == like.shape[0] else total[:count]).add_(of_the_next)
    return total


def _cat(pieces: list[Any]) -> Logits:
    if isinstance(pieces[0], Ring):
        return Ring(*(torch.cat(part) for part in zip(*pieces, strict=True)))
    return torch.cat(pieces)
