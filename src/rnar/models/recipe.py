"""A model is a recipe: a processor, and what it sees of the data."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, Literal, NamedTuple

import torch
from torch import nn

from rnar.clrs import find as find_task
from rnar.clrs import transforms
from rnar.clrs.batch import Batch, Sample, as_batch
from rnar.clrs.spec import Spec, node
from rnar.common.blame import definition_of
from rnar.common.checking import check_fields, checked
from rnar.common.documenting import documented
from rnar.nn.aggregators import Aggregator
from rnar.nn.composed import Marks
from rnar.nn.heads import HintConfig
from rnar.nn.linear import Size
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.reasoner import Reasoner
from rnar.nn.triples import Pointers

Reversal = Literal["none", "mask", "transpose"]
Seed = Annotated[int, range(2**63)]


class Paper(NamedTuple):
    authors: str
    year: int
    title: str

    def __str__(self) -> str:
        return f"{self.authors}, {self.year}"


@documented
@dataclass(frozen=True)
class Model:
    """A recipe for a network: a processor, and what it sees of the data. Only name and processor must be given.

    All else has the values of the benchmark. `build` makes networks, `batch` makes of samples what they see.
    """

    name: str
    """By which it is found; letters, digits and . _ - only."""
    processor: Callable[[int], nn.Module]
    """Makes a processor of a size: `lambda size: MessagePassing(size, LSTM(size))`."""
    size: Size = 128
    """How many numbers the features of a node have, unless a run says otherwise."""
    reversal: Reversal = "none"
    """How a node learns what it points at (Bevilacqua et al., 2023): for each hint that is a node pointer, "mask" adds
    an edge hint that is predicted and fed as well, "transpose" encodes the transpose of the pointer that is fed."""
    static_reversal: bool = False
    """True if inputs that are node pointers have such an edge input too. (The order of a list is one.)"""
    composed: Marks = "none"
    """Hints that mark nodes and are also encoded together with pointers, as the nodes after and before a marked one:
    those that mark "one" node, or "all" of them."""
    without: tuple[str, ...] = ()
    """Inputs and hints that the network does not see."""
    without_positions: float = 0.0
    """In training, the probability for each batch that the input `pos` is not seen."""
    hintless: tuple[str, ...] = ()
    """Tasks whose hints are not used: neither fed nor predicted."""
    order_as_hint: bool = False
    """True if the order of a list that never changes is a hint, as in the raw data, and not an input."""
    permutations_as_pointers: bool = False
    """True if an order of all nodes is predicted as pointers like any others."""
    pointers: Pointers = "means"
    """Pointers of pairs are the "means" of the benchmark alone, or kept as "triplets" too and read off them."""
    hints: HintConfig = HintConfig()
    """How hints are used."""
    xavier_on_scalars: bool = True
    """True if hints that are numbers begin with small weights."""
    training: dict[str, Any] = field(default_factory=dict, hash=False)
    """What the model's own paper did in another way than the standard protocol (Ibarz et al., 2022)."""
    paper: Paper | None = None
    """Where it was published."""
    equation: str = ""
    """In one line: z = x || h are a node's encoded features and its last state, m_ij is the message from i to j"""
    differs: str = ""
    """Where it differs from its source, in one sentence."""

    def __post_init__(self) -> None:
        if isinstance(self.reversal, bool):  # as it was written when there was one kind
            object.__setattr__(self, "reversal", "mask" if self.reversal else "none")
        check_fields(self)
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", self.name):
            raise ValueError(f"a model cannot be called {self.name!r}: letters, digits and . _ - only")

    def spec(self, task: str) -> Spec:
        """The features of a task as this model sees them."""
        spec = transforms.spec_without_hints(find_task(task).spec, self._left_out(task))
        if self.reversal == "mask":
            spec = transforms.spec_with_reversed_pointers(spec)
        if self.static_reversal:
            spec = transforms.spec_with_reversed_inputs(spec)
        if self.order_as_hint:  # after the reversal: a pointer that never changes has none
            spec = transforms.spec_with_order_as_hint(spec)
        if self.permutations_as_pointers:
            outputs = {k: node.pointer if f == node.permutation else f for k, f in spec.outputs.items()}
            spec = spec._replace(outputs=outputs)
        return spec._replace(inputs={k: f for k, f in spec.inputs.items() if k not in self.without})

    def batch(self, batch: Batch | Sample) -> Batch:
        """A batch as this model sees it, which is noted in its `seen_as`; once more changes nothing.

        Inputs that it does not see stay in the batch, which counts its nodes by them; no network reads what its spec
        does not name.
        """
        batch = as_batch(batch)
        spec = self.spec(batch.task)
        if spec == (batch.seen_as or find_task(batch.task).spec):
            return batch
        if batch.seen_as is not None:
            raise ValueError(
                f"this batch of {batch.task} is as a model with other features sees it; {self.name} needs it as drawn"
            )
        batch = transforms.without_hints(batch, self._left_out(batch.task))
        if self.static_reversal:
            batch = transforms.reverse_inputs(batch)
        if self.reversal == "mask":
            batch = transforms.reverse_pointers(batch)
        if self.order_as_hint:
            batch = transforms.order_as_hint(batch)
        return replace(batch, seen_as=spec)

    def _left_out(self, task: str) -> tuple[str, ...]:
        """What of a task is not seen."""
        return (*self.without, *find_task(task).spec.hints) if task in self.hintless else self.without

    @checked
    def build(self, tasks: str | Iterable[str], size: Size | None = None, seed: Seed = 0) -> Reasoner:
        """A network for these tasks with fresh weights, which the seed decides."""
        size = self.size if size is None else size
        specs = {task: self.spec(task) for task in ([tasks] if isinstance(tasks, str) else tasks)}
        if not specs:
            raise ValueError("a network needs at least one task to learn")
        # others draw from the global generator: leave it as it was; what is made in inference mode could never learn
        with torch.random.fork_rng(devices=()), torch.inference_mode(False):
            torch.default_generator.manual_seed(seed)
            return Reasoner(
                specs,
                self.make_processor(size),
                self.hints,
                size,
                self.xavier_on_scalars,
                self.pointers,
                self.composed,
                self.without_positions,
                self.reversal == "transpose",
            )

    def make_processor(self, size: int) -> nn.Module:
        """Returns `processor(size)`; raises if it cannot be called so, or gives anything but a module."""
        whose, place = f"the model {self.name!r}: its processor", definition_of(self.processor)
        try:
            inspect.signature(self.processor).bind(size)
        except TypeError as error:
            raise ValueError(f"{whose} is made of a size alone, but {error}{place}") from None
        made = self.processor(size)
        if not isinstance(made, nn.Module):
            raise ValueError(f"{whose} must be a torch.nn.Module, not {made!r}{place}")
        for part in made.modules():
            if isinstance(part, MessagePassing) and not _aggregates(part.aggregator):
                kind = type(part.aggregator)
                raise ValueError(
                    f"the model {self.name!r}: {kind.__name__} is no subclass of rnar.Aggregator{definition_of(kind)}"
                )
        return made

    def parameters(self, task: str, size: int | None = None) -> int:
        """Returns how many parameters a network for this task has."""
        return sum(parameter.numel() for parameter in self.build(task, size).parameters())


def _aggregates(module: Any) -> bool:
    """True of an aggregator, and of any module that is called as one: with messages and edges."""
    if isinstance(module, Aggregator):
        return True
    try:
        inspect.signature(module.forward).bind("messages", "edges")
    except (AttributeError, TypeError):
        return False
    return isinstance(module, nn.Module)
