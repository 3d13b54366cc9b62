"""The Relational Transformer of Diao and Loynd (2023): attention in which edges take part, and that updates them.

With x_i, e_ij and g the encoded features of nodes, pairs and the whole, and n_i, s_ij what the last step left:

    n_i  = A1 x_i + A2 n_i + A3 g            s_ij = B1 e_ij + B2 s_ij + B3 g             once in a step
    q_ij = Qn n_i + Qe s_ij    k_ij = Kn n_j + Ke s_ij    v_ij = Vn n_j + Ve s_ij        in each layer and head
    a_ij = softmax_j(q_ij . k_ij / sqrt(d))
    n_i <- LayerNorm(n_i + O (all heads' sum_j a_ij v_ij))
    n_i <- LayerNorm(n_i + L3 relu(L2 n_i))
    s_ij <- LayerNorm(s_ij + E2 relu(E1 (s_ij || s_ji || n_j || n_i)))                   of the new nodes
    s_ij <- LayerNorm(s_ij + E4 relu(E3 s_ij))

Follows the authors' code with `graph_vec="cat"`, its default. No difference is known; two sums are taken in another
order: E1 is four maps, so that the concatenation is never made, and edges are averaged before Ve and not after.
"""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from rnar.functional import computed, linear
from rnar.functional.scope import of_weights
from rnar.nn.graph import Graph
from rnar.nn.linear import Linear
from rnar.nn.processors.processor import ProcessorOutput

HEAD = 16  # numbers in a head; a size of 192 has 12 of them
NODE_HIDDEN, PAIR_HIDDEN, EDGE_HIDDEN = 32, 16, 8  # of the networks L, E1 and E3: bottlenecks, not the usual widening


class RelationalTransformer(nn.Module):
    """Carries a state of each pair beside that of each node; every node attends to every node."""

    pointers_from_edges = True

    def __init__(self, size: int = 192, head: int = HEAD, layers: int = 3):
        super().__init__()
        if size < 1 or size % head:
            raise ValueError(f"heads of {head} numbers cannot share a size of {size}: choose a multiple of {head}")
        self.size = size
        self.into_nodes, self.into_edges = Linear(3 * size, size), Linear(3 * size, size)
        self.layers = nn.ModuleList(Layer(size, size // head) for _ in range(layers))

    def forward(self, graph: Graph, state: tuple[Tensor, Tensor] | None = None) -> ProcessorOutput:
        old_nodes, old_edges = state or self._zeros(graph)
        whole = graph.graph[:, None].expand_as(graph.nodes)
        nodes = self.into_nodes(torch.cat([graph.nodes, old_nodes, whole], dim=-1))
        edges = self._edges(graph, old_edges)
        for layer in self.layers:
            nodes, edges = layer(nodes, edges)
        seen = torch.cat([graph.nodes, old_nodes, nodes], dim=-1)
        return ProcessorOutput((nodes, edges), seen, torch.cat([old_edges, edges], dim=-1))

    def _zeros(self, graph: Graph) -> tuple[Tensor, Tensor]:
        batch, nodes, size = graph.nodes.shape
        return torch.zeros_like(graph.nodes), graph.nodes.new_zeros(batch, nodes, nodes, size)

    def _edges(self, graph: Graph, old: Tensor) -> Tensor:
        """B1 e_ij + B2 s_ij + B3 g"""
        of_features, of_state, of_graph = of_weights(torch.chunk, self.into_edges.weight, 3, 1)
        edges = F.linear(old, of_state)
        edges += computed(linear(graph.lazy_edges, of_features, self.into_edges.bias))
        edges += F.linear(graph.graph, of_graph)[:, None, None]
        return edges


class Layer(nn.Module):
    """Attention, a network at each node, a network of each pair and its ends, a network at each pair."""

    def __init__(self, size: int, heads: int):
        super().__init__()
        self.attention = RelationalAttention(size, heads)
        self.node_in, self.node_out = Linear(size, NODE_HIDDEN), Linear(NODE_HIDDEN, size)
        self.pair_in, self.pair_out = Linear(4 * size, PAIR_HIDDEN), Linear(PAIR_HIDDEN, size)
        self.edge_in, self.edge_out = Linear(size, EDGE_HIDDEN), Linear(EDGE_HIDDEN, size)
        self.norms = nn.ModuleList(nn.LayerNorm(size) for _ in range(4))

    def forward(self, nodes: Tensor, edges: Tensor) -> tuple[Tensor, Tensor]:
        """[B, N, H] and [B, N, N, H], and the same again"""
        after_attention, after_node, after_pair, after_edge = self.norms
        nodes = after_attention(nodes + self.attention(nodes, edges))
        nodes = after_node(nodes + self.node_out(torch.relu_(self.node_in(nodes))))
        edges = after_pair(edges + self.pair_out(torch.relu_(self._pairs(nodes, edges))))
        edges = after_edge(edges + self.edge_out(torch.relu_(self.edge_in(edges))))
        return nodes, edges

    def _pairs(self, nodes: Tensor, edges: Tensor) -> Tensor:
        """E1 (s_ij || s_ji || n_j || n_i), each part by a map of its own: [B, i, j, PAIR_HIDDEN]"""
        of_edge, of_reverse, of_j, of_i = self.pair_in.weight.split(nodes.shape[-1], dim=1)
        there, back = F.linear(edges, torch.cat([of_edge, of_reverse])).chunk(2, dim=-1)
        j, i = F.linear(nodes, of_j)[:, None], F.linear(nodes, of_i, self.pair_in.bias)[:, :, None]
        return there + back.transpose(1, 2) + j + i


class RelationalAttention(nn.Module):
    """O (all heads' sum_j a_ij v_ij): [B, N, H] of nodes [B, N, H] and edges [B, N, N, H]"""

    def __init__(self, size: int, heads: int):
        super().__init__()
        self.heads = heads
        self.of_nodes = Linear(size, 3 * size)  # query, key, value
        self.of_edges = Linear(size, 2 * size)  # query, key
        self.edge_values = Linear(size, size)
        self.out = Linear(size, size)

    def forward(self, nodes: Tensor, edges: Tensor) -> Tensor:
        query, key, value = self.of_nodes(nodes).chunk(3, dim=-1)
        attention = self._attention(query, key, edges)
        from_nodes = torch.einsum("bihj,bjhd->bihd", attention, value.unflatten(-1, (self.heads, -1)))
        return self.out(from_nodes.flatten(-2) + self._from_edges(attention, edges))

    def _attention(self, query: Tensor, key: Tensor, edges: Tensor) -> Tensor:
        """How much of j each head of i sees: [B, i, head, j]"""
        edge_query, edge_key = self.of_edges(edges).chunk(2, dim=-1)
        product = (query[:, :, None] + edge_query) * (key[:, None] + edge_key)
        each = product.unflatten(-1, (self.heads, -1))  # [B, i, j, head, d]
        scores = each.sum(dim=-1) / math.sqrt(each.shape[-1])
        return torch.softmax(scores, dim=2).transpose(2, 3)

    def _from_edges(self, attention: Tensor, edges: Tensor) -> Tensor:
        """sum_j a_ij Ve s_ij = Ve sum_j a_ij s_ij: a map for each node and head, and not for each pair"""
        mean = attention @ edges  # [B, i, head, H]
        weight = self.edge_values.weight.unflatten(0, (self.heads, -1))  # [head, d, H]
        return torch.einsum("biho,hdo->bihd", mean, weight).flatten(-2) + self.edge_values.bias
