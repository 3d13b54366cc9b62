"""A processor: what turns the features and the last state of a network into its next state."""

from typing import Any, NamedTuple

from rnar.functional import Features


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
