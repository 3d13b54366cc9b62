"""Message passing: MPNN, PGN, and with triplets and a gate the Triplet-GMPNN of Ibarz et al. (2022).

z_i  = x_i || h_i
m_ij = MLP(relu(W1 z_j + W2 z_i + We e_ij + Wg g))           i sends to j
a_j  = aggregator of m_ij over i
h_j' = LayerNorm(relu(O1 z_j + O2 a_j))
gate:     g_j = sigmoid(G3 relu(G1 z_j + G2 a_j));   h_j' <- g_j h_j' + (1 - g_j) h_j
triplets: t_bc = relu(O3 max_a (T1 z_a + T2 z_b + T3 z_c + E1 e_ab + E2 e_ac + E3 e_bc + Tg g)), for decoders only;
          where pointers of pairs are kept as triples, they are part of it (`rnar.nn.triples`)
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from rnar.common.blame import definition_of
from rnar.nn.aggregators import Aggregator
from rnar.nn.encoders import Graph
from rnar.nn.linear import Linear, LinearMap, OfChannels, Rectified, SideBySide, stacked
from rnar.nn.processors.processor import Processor, State, Step
from rnar.ops import gated_norm, max_plus_triples, max_triplets, pair_mlp

GATE_BIAS = -3.0  # starts nearly closed (Ibarz et al., 2022)


class Prepared(NamedTuple):
    """What is the same at every step of a batch: weights laid side by side, and maps put into one another."""

    of_nodes: SideBySide
    """all maps of z, those that are added to maps of a at last; after the encoding of nodes, if z has their channels"""
    of_whole: SideBySide
    """all maps of g; their biases have those of the maps of pairs in them"""
    of_messages: LinearMap
    """all maps of a: O2, and with a gate G2"""
    to_gate: LinearMap | None
    """G3"""
    of_pairs: OfChannels
    """We after the encoding of pairs; its bias is in `of_whole`"""
    aggregator: Any
    triplets: OfChannels | None
    """E1, E2 and E3 after the encoding of pairs; their biases are in `of_whole`"""


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

    reads_channels = True

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

    def prepare(self, pairs: OfChannels, nodes: OfChannels | None = None) -> Prepared:
        of_nodes: list[Sequence[nn.Linear]] = [[self.to_receiver], [self.to_sender]]
        with_messages: list[nn.Linear] = [self.from_node]
        of_messages, of_whole = [self.from_messages], [self.to_whole]
        of_pairs, triplets = pairs.then([self.to_edge]), None
        rests: dict[nn.Linear, Tensor] = {self.to_whole: of_pairs.bias}
        if self.triplets is not None:
            triplets = pairs.then(self.triplets.of_pairs())
            of_nodes += [[self.triplets.from_a], [self.triplets.from_b], [self.triplets.from_c]]
            of_whole.append(self.triplets.from_whole)
            rests[self.triplets.from_whole] = triplets.bias.view(3, -1).sum(dim=0)
        if self.gate is not None:
            with_messages.append(self.gate.from_node)
            of_messages.append(self.gate.from_messages)
        return Prepared(
            SideBySide.of([*of_nodes, with_messages]).after(nodes),
            SideBySide.of([[linear] for linear in of_whole], rests),
            LinearMap(*stacked(of_messages)),
            None if self.gate is None else LinearMap(self.gate.out.weight, self.gate.out.bias),
            of_pairs,
            self.aggregator.prepare(self.last_layer),
            triplets,
        )

    def start(self, batch: int, nodes: int, like: Tensor) -> State:
        return (like.new_zeros(batch, nodes, self.size),)

    def forward(self, graph: Graph, state: State, rng: torch.Generator | None = None) -> Step:
        prepared: Prepared = graph.prepared or self.prepare(graph.pairs, graph.encoding)
        (hidden,) = state
        z = torch.cat([graph.nodes, hidden], dim=-1)
        receiver, sender, *of_triplets, own = prepared.of_nodes(z)
        to_receiver, *to_triplets = prepared.of_whole(graph.whole[:, None])
        receiver, weight, layer = receiver + to_receiver, prepared.of_pairs.weight, self.hidden_layer
        x = pair_mlp(graph.channels, weight, sender, receiver, layer.weight, layer.bias, graph.precision)
        edges = graph.adjacency if self.uses_adjacency else None
        messages, losses = self.aggregator.hear(prepared.aggregator, x, edges, rng)
        if messages.shape != hidden.shape:
            where = definition_of(type(self.aggregator))
            raise ValueError(
                f"the aggregator {type(self.aggregator).__name__} makes {tuple(messages.shape)} of messages "
                f"{tuple(x.shape)}; it must be {tuple(hidden.shape)}: batch, receiver, size{where}"
            )
        new, norm = torch.relu(own + prepared.of_messages(messages)), self.norm
        if prepared.to_gate is None:
            new = norm(new)
        else:
            new, gate = new.chunk(2, dim=-1)
            new = gated_norm(hidden, new, prepared.to_gate(gate), norm.weight, norm.bias, norm.eps)
        made = None
        if self.triplets is not None and prepared.triplets is not None and graph.pairs_wanted:
            made = self.triplets(graph, prepared.triplets.weight, *of_triplets, *to_triplets)
        return Step((new,), torch.cat([z, new], dim=-1), made, losses)


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

    def forward(self, graph: Graph, weight: Tensor, a: Tensor, b: Tensor, c: Tensor, whole: Tensor) -> Rectified:
        """a, b, c: what the nodes contribute in each of the three parts, [B, N, features]; whole: the graph, to all."""
        c = c + whole
        if graph.triples is None:
            best = max_triplets(graph.channels, weight, a, b, c)
        else:
            of_ab, of_ac, of_bc = (graph.channels @ weight).chunk(3, dim=-1)
            best = max_plus_triples(of_ab + a[:, :, None], of_ac, *graph.triples) + of_bc + b[:, :, None] + c[:, None]
        return Rectified(best, self.out.weight, self.out.bias, graph.precision)


class Gate(nn.Module):
    """The maps of the gate: how much of the new state is let through."""

    def __init__(self, size: int):
        super().__init__()
        self.from_node, self.from_messages = Linear(2 * size, size), Linear(size, size)
        self.out = Linear(size, size, bias=GATE_BIAS)
