"""A processor: what turns the features and the last state of a network into its next state."""

import inspect
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from rnar.common.blame import definition_of
from rnar.functional import Affine, Features, ReLU
from rnar.functional.compiled import plain
from rnar.nn.graph import Graph, Triples
from rnar.nn.triples import ORDERS


class ProcessorOutput(NamedTuple):
    """What comes out of one step of B samples with N nodes.

    Any `torch.nn.Module` with `forward(graph, state) -> ProcessorOutput` is a processor: `graph` is a `Graph`, `state`
    what its last step returned, and None at the first. To change a processor, wrap it.
    """

    state: Any
    """what the next step starts from: a tensor [B, ...], or a tuple or dict of such"""
    nodes: Features
    """[B, N, F]: what decoders read of each node"""
    edges: Features | None = None
    """[B, N, N, G]: what decoders read of each edge, besides its encoded features"""


def attribute_of(processor: nn.Module, name: str) -> Any:
    """An attribute of a processor, or of what it wraps."""
    return next((getattr(module, name) for module in processor.modules() if getattr(module, name, None)), None)


def widths_of(processor: nn.Module, size: int, triplet_width: int = 0) -> tuple[int, int]:
    """How many features of nodes and of edges a processor makes, by a trial step of one sample with two nodes."""
    try:
        inspect.signature(processor.forward).bind("graph", "state")
    except TypeError as error:
        raise ValueError(
            f"a processor is called with a graph and a state; of {type(processor).__name__}.forward that is {error}"
            f"{definition_of(type(processor))}"
        ) from None
    like = next(processor.parameters(), torch.zeros(0))
    training = {module: module.training for module in processor.modules()}
    triples = (
        Triples(like.new_zeros(1, 1, 2, 2, 2), like.new_zeros(1, ORDERS, triplet_width)) if triplet_width else None
    )
    everywhere = torch.ones(1, 2, 2, dtype=torch.bool, device=like.device)
    features = like.new_zeros(1, 2, size), like.new_zeros(1, 2, 2, size), like.new_zeros(1, size)
    with torch.no_grad(), plain(), torch.random.fork_rng(devices=()):
        try:
            output = processor.eval()(Graph(*features, everywhere, triples), None)
        finally:
            for module, was in training.items():
                module.training = was
    if not isinstance(output, ProcessorOutput):
        raise ValueError(
            "a processor's step must return ProcessorOutput(state, nodes, edges), not "
            f"{type(output).__name__}{definition_of(type(processor))}"
        )
    nodes = _width(processor, "nodes", output.nodes, ("batch", "nodes"))
    edges = 0 if output.edges is None else _width(processor, "edges", output.edges, ("batch", "nodes", "nodes"))
    return nodes, edges


def _width(processor: nn.Module, name: str, made: Any, axes: tuple[str, ...]) -> int:
    """The last axis; raises unless these are features of one sample with two nodes."""
    shape = tuple(made.shape) if isinstance(made, (Tensor, Affine, ReLU)) else None
    if shape is None or shape[:-1] != (1, 2, 2)[: len(axes)]:
        raise ValueError(
            f"of one sample with two nodes {type(processor).__name__} makes {name} {shape or type(made).__name__}; "
            f"they must be [{', '.join(axes)}, features]{definition_of(type(processor))}"
        )
    return shape[-1]
