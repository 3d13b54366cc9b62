"""Steps of one shape, recorded once and played again: for a GPU, which takes longer to be asked than to compute.

RNAR asks for some two hundred kernels a step; a recording (a CUDA graph) asks for all of them at once. Its memory is
fixed: what a step starts from is copied into it, and what the step gives is copied out. So nothing can be kept for the
backward pass, in which each step is taken once more. Its shapes are fixed as well: samples that have ended stay in it,
nobody looks at what they give, and the gradients that they are given are zero. The first step, which is fed the true
hints, is taken as ever.
"""

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, NamedTuple

import torch
from torch import Tensor

from rnar.engine.episode import Episode, Start, fed_back
from rnar.engine.samples import Samples
from rnar.engine.trees import mapped, tensors
from rnar.nn.linear import LinearMap
from rnar.nn.processors.processor import Processor
from rnar.nn.reasoner import Moment, Prepared, Reasoner

WARM_UP = 3  # times that work is done before it is recorded, as CUDA asks for

Recorder = Callable[[Callable[[], None]], Callable[[], None]]
"""records some work, and gives what does it again"""


class CudaGraphs:
    """Records as CUDA graphs. All share their memory: one is played after the other, and what it gives is copied."""

    def __init__(self) -> None:
        self.pool = torch.cuda.graph_pool_handle()

    def __call__(self, work: Callable[[], None]) -> Callable[[], None]:
        aside = torch.cuda.Stream()
        aside.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(aside):
            for _ in range(WARM_UP):
                work()
        torch.cuda.current_stream().wait_stream(aside)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self.pool):
            work()
        return graph.replay


class Recordings:
    """The recordings of a network in training: some for each shape of its batches, made when they are needed.

    Args:
        reasoner: The network. One whose steps are not all alike is refused.
        recorder: What records; by default CUDA graphs.
    """

    def __init__(self, reasoner: Reasoner, recorder: Recorder | None = None):
        device, name = next(reasoner.parameters()).device, type(reasoner.processor).__name__
        if recorder is None and device.type != "cuda":
            raise ValueError(f"CUDA graphs need --device cuda; this network is on {device.type}")
        if type(reasoner.processor).progress is not Processor.progress:
            raise ValueError(f"{name} changes along the training, and a CUDA graph does not; train without them")
        if reasoner.feeding.teacher:
            raise ValueError("this model is fed true hints at random, which a CUDA graph is not; train without them")
        self.reasoner = reasoner
        self.recorder = recorder or CudaGraphs()
        self._stages: dict[Any, Stage] = {}

    def episode(self, samples: Samples, seed: int) -> Episode:
        """An episode whose steps are played."""
        return RecordedEpisode(self, samples, seed)

    def stage(self, task: str, nodes: int, prepared: Prepared, start: Start) -> "Stage":
        """Where the steps of these are played."""
        shapes = tuple((x.shape, x.dtype) for x in tensors(prepared))
        key = task, shapes, self.reasoner.rounding, self.reasoner.training
        if key not in self._stages:
            self._stages[key] = Stage(self.reasoner, self.recorder, task, nodes, prepared, start)
        return self._stages[key]


class RecordedEpisode(Episode):
    """An episode in training of which all steps but the first are played."""

    def __init__(self, recordings: Recordings, samples: Samples, seed: int):
        super().__init__(recordings.reasoner, samples, seed)
        self._recordings = recordings
        self._stage: Stage | None = None

    def step(self, t: int, prepared: Prepared, start: Start) -> Moment:
        if t == 0:
            return self._first_step(prepared, start)
        if self._stage is None:
            self._stage = self._recordings.stage(self.samples.task, self.samples.nodes, prepared, start)
            self._stage.begin(prepared)
        return self._stage.step(self._turn(t), start)

    def _first_step(self, prepared: Prepared, start: Start) -> Moment:
        moment = super().step(0, prepared, start)
        if not torch.equal(self._rng.get_state(), super().random(0).get_state()):
            name = type(self.reasoner.processor).__name__
            raise ValueError(f"{name} draws random numbers at each step, and a CUDA graph does not; train without them")
        return moment

    def random(self, t: int) -> torch.Generator:
        self._rng = super().random(t)
        return self._rng

    def backward(
        self, t: int, prepared: Prepared, start: Start, moment: Moment | None, gradients: Sequence[Tensor | None]
    ) -> None:
        if self._stage is None or t == 0:
            super().backward(t, prepared, start, moment, gradients)
        else:
            self._stage.backward(self._turn(t), start, gradients)

    def settle(self, prepared: Prepared) -> None:
        super().settle(prepared)
        if self._stage is not None:
            self._stage.settle(prepared)

    def _turn(self, t: int) -> "Turn":
        ending = self.ending(t)
        return Turn(slice(self.active[t]), ending, self.noise(t, ending))


class Turn(NamedTuple):
    """One step, and what is meant of it: it is played for all samples."""

    active: slice
    """the samples that take it"""
    ending: slice
    """those whose outputs are wanted"""
    noise: Tensor | None
    """[ending, N, N]: see `Reasoner.forward`"""

    @property
    def has_outputs(self) -> bool:
        return self.ending.start < self.ending.stop

    def of(self, moment: Moment) -> Moment:
        """The same of each tensor of what a step gives."""
        outputs = mapped(lambda x: self.ending, moment.outputs)
        return mapped(lambda x: self.active, moment._replace(outputs={}))._replace(outputs=outputs)


class Stage:
    """Where the steps of some shape are played: the memory that is read and written, and the recordings."""

    def __init__(self, reasoner: Reasoner, recorder: Recorder, task: str, nodes: int, prepared: Prepared, start: Start):
        self.reasoner, self.recorder, self.task, self.nodes = reasoner, recorder, task, nodes
        self.batch = len(prepared.nodes)
        alone = mapped(lambda each: each._replace(gathered=None), prepared, LinearMap)
        self.prepared: Prepared = mapped(lambda x: x.detach().clone().requires_grad_(x.requires_grad), alone)
        self.start: Start = mapped(lambda x: x.new_zeros(self.batch, *x.shape[1:]).requires_grad_(), start)
        self.to_start = [torch.zeros_like(x) for x in tensors(self.start)]
        self.wanting = [x for x in (*tensors(self.prepared), *reasoner.parameters()) if x.requires_grad]
        self.totals = [torch.zeros_like(x) for x in self.wanting]
        """the gradients of all steps, of what is the same at every step"""
        self.reached = [False] * len(self.totals)
        """Has any step given them one?"""
        self.noise: Tensor | None = None
        self.found: dict[bool, Moment] = {}
        """what a step gives, with outputs and without"""
        self.given: dict[bool, list[Tensor]] = {}
        """the gradients of that"""
        self._recordings: dict[Any, Callable[[], None]] = {}

    def begin(self, prepared: Prepared) -> None:
        """Of another batch."""
        with torch.no_grad():
            for own, x in zip(tensors(self.prepared), tensors(prepared), strict=True):
                own.copy_(x)
        for total in self.totals:
            total.zero_()

    def step(self, turn: Turn, start: Start) -> Moment:
        """What a step gives that starts from there."""
        self._play(self._forward, turn, start)
        moment = self.found[turn.has_outputs]
        rows = tensors(turn.of(moment), slice)
        return mapped(lambda x: x[next(rows)].clone(), moment)

    def backward(self, turn: Turn, start: Start, gradients: Sequence[Tensor | None]) -> None:
        """Add the gradients of a step to the totals, given those of what it gives; those of its start are new."""
        moment = self.found[turn.has_outputs]
        if turn.has_outputs not in self.given:
            self.given[turn.has_outputs] = [torch.zeros_like(x) for x in tensors(moment)]
        rows = tensors(turn.of(moment), slice)
        for own, some, gradient in zip(self.given[turn.has_outputs], rows, gradients, strict=True):
            if gradient is None or len(gradient) < self.batch:
                own.zero_()
            if gradient is not None:
                own[some].copy_(gradient)
        self._play(self._backward, turn, start)
        for x, gradient in zip(tensors(start), self.to_start, strict=True):
            x.grad = gradient[turn.active]  # it is read before the next step is played

    def settle(self, prepared: Prepared) -> None:
        """Give the totals to what was prepared, and to the parameters."""
        wanting = [x for x in (*tensors(prepared), *self.reasoner.parameters()) if x.requires_grad]
        for x, total in compress(zip(wanting, self.totals, strict=True), self.reached):
            x.grad = total.clone() if x.grad is None else x.grad.add_(total)

    def _play(self, work: Callable[[bool], None], turn: Turn, start: Start) -> None:
        with torch.no_grad():
            for own, x in zip(tensors(self.start), tensors(start), strict=True):
                own[turn.active].copy_(x)
            if turn.noise is not None:
                if self.noise is None:
                    self.noise = turn.noise.new_full((self.batch, *turn.noise.shape[1:]), 0.5)
                self.noise[turn.ending].copy_(turn.noise)
        key = work.__name__, turn.has_outputs
        if key not in self._recordings:
            before = [total.clone() for total in self.totals]
            self._recordings[key] = self.recorder(lambda: work(turn.has_outputs))
            for total, x in zip(self.totals, before, strict=True):  # it has been done a few times by now
                total.copy_(x)
        self._recordings[key]()

    def _taken(self, outputs: bool) -> Moment:
        """A step of all samples."""
        reasoner, ending = self.reasoner, slice(0, self.batch if outputs else 0)
        fed = fed_back(reasoner, self.task, self.start.hints, self.nodes)
        noise = self.noise if outputs else None
        return reasoner(self.task, self.prepared, self.start.state, fed, ending, None, noise)

    @torch.no_grad()
    def _forward(self, outputs: bool) -> None:
        self.found[outputs] = self._taken(outputs)

    def _backward(self, outputs: bool) -> None:
        starts = list(tensors(self.start))
        with torch.enable_grad():
            pairs = zip(tensors(self._taken(outputs)), self.given[outputs], strict=True)
            made, given = zip(*((x, gradient) for x, gradient in pairs if x.requires_grad), strict=True)
            found = torch.autograd.grad(made, [*starts, *self.wanting], given, allow_unused=True)
        for own, gradient in zip(self.to_start, found[: len(starts)], strict=True):
            own.zero_() if gradient is None else own.copy_(gradient)
        for k, gradient in enumerate(found[len(starts) :]):
            if gradient is not None:
                self.totals[k].add_(gradient)
                self.reached[k] = True
