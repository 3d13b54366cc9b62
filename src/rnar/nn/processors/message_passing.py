"""Message passing: MPNN, PGN, and with triplets and a gate the Triplet-GMPNN of Ibarz et al. (2022).

z_i  = x_i || h_i
m_ij = MLP(relu(W1 z_j + W2 z_i + We e_ij + Wg g))           i sends to j
a_j  = aggregator of m_ij over i
h_j' = LayerNorm(relu(O1 z_j + O2 a_j))
gate:     g_j = sigmoid(G3 relu(G1 z_j + G2 a_j));   h_j' <- g_j h_j' + (1 - g_j) h_j
triplets: t_bc = relu(O3 max_a (T1 z_a + T2 z_b + T3 z_c + E1 e_ab + E2 e_ac + E3 e_bc + Tg g)), for decoders only;
          where pointers of pairs are kept as triples, they are part of it (`rnar.nn.triples`)
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from rnar.nn.aggregators import Aggregator
from rnar.nn.encoders import Graph
from rnar.nn.linear import Linear, OfChannels, Rectified, SideBySide
from rnar.nn.processors.processor import Processor, State, Step
from rnar.ops import max_plus_triples, max_triplets, pair_mlp

GATE_BIAS = -3.0  # starts nearly closed (Ibarz et al., 2022)


class Prepared(NamedTuple):
    """What is the same at every step of a batch: weights laid side by side, and maps put into one another."""

    of_nodes: SideBySide
    """all maps of z"""
    of_pairs: OfChannels
    """We after the encoding of pairs"""
    aggregator: Any
    triplets: OfChannels | None
    """E1, E2 and E3 after the encoding of pairs"""


class MessagePassing(Processor):
    """Every node sends a message to every node; what a node makes of those it gets is the aggregator's matter.

    `MessagePassing(128, LSTM(128), triplets=8, gate=True)` is RNAR, with `Max` it is Triplet-GMPNN.

    Args:
        size: H, how many numbers features, messages and states have.
        aggregator: What a node makes of its messages [B, sender, receiver, H].
        triplets: How many numbers a message of three nodes has; 0: there are none, and decoders see of pairs only their
            encoded features.
        gate: Is there a gate that lets through part of the new state, nearly closed at first?
        along_edges: Are messages sent only along edges and pointers, and from each node to itself?

    Shapes:
        - graph: see `Graph`
        - state: ([B, N, H],)
        - output: nodes [B, N, 3 H] are x_j || h_j || h_j'; edges [B, N, N, H] with triplets, else None
    """

    def __init__(
        self,
        size: int,
        aggregator: Aggregator,
        triplets: int = 0,
        gate: bool = False,
        along_edges: bool = False,
    ):
        super().__init__()
        self.size = size
        self.node_width = 3 * size
        self.edge_width = size if triplets else 0
        self.triplet_width = triplets
        self.uses_adjacency = along_edges
        self.aggregator = aggregator
        self.losses = (*self.losses, *aggregator.losses)
        self.to_receiver, self.to_sender = Linear(2 * size, size), Linear(2 * size, size)
        self.to_edge, self.to_whole = Linear(size, size), Linear(size, size)
        self.hidden_layer, self.last_layer = Linear(size, size), Linear(size, size)
        self.from_node, self.from_messages = Linear(2 * size, size), Linear(size, size)
        self.norm = nn.LayerNorm(size)
        self.triplets = Triplets(size, triplets) if triplets else None
        self.gate = Gate(size) if gate else None

    def prepare(self, pairs: OfChannels) -> Prepared:
        return Prepared(
            SideBySide.of(self._maps_of_nodes()),
            pairs.then([self.to_edge]),
            self.aggregator.prepare(self.last_layer),
            None if self.triplets is None else pairs.then(self.triplets.of_pairs()),
        )

    def start(self, batch: int, nodes: int, like: Tensor) -> State:
        return (like.new_zeros(batch, nodes, self.size),)

    def forward(self, graph: Graph, state: State, rng: torch.Generator | None = None) -> Step:
        prepared: Prepared = graph.prepared or self.prepare(graph.pairs)
        (hidden,) = state
        z = torch.cat([graph.nodes, hidden], dim=-1)
        receiver, sender, own, *more = prepared.of_nodes(z)
        weight, rest = prepared.of_pairs
        receiver = receiver + (self.to_whole(graph.whole) + rest)[:, None]
        layer = self.hidden_layer
        x = pair_mlp(graph.channels, weight, sender, receiver, layer.weight, layer.bias)
        edges = graph.adjacency if self.uses_adjacency else None
        messages, losses = self.aggregator.hear(prepared.aggregator, x, edges, rng)
        new = self.norm(torch.relu(own + self.from_messages(messages)))
        if self.gate is not None:
            new = self.gate(more.pop(), messages, new, hidden)
        made = None
        if self.triplets is not None and prepared.triplets is not None and graph.pairs_wanted:
            made = self.triplets(graph, prepared.triplets, *more)
        return Step((new,), torch.cat([z, new], dim=-1), made, losses)

    def _maps_of_nodes(self) -> list[nn.Linear]:
        maps: list[nn.Linear] = [self.to_receiver, self.to_sender, self.from_node]
        if self.triplets is not None:
            maps += [self.triplets.from_a, self.triplets.from_b, self.triplets.from_c]
        if self.gate is not None:
            maps.append(self.gate.from_node)
        return maps


class Triplets(nn.Module):
    """Messages of three nodes (Dudzik and Veličković, 2022), aggregated over the first: [B, b, c, H]"""

    def __init__(self, size: int, features: int):
        super().__init__()
        self.from_a, self.from_b, self.from_c = (Linear(2 * size, features) for _ in range(3))
        self.from_ab, self.from_ac, self.from_bc = (Linear(size, features) for _ in range(3))
        self.from_whole = Linear(size, features)
        self.out = Linear(features, size)

    def of_pairs(self) -> list[Linear]:
        return [self.from_ab, self.from_ac, self.from_bc]

    def forward(self, graph: Graph, of_pairs: OfChannels, a: Tensor, b: Tensor, c: Tensor) -> Rectified:
        """a, b, c: what the nodes contribute in each of the three parts, [B, N, features]."""
        weight, rest = of_pairs
        c = c + (self.from_whole(graph.whole) + rest.view(3, -1).sum(dim=0))[:, None]
        if graph.triples is None:
            best = max_triplets(graph.channels, weight, a, b, c)
        else:
            of_ab, of_ac, of_bc = (graph.channels @ weight).chunk(3, dim=-1)
            best = max_plus_triples(of_ab + a[:, :, None], of_ac, *graph.triples) + of_bc + b[:, :, None] + c[:, None]
        return Rectified(best, self.out.weight, self.out.bias)


class Gate(nn.Module):
    """How much of the new state is let through."""

    def __init__(self, size: int):
        super().__init__()
        self.from_node, self.from_messages = Linear(2 * size, size), Linear(size, size)
        self.out = Linear(size, size, bias=GATE_BIAS)

    def forward(self, node: Tensor, messages: Tensor, new: Tensor, old: Tensor) -> Tensor:
        gate = torch.sigmoid(self.out(torch.relu(node + self.from_messages(messages))))
        return torch.lerp(old, new, gate)
