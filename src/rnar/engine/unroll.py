"""Running a network over the steps of its samples: forward, and backward in little memory.

Samples are sorted by length, so that those that have ended leave: a step is computed for the others alone. The backward
pass keeps of a step what the next one starts from, and computes the rest again where there is no room for more.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import Tensor

from rnar.engine.once import computing_once
from rnar.nn.decoders import Logits, View
from rnar.nn.encoders import Graph
from rnar.nn.kinds import Ring, kind_of
from rnar.nn.linear import Encoded
from rnar.nn.processors.processor import State

if TYPE_CHECKING:
    from rnar.nn.reasoner import Heads, Reasoner


class Tensors(NamedTuple):
    """Samples on a device, the longest first."""

    inputs: dict[str, Tensor]
    """[B, ...]"""
    hints: dict[str, Tensor]
    """[T, B, ...]"""
    outputs: dict[str, Tensor]
    """[B, ...]"""
    lengths: list[int]
    """descending"""
    order: Tensor
    """[B]: where each sample stands in the whole batch"""
    whole: int
    """how many samples that has; these may be a part of them"""
    nodes: int


class Start(NamedTuple):
    """What a step starts from."""

    state: State
    hints: dict[str, Tensor]
    """the logits of the step before; empty at first"""


class Moment(NamedTuple):
    """What one step gives."""

    state: State
    hints: dict[str, Tensor]
    """the logits of the next hints [active, ...]"""
    outputs: dict[str, Logits]
    """the logits of those samples that end here"""
    penalty: Tensor | None
    """[active]"""


class Context:
    """What stays the same in all steps: the encoded inputs, and how many samples are active."""

    def __init__(self, reasoner: Reasoner, heads: Heads, data: Tensors, lengths: list[int], seed: int):
        self.reasoner, self.heads, self.data, self.seed = reasoner, heads, data, seed
        self.nodes = data.nodes
        steps = [max(1, length - 1) for length in lengths]
        self.steps = max(steps)
        self.active = [sum(s > t for s in steps) for t in range(self.steps + 1)]
        """how many samples take step t; the last entry is 0"""
        self.like = next(iter(reasoner.processor.parameters()))
        inputs = {name: kind_of(f).widen(data.inputs[name], data.nodes) for name, f in heads.spec.inputs.items()}
        encoded = heads.inputs(inputs)
        size, batch = reasoner.processor.size, len(lengths)
        zeros = self.like.new_zeros
        self.of_nodes = encoded["node"].computed() if "node" in encoded else zeros(batch, self.nodes, size)
        self.of_whole = encoded["graph"].computed() if "graph" in encoded else zeros(batch, size)
        self.of_edges = encoded.get("edge") or Encoded(
            zeros(batch, self.nodes, self.nodes, 0), zeros(0, size), zeros(size)
        )
        self.adjacency: Tensor | None = None
        if reasoner.processor.uses_adjacency:
            itself = torch.eye(self.nodes, dtype=torch.bool, device=self.like.device).expand(batch, -1, -1)
            joined = heads.inputs.adjacency(inputs)
            self.adjacency = itself if joined is None else itself | joined

    def cut_off_inputs(self) -> Callable[[], None]:
        """Cut the encoded inputs off from their encoders; the function returned passes their gradients on."""
        weight, bias = self.of_edges.weight, self.of_edges.bias
        encoded = [self.of_nodes, self.of_whole, weight, bias]
        leaves = self.of_nodes, self.of_whole, weight, bias = [x.detach().requires_grad_() for x in encoded]
        self.of_edges = self.of_edges._replace(weight=weight, bias=bias)

        def finish() -> None:
            pairs = [(x, leaf.grad) for x, leaf in zip(encoded, leaves, strict=True) if leaf.grad is not None]
            pairs = [(x, gradient) for x, gradient in pairs if x.requires_grad]
            torch.autograd.backward([x for x, _ in pairs], [gradient for _, gradient in pairs])

        return finish

    def start(self) -> State:
        return self.reasoner.processor.start(self.active[0], self.nodes, self.like)

    def going_on(self, t: int, state: State, hints: dict[str, Tensor]) -> Start:
        """What step t starts from: what the step before has left of those samples that take this one too."""
        active = self.active[t]
        if t and active == self.active[t - 1]:
            return Start(state, hints)
        return Start(tuple(x[:active] for x in state), {name: x[:active] for name, x in hints.items()})

    def rng(self, t: int) -> torch.Generator:
        """Of its own for each step, so that a step that is computed again, or in parts, draws the same."""
        return torch.Generator(self.like.device).manual_seed((self.seed * 1_000_003 + t) % 2**63)

    def moment(self, t: int, state: State, hints: dict[str, Tensor]) -> Moment:
        """Step t of the active samples, from their state and the hints they predicted last."""
        reasoner, heads = self.reasoner, self.heads
        graph = self._graph(self._fed(t, hints), self.active[t])
        step = reasoner.processor(graph, state, self.rng(t))
        view = View(step.nodes, graph.edges, step.edges, graph.whole)
        outputs: dict[str, Logits] = {}
        ending = slice(self.active[t + 1], self.active[t])
        if ending.start < ending.stop:
            outputs = heads.decode_outputs(view.part(ending), self._noise(t, ending))
        return Moment(step.state, heads.decode_hints(view), outputs, step.penalty)

    def _fed(self, t: int, hints: dict[str, Tensor]) -> dict[str, Tensor]:
        """The hints that are encoded at step t, wide: the true ones at first, then the network's own."""
        feeding, active, wide = self.reasoner.feeding, self.active[t], {}
        forced = None
        if self.reasoner.training and feeding.teacher > 0:
            drawn = torch.rand(self.data.whole, generator=self.rng(t), device=self.like.device)
            forced = (drawn < feeding.teacher)[self.data.order[:active]]
        given = t == 0 or feeding.source == "truth"
        for name, feature in self.heads.hints.features.items():
            kind = kind_of(feature)
            if given or forced is not None:
                true = kind.widen(self.data.hints[name][t, :active], self.nodes)
                if given:
                    wide[name] = true
                    continue
            own = kind.widen(kind.decide(hints[name]), self.nodes) if feeding.hard else kind.relax(hints[name])
            if feeding.source == "nothing":
                own = torch.zeros_like(own)
            wide[name] = own if forced is None else torch.where(forced.view(-1, *[1] * (own.dim() - 1)), true, own)
        return wide

    def _graph(self, wide: dict[str, Tensor], active: int) -> Graph:
        """The inputs of the active samples, and the hints that are fed to them."""
        encoded = self.heads.hints(wide)
        nodes, whole, edges = self.of_nodes[:active], self.of_whole[:active], self.of_edges
        edges = edges._replace(channels=edges.channels[:active])
        if "node" in encoded:
            nodes = nodes + encoded["node"].computed()
        if "graph" in encoded:
            whole = whole + encoded["graph"].computed()
        if "edge" in encoded:
            edges = edges.beside(encoded["edge"], ("inputs and hints", id(self)))
        adjacency = None if self.adjacency is None else self.adjacency[:active]
        if adjacency is not None:
            joined = self.heads.hints.adjacency(wide)
            adjacency = adjacency if joined is None else adjacency | joined
        return Graph(nodes, edges, whole, adjacency, self.heads.reads_pairs)

    def _noise(self, t: int, some: slice) -> Tensor | None:
        """Uniform numbers [B, N, N] for the permutations of some samples, in training."""
        if not self.reasoner.training or not self.heads.predicts_permutations:
            return None
        shape = self.data.whole, self.nodes, self.nodes
        return torch.rand(shape, generator=self.rng(t), device=self.like.device)[self.data.order[some]]


class Unrolled(NamedTuple):
    """All moments of a run, by feature."""

    outputs: dict[str, Logits]
    """[B, ...], the longest sample first"""
    hints: list[dict[str, Tensor]]
    """at each step [active, ...]; empty if they were not kept"""
    penalties: list[Tensor]
    """at each step [active]"""


def unroll(
    context: Context, keep_hints: bool, each: Callable[[int, dict[str, Tensor]], None] | None = None
) -> Unrolled:
    """All steps of all samples. `each` is told each step's number, and the logits of the next hints [active, ...]."""
    state, hints = context.start(), {}
    moments: list[Moment] = []
    with computing_once():
        for t in range(context.steps):
            moment = context.moment(t, *context.going_on(t, state, hints))
            state, hints = moment.state, moment.hints
            if each is not None:
                each(t, hints)
            moments.append(moment if keep_hints else moment._replace(state=(), hints={}))
    return _gathered(moments)


def unroll_backward(context: Context, loss: Callable[[Unrolled], Tensor], memory: int = 0) -> None:
    """Add the gradient of a loss to the parameters' `.grad`.

    What the backward pass needs of a step is kept as long as it fits into `memory`, in bytes. The other steps are
    computed twice: once to know where the next one starts, once more when their gradient is wanted.
    """
    finish = context.cut_off_inputs()
    with computing_once(apart=True):
        taken = _forward_through_steps(context, memory)
        run = _leaves(_gathered([step.moment for step in taken]))
        loss(run).backward()
        _backward_through_steps(context, taken, run)
    finish()


class Taken(NamedTuple):
    """A step that was taken."""

    start: Start
    """leaves, which get gradients"""
    moment: Moment
    kept: bool
    """Is all there that its backward pass needs?"""


def _forward_through_steps(context: Context, memory: int) -> list[Taken]:
    """All steps, each cut off from the one before."""
    taken: list[Taken] = []
    state, hints = context.start(), {}
    by_a_sample = 0  # bytes that are kept of a step
    for t in range(context.steps):
        start = _leaves(context.going_on(t, state, hints))
        kept = by_a_sample * context.active[t] < memory
        with torch.set_grad_enabled(kept), _Saved() if t == 0 else nullcontext() as saved:
            moment = context.moment(t, *start)
        if saved is not None:
            by_a_sample = saved.bytes // context.active[t]
        if kept:
            memory -= by_a_sample * context.active[t]
        taken.append(Taken(start, moment, kept))
        state, hints = moment.state, moment.hints
    return taken


class _Saved(torch.autograd.graph.saved_tensors_hooks):
    """Counts the bytes that are saved for a backward pass, parameters aside."""

    def __init__(self) -> None:
        self.bytes = 0
        self._seen: set[int] = set()
        super().__init__(self._count, lambda x: x)

    def __enter__(self) -> _Saved:
        super().__enter__()
        return self

    def _count(self, x: Tensor) -> Tensor:
        memory = x.untyped_storage()
        if not (x.is_leaf and x.requires_grad) and memory.data_ptr() not in self._seen:
            self._seen.add(memory.data_ptr())
            self.bytes += memory.nbytes()
        return x.detach()


def _backward_through_steps(context: Context, taken: list[Taken], run: Unrolled) -> None:
    """`run` are leaves that have the gradients of the loss."""
    of_state: tuple[Tensor | None, ...] = ()
    of_hints: dict[str, Tensor | None] = {}
    for t in reversed(range(context.steps)):
        start, moment, kept = taken.pop()
        if not kept:
            moment = context.moment(t, *start)
        ending = slice(context.active[t + 1], context.active[t])
        wanted: list[tuple[Tensor, Tensor | None]] = []
        for x, gradient in zip(moment.state, of_state, strict=False):
            wanted.append((x, _sum(x, None, gradient)))
        for name, x in moment.hints.items():
            wanted.append((x, _sum(x, run.hints[t][name].grad, of_hints.get(name))))
        for name, logits in moment.outputs.items():
            for x, leaf in zip(_parts(logits), _parts(run.outputs[name]), strict=True):
                wanted.append((x, None if leaf.grad is None else leaf.grad[ending]))
        if moment.penalty is not None:
            wanted.append((moment.penalty, run.penalties[t].grad))
        wanted = [(x, gradient) for x, gradient in wanted if gradient is not None]
        torch.autograd.backward([x for x, _ in wanted], [gradient for _, gradient in wanted])
        of_state = tuple(x.grad for x in start.state)
        of_hints = {name: x.grad for name, x in start.hints.items()}


def _gathered(moments: list[Moment]) -> Unrolled:
    ended = [moment.outputs for moment in reversed(moments) if moment.outputs]  # those that end first stand last
    return Unrolled(
        {name: _cat([each[name] for each in ended]) for name in ended[0]},
        [moment.hints for moment in moments],
        [moment.penalty for moment in moments if moment.penalty is not None],
    )


def _sum(like: Tensor, own: Tensor | None, of_the_next: Tensor | None) -> Tensor | None:
    """The gradient from the loss and that from the next step, which fewer samples may have taken."""
    if of_the_next is None:
        return own
    if own is None and len(of_the_next) == len(like):
        return of_the_next
    total = torch.zeros_like(like) if own is None else own  # that of the loss is not needed any more
    total[: len(of_the_next)] += of_the_next
    return total


def _leaves(x: Any) -> Any:
    """The same tensors in the same places, cut off from what they were computed from."""
    if isinstance(x, Tensor):
        return x.detach().requires_grad_()
    if isinstance(x, dict):
        return {name: _leaves(value) for name, value in x.items()}
    if isinstance(x, list):
        return [_leaves(value) for value in x]
    return type(x)(*map(_leaves, x)) if hasattr(x, "_fields") else tuple(map(_leaves, x))


def _parts(logits: Logits) -> tuple[Tensor, ...]:
    return tuple(logits) if isinstance(logits, Ring) else (logits,)


def _cat(pieces: list[Any]) -> Logits:
    if isinstance(pieces[0], Ring):
        return Ring(*(torch.cat(part) for part in zip(*pieces, strict=True)))
    return torch.cat(pieces)
