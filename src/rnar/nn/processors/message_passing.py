"""Message passing: MPNN, PGN, and with triplets and a gate the Triplet-GMPNN of Ibarz et al. (2022)."""

from typing import Annotated

import torch
from torch import Tensor, nn

from rnar.common.blame import definition_of
from rnar.common.checking import checked
from rnar.functional import (
    Affine,
    Features,
    ReLU,
    beside,
    computed,
    is_plain,
    lazy,
    linears,
    max_plus_triples,
    max_triplets,
    pair_mlp,
    side_by_side,
)
from rnar.nn.aggregators import Aggregator
from rnar.nn.graph import Graph
from rnar.nn.linear import LARGEST_SIZE, Linear, Size
from rnar.nn.processors.processor import ProcessorOutput

GATE_BIAS = -3.0  # starts nearly closed (Ibarz et al., 2022)


class MessagePassing(nn.Module):
    """Every node sends a message to every node, and an aggregator makes one vector of those that a node gets:

        z_j  = x_j || h_j
        m_ij = MLP(relu(W1 z_j + W2 z_i + We e_ij + Wg g))                i sends to j
        a_j  = aggregator of m_ij over i
        h_j' = LayerNorm(relu(O1 z_j + O2 a_j))

        gate:     u_j = sigmoid(G3 relu(G1 z_j + G2 a_j));   h_j' <- u_j h_j' + (1 - u_j) h_j
        triplets: t_bc = relu(O3 max_a (T1 z_a + T2 z_b + T3 z_c + E1 e_ab + E2 e_ac + E3 e_bc + Tg g)), for decoders

    `MessagePassing(128, LSTM(128), triplets=8, gate=True)` is RNAR, with `Max` it is Triplet-GMPNN.

    Args:
        size: H, the number of features of nodes, edges, messages and states.
        aggregator: Aggregates messages [B, sender, receiver, H].
        triplets: The number of features of a message of three nodes; 0: there are none, and decoders read of edges only
            their encoded features.
        gate: Add a gate that lets a part of the new state through, nearly closed at first.
        along_edges: Send messages only along edges and pointers, and from each node to itself.

    Shapes:
        - graph: see `Graph`
        - state: [B, N, H]; None: zeros
        - output: state [B, N, H]; nodes [B, N, 3 H], x || h || h'; edges [B, N, N, H] with triplets, else None
    """

    @checked
    def __init__(
        self,
        size: Size,
        aggregator: Annotated[nn.Module, "of torch.nn, as LSTM(size) is"],
        triplets: Annotated[int, range(LARGEST_SIZE + 1)] = 0,
        gate: bool = False,
        along_edges: bool = False,
    ):
        super().__init__()
        self.size, self.along_edges, self.triplet_width = size, along_edges, triplets
        self.aggregator = aggregator
        self.to_receiver, self.to_sender = Linear(2 * size, size), Linear(2 * size, size)
        self.to_edge, self.to_graph = Linear(size, size), Linear(size, size)
        self.hidden_layer, self.last_layer = Linear(size, size), Linear(size, size)
        self.from_node, self.from_messages = Linear(2 * size, size), Linear(size, size)
        self.norm = nn.LayerNorm(size)
        self.triplets = Triplets(size, triplets) if triplets else None
        self.gate = Gate(size) if gate else None

    def forward(self, graph: Graph, state: Tensor | None = None) -> ProcessorOutput:
        hidden = graph.zeros() if state is None else state
        z = beside(graph.lazy_nodes, hidden)
        of_gate = [] if self.gate is None else [self.gate.from_node]
        receiver, sender, own, *gate_own = linears(z, self.to_receiver, self.to_sender, self.from_node, *of_gate)
        receiver = receiver + self.to_graph(graph.graph)[:, None]
        messages = self.last_layer(lazy(pair_mlp(self.to_edge(graph.lazy_edges), sender, receiver, self.hidden_layer)))
        aggregated = self._aggregated(messages, graph)

        of_gate = [] if self.gate is None else [self.gate.from_messages]
        from_messages, *gate_messages = linears(aggregated, self.from_messages, *of_gate)
        new = self.norm(torch.relu(own + from_messages))
        if self.gate is not None:
            gate = torch.sigmoid(self.gate.out(torch.relu(gate_own[0] + gate_messages[0])))
            new = torch.lerp(hidden, new, gate)
        return ProcessorOutput(new, beside(z, new), None if self.triplets is None else self.triplets(graph, z))

    def _aggregated(self, messages: Features, graph: Graph) -> Tensor:
        aggregator, edges = self.aggregator, graph.adjacency if self.along_edges else None
        aggregated = aggregator(messages if isinstance(aggregator, Aggregator) else computed(messages), edges)
        if aggregated.shape != graph.lazy_nodes.shape:
            where = definition_of(type(aggregator))
            raise ValueError(
                f"the aggregator {type(aggregator).__name__} makes {tuple(aggregated.shape)} of messages "
                f"{tuple(messages.shape)}; it must be {tuple(graph.lazy_nodes.shape)}: batch, receiver, size{where}"
            )
        return aggregated


class Triplets(nn.Module):
    """Messages of three nodes (Dudzik and Veličković, 2022), aggregated over the first: [B, b, c, H]"""

    def __init__(self, size: int, features: int):
        super().__init__()
        self.from_a, self.from_b, self.from_c = (Linear(2 * size, features) for _ in range(3))
        self.from_ab, self.from_ac, self.from_bc = (Linear(size, features) for _ in range(3))
        self.from_graph = Linear(size, features)
        self.out = Linear(features, size)

    def forward(self, graph: Graph, z: Affine) -> ReLU | Tensor:
        """relu(O3 max_a (...)), which is computed only if a decoder reads it."""
        if not is_plain(self.out):
            return torch.relu(self.out(self.best(graph, z)))
        return ReLU(lambda: self.best(graph, z), self.out)

    def best(self, graph: Graph, z: Affine) -> Tensor:
        """The maximum over a: [B, b, c, features]"""
        a, b, c = linears(z, self.from_a, self.from_b, self.from_c)
        c = c + self.from_graph(graph.graph)[:, None]
        edges = side_by_side(graph.lazy_edges, self.from_ab, self.from_ac, self.from_bc)
        if graph.triples is None:
            return max_triplets(a, b, c, edges)
        ab, ac, bc = computed(edges).chunk(3, dim=-1)
        return max_plus_triples(ab + a[:, :, None], ac, *graph.triples) + bc + b[:, :, None] + c[:, None]


class Gate(nn.Module):
    """The maps of the gate: u = sigmoid(G3 relu(G1 z + G2 a))"""

    def __init__(self, size: int):
        super().__init__()
        self.from_node, self.from_messages = Linear(2 * size, size), Linear(size, size)
        self.out = Linear(size, size, bias=GATE_BIAS)
