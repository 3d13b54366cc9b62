"""A batch: samples of one task and one size, stacked; and a sample: one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rnar.clrs.spec import Spec
from rnar.common.checking import checked, shown

if TYPE_CHECKING:
    import torch

Arrays = dict[str, np.ndarray]


class Sample(NamedTuple):
    """One run of an algorithm, in stored form (see `rnar.clrs.spec`)."""

    task: str
    inputs: Arrays
    """name -> [...]: what a network may see of the problem."""
    hints: Arrays
    """name -> [T, ...]: the state of the algorithm at each step."""
    outputs: Arrays
    """name -> [...]: the answer."""

    @property
    def steps(self) -> int:
        return len(next(iter(self.hints.values())))

    def batch(self) -> Batch:
        """A batch of this sample alone."""
        return Batch(
            self.task,
            {name: x[None] for name, x in self.inputs.items()},
            {name: x[:, None] for name, x in self.hints.items()},
            {name: x[None] for name, x in self.outputs.items()},
            np.array([self.steps], np.int32),
        )

    @property
    def nodes(self) -> int:
        return len(self.inputs["pos"])

    def to_networkx(self) -> Any:
        """The problem and its answer as a `networkx.Graph` or `DiGraph`, see `rnar.clrs.graphs`."""
        from rnar.clrs.graphs import to_networkx

        return to_networkx(self)[0]

    def to_pyg(self) -> Any:
        """The problem and its answer as a `torch_geometric.data.Data`, see `rnar.clrs.graphs`."""
        from rnar.clrs.graphs import to_pyg

        return to_pyg(self)[0]


@dataclass(frozen=True, eq=False, repr=False)
class Batch:
    """B samples of one task with n nodes each, in stored form: a pointer is an index, a mask a byte.

    `rnar.clrs.spec` has the table of forms. In the shapes below, ... is [n] for a feature of nodes, [n, n] for one of
    edges, and nothing for one of the graph; T is the length of the longest run. A batch has NumPy arrays when it is
    drawn, and tensors after `to` or `pin_memory`. Its length is B, and its items are its samples: it is a dataset for a
    `DataLoader`, which gives batches of the size that it is asked for.

    Example:
        >>> batch = rnar.clrs.sample("bfs", n=5, batch=2, seed=0)
        >>> batch.inputs["A"].shape, batch.hints["pi_h"].shape[1:], batch.outputs["pi"].shape
        ((2, 5, 5), (2, 5), (2, 5))
    """

    task: str
    inputs: dict[str, Any]
    """name -> [B, ...]"""
    hints: dict[str, Any]
    """name -> [T, B, ...]: zero after a sample's own length."""
    outputs: dict[str, Any]
    """name -> [B, ...]"""
    lengths: np.ndarray
    """int32 [B]: how many of the T steps are each sample's own; always an array on the CPU, which counts the steps"""
    seen_as: Spec | None = None
    """The features, if a model's view has changed them (`Model.batch`); None: those of the task, as they were drawn."""

    @property
    def stages(self) -> dict[str, dict[str, Any]]:
        """`{"inputs": ..., "hints": ..., "outputs": ...}`"""
        return {"inputs": self.inputs, "hints": self.hints, "outputs": self.outputs}

    @property
    def size(self) -> int:
        return len(self.lengths)

    @property
    def nodes(self) -> int:
        return self.inputs["pos"].shape[1]

    @property
    def own_steps(self) -> np.ndarray:
        """bool [T, B]: which steps are a sample's own, and not padding."""
        return np.arange(self.lengths.max(initial=0))[:, None] < self.lengths

    def __len__(self) -> int:
        return self.size

    def __getitem__(self, k: int | slice | np.ndarray | Sequence[int]) -> Any:
        """Sample k; with a slice, a list of numbers or a mask, a batch of some samples."""
        return self.sample(k) if isinstance(k, (int, np.integer)) else self.part(k)

    def __getitems__(self, places: Sequence[int]) -> list[Sample]:
        """The samples that a `DataLoader` asks for; it stacks them to a `Batch`, without a `collate_fn` too."""
        from rnar.clrs.dataset import known_to_torch

        known_to_torch()
        return [self.sample(k) for k in places]

    def __iter__(self) -> Iterator[Sample]:
        return map(self.sample, range(self.size))

    def __repr__(self) -> str:
        steps = self.lengths.max(initial=0)
        return f"Batch({self.task}: {self.size} samples of {self.nodes} nodes, up to {steps} steps)"

    def sample(self, b: int) -> Sample:
        """Sample `b`, without the padding in time."""
        steps = self.lengths[b]
        return Sample(
            self.task,
            {name: x[b] for name, x in self.inputs.items()},
            {name: x[:steps, b] for name, x in self.hints.items()},
            {name: x[b] for name, x in self.outputs.items()},
        )

    def part(self, block: slice | np.ndarray | Sequence[int]) -> Batch:
        """Some of the samples, trimmed to their own longest."""
        lengths = self.lengths[block]
        steps = int(lengths.max(initial=0))
        return replace(
            self,
            inputs={name: x[block] for name, x in self.inputs.items()},
            hints={name: x[:steps, block] for name, x in self.hints.items()},
            outputs={name: x[block] for name, x in self.outputs.items()},
            lengths=lengths,
        )

    def beginning(self, share: float) -> Batch:
        """The same samples with this share of their steps, at least one, as if their algorithm had ended there; the
        outputs are still those of its end."""
        steps = np.ceil(share * (self.lengths - 1)).astype(np.int32)  # the first hint is given, and no step
        return replace(self, lengths=np.minimum(self.lengths, 1 + np.maximum(steps, 1))).part(slice(None))

    def to(self, device: str | torch.device, non_blocking: bool = False) -> Batch:
        """The same samples as tensors on a device; on the CPU they share the memory of the arrays, where they may."""
        return self._mapped(lambda x: as_tensor(x).to(device, non_blocking=non_blocking))

    def numpy(self) -> Batch:
        """The same samples as NumPy arrays: what `to` was given, or what it gave."""
        return self._mapped(lambda x: x if isinstance(x, np.ndarray) else x.cpu().numpy())

    def pin_memory(self) -> Batch:
        """The same samples as tensors in pinned memory, as `DataLoader(..., pin_memory=True)` wants them."""
        return self._mapped(lambda x: as_tensor(x).pin_memory())

    def _mapped(self, function: Callable[[Any], Any]) -> Batch:
        stages = {stage: {name: function(x) for name, x in arrays.items()} for stage, arrays in self.stages.items()}
        return replace(self, **stages)

    def _replace(self, **changes: Any) -> Batch:
        """`dataclasses.replace`, by the name that it had when a batch was a named tuple."""
        return replace(self, **changes)


def as_tensor(x: Any) -> torch.Tensor:
    """A tensor of an array, which is copied only where PyTorch could not write to it."""
    import torch  # here, for the benchmark alone needs none

    return torch.from_numpy(np.require(x, requirements=["C", "W"])) if isinstance(x, np.ndarray) else torch.as_tensor(x)


def as_batch(samples: Batch | Sample) -> Batch:
    """A batch as it is, a sample as a batch of one; anything else is refused."""
    if isinstance(samples, Sample):
        return samples.batch()
    if not isinstance(samples, Batch):
        raise ValueError(
            "a batch (of rnar.clrs.sample, official or Stream) or a sample (of trace) is expected, not "
            f"{shown(samples)}"
        )
    return samples


@checked
def stacked(samples: Sequence[Sample]) -> Batch:
    """Samples of one task and one size as a batch: the `collate_fn` of a `DataLoader` over a list of samples."""
    steps, first = max(sample.steps for sample in samples), samples[0]

    def padded(x: np.ndarray) -> np.ndarray:
        return np.concatenate([x, np.zeros((steps - len(x), *x.shape[1:]), x.dtype)])

    return Batch(
        first.task,
        {name: np.stack([sample.inputs[name] for sample in samples]) for name in first.inputs},
        {name: np.stack([padded(sample.hints[name]) for sample in samples], axis=1) for name in first.hints},
        {name: np.stack([sample.outputs[name] for sample in samples]) for name in first.outputs},
        np.array([sample.steps for sample in samples], np.int32),
    )
