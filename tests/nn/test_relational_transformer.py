from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.multiprocessing.reductions import StorageWeakRef
from torch.utils._python_dispatch import TorchDispatchMode

from rnar.functional import Affine
from rnar.nn.graph import Graph
from rnar.nn.processors.relational_transformer import RelationalTransformer

CHANNELS = 3


def random_graph(batch: int, nodes: int, size: int, seed: int = 0) -> Graph:
    rng = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=rng)

    edges = Affine(draw(batch, nodes, nodes, CHANNELS), draw(size, CHANNELS), draw(size))
    return Graph(draw(batch, nodes, size), edges, draw(batch, size))


def parts_of(graph: Graph) -> tuple[Tensor, Tensor, Tensor]:
    """The channels of edges [B, N, N, C], and the map W [H, C] and b [H] that encodes them."""
    edges: Any = graph.lazy_edges
    return edges.x, edges.weight, edges.bias


def random_state(processor: RelationalTransformer, batch: int, nodes: int, seed: int = 1) -> tuple[Tensor, ...]:
    rng = torch.Generator().manual_seed(seed)
    shapes = (batch, nodes, processor.size), (batch, nodes, nodes, processor.size)
    return tuple(torch.randn(shape, generator=rng) for shape in shapes)


def with_random_biases(processor: RelationalTransformer) -> RelationalTransformer:
    """Nothing may hide behind biases of zero and scales of one."""
    rng = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for parameter in processor.parameters():
            if parameter.dim() == 1:
                parameter += 0.3 * torch.randn(parameter.shape, generator=rng)
    return processor


def norm_by_hand(x: Tensor, norm: Any) -> Tensor:
    deviation = ((x - x.mean()) ** 2).mean().add(1e-5).sqrt()
    return (x - x.mean()) / deviation * norm.weight + norm.bias


def layer_by_hand(layer: Any, head: int, n: list[Tensor], e: list[list[Tensor]]):
    """One layer for one sample, pair by pair, as the paper's equations have it."""
    size, here = len(n[0]), range(len(n))
    attention = layer.attention
    of_node, of_edge = attention.of_nodes, attention.of_edges
    Qn, Kn, Vn = of_node.weight.split(size)
    qn, kn, vn = of_node.bias.split(size)
    Qe, Ke = of_edge.weight.split(size)
    qe, ke = of_edge.bias.split(size)
    Ve, ve = attention.edge_values.weight, attention.edge_values.bias
    new = []
    for i in here:
        parts = []
        for first in range(0, size, head):
            some = slice(first, first + head)
            scores, values = [], []
            for j in here:
                q = (Qn @ n[i] + qn + Qe @ e[i][j] + qe)[some]
                k = (Kn @ n[j] + kn + Ke @ e[i][j] + ke)[some]
                scores.append(torch.exp((q * k).sum() / math.sqrt(head)))
                values.append((Vn @ n[j] + vn + Ve @ e[i][j] + ve)[some])
            parts.append(sum(s * v for s, v in zip(scores, values, strict=True)) / sum(scores))
        x = norm_by_hand(n[i] + attention.out(torch.cat(parts)), layer.norms[0])
        new.append(norm_by_hand(x + layer.node_out(torch.relu(layer.node_in(x))), layer.norms[1]))
    made = []
    for i in here:
        made.append([])
        for j in here:
            u = torch.cat([e[i][j], e[j][i], new[j], new[i]])
            x = norm_by_hand(e[i][j] + layer.pair_out(torch.relu(layer.pair_in(u))), layer.norms[2])
            made[i].append(norm_by_hand(x + layer.edge_out(torch.relu(layer.edge_in(x))), layer.norms[3]))
    return new, made


def step_by_hand(processor: RelationalTransformer, head: int, graph: Graph, state, b: int):
    """The new nodes [N, H] and edges [N, N, H] of sample b."""
    here = range(graph.nodes.shape[1])
    channels, weight, bias = parts_of(graph)
    features = channels[b] @ weight.T + bias
    n = [processor.into_nodes(torch.cat([graph.nodes[b, i], state[0][b, i], graph.graph[b]])) for i in here]
    e = [
        [processor.into_edges(torch.cat([features[i, j], state[1][b, i, j], graph.graph[b]])) for j in here]
        for i in here
    ]
    for layer in processor.layers:
        n, e = layer_by_hand(layer, head, n, e)
    return torch.stack(n), torch.stack([torch.stack(row) for row in e])


def test_a_step_is_that_of_the_equations_pair_by_pair():
    processor = with_random_biases(RelationalTransformer(8, head=4))
    graph, state = random_graph(2, 5, 8), random_state(processor, 2, 5)
    step = processor(graph, state)
    for b in range(2):
        nodes, edges = step_by_hand(processor, 4, graph, state, b)
        torch.testing.assert_close(step.state[0][b], nodes, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(step.state[1][b], edges, atol=1e-5, rtol=1e-5)


def test_decoders_see_the_features_the_old_state_and_the_new_one():
    processor = RelationalTransformer(8, head=4)
    graph, state = random_graph(2, 5, 8), random_state(processor, 2, 5)
    step = processor(graph, state)
    assert torch.equal(step.nodes, torch.cat([graph.nodes, state[0], step.state[0]], dim=-1))
    assert torch.equal(step.edges, torch.cat([state[1], step.state[1]], dim=-1))  # type: ignore[arg-type]
    assert step.nodes.shape[-1] == 3 * processor.size
    assert step.edges.shape[-1] == 2 * processor.size  # type: ignore[union-attr]


def test_nodes_have_no_order():
    processor = with_random_biases(RelationalTransformer(8, head=4))
    graph, (nodes, edges) = random_graph(1, 6, 8), random_state(processor, 1, 6)
    order = torch.randperm(6, generator=torch.Generator().manual_seed(3))
    channels, weight, bias = parts_of(graph)
    edges_in_order = Affine(channels[:, order][:, :, order], weight, bias)
    other = graph.replace(nodes=graph.nodes[:, order], edges=edges_in_order)
    expected = processor(graph, (nodes, edges)).state
    found = processor(other, (nodes[:, order], edges[:, order][:, :, order])).state
    torch.testing.assert_close(found[0], expected[0][:, order], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(found[1], expected[1][:, order][:, :, order], atol=1e-5, rtol=1e-5)


def test_it_has_as_many_parameters_as_the_original():
    assert sum(p.numel() for p in RelationalTransformer().parameters()) == 1_098_408


@pytest.mark.parametrize("name", ["nodes", "edges"])
def test_gradients_are_those_of_finite_differences(name):
    processor = with_random_biases(RelationalTransformer(4, head=2, layers=2)).double()
    graph = random_graph(1, 3, 4)
    names, parameters = zip(*processor.named_parameters(), strict=True)
    inputs = [x.detach().double().requires_grad_() for x in (graph.nodes, *parts_of(graph), graph.graph)]
    inputs += [x.double().requires_grad_() for x in random_state(processor, 1, 3)]

    def seen(*tensors: Tensor) -> Tensor:
        nodes, channels, weight, bias, whole, old_nodes, old_edges, *rest = tensors
        graph = Graph(nodes, Affine(channels, weight, bias), whole)
        arguments = graph, (old_nodes, old_edges)
        step = torch.func.functional_call(processor, dict(zip(names, rest, strict=True)), arguments)
        return getattr(step, name)

    assert torch.autograd.gradcheck(seen, (*inputs, *parameters), fast_mode=True)


class Watch(TorchDispatchMode):
    """Counts the bytes of all tensors that are alive, and remembers the widest."""

    def __init__(self):
        super().__init__()
        self.alive: dict[int, tuple[StorageWeakRef, int]] = {}
        self.most = self.widest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        for x in result if isinstance(result, (tuple, list)) else [result]:
            if isinstance(x, Tensor):
                storage = x.untyped_storage()
                self.alive[storage.data_ptr()] = StorageWeakRef(storage), storage.nbytes()
                if x.dim() == 4:
                    self.widest = max(self.widest, x.shape[-1])
        self.alive = {k: (ref, size) for k, (ref, size) in self.alive.items() if not ref.expired()}
        self.most = max(self.most, sum(size for _, size in self.alive.values()))
        return result


def test_one_large_sample_needs_little_memory():
    processor = RelationalTransformer()
    graph, state = random_graph(1, 64, 192), random_state(processor, 1, 64)
    with torch.no_grad(), Watch() as watch:
        step = processor(graph, state)
    assert watch.widest == 2 * 192  # never the four of the concatenation
    assert sum(x.nbytes for x in (*step.state, step.nodes, step.edges)) < watch.most < 30e6  # type: ignore[union-attr]


def test_learning_from_one_large_sample_needs_little_memory():
    processor = RelationalTransformer()
    graph, state = random_graph(1, 64, 192), random_state(processor, 1, 64)
    with Watch() as watch:
        step = processor(graph, state)
        (step.nodes.sum() + step.edges.square().sum()).backward()  # type: ignore[union-attr]
    assert watch.widest == 2 * 192
    assert watch.most < 100e6


@pytest.mark.parametrize("size", [0, 24, 100])
def test_a_size_that_heads_cannot_share_is_an_error(size):
    with pytest.raises(ValueError, match=f"cannot share a size of {size}: choose a multiple of 16"):
        RelationalTransformer(size)
