from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from helpers.scoring import predict
from rnar.clrs import Batch, find, sample
from rnar.functional import Affine, computed
from rnar.functional.scope import Scope, entered
from rnar.nn.aggregators import Max
from rnar.nn.graph import Graph
from rnar.nn.heads import HintConfig
from rnar.nn.processors.forgetnet import ForgetNet, GatedForgetNet
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.processors.processor import ProcessorOutput
from rnar.nn.reasoner import Reasoner

SIZE = 8
SHUT, OPEN = -1e4, 1e4


def inner() -> MessagePassing:
    return MessagePassing(SIZE, Max(SIZE), triplets=4)


def random_graph(batch: int, nodes: int, seed: int) -> Graph:
    rng = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=rng)

    edges = Affine(draw(batch, nodes, nodes, 3), draw(SIZE, 3), draw(SIZE))
    return Graph(draw(batch, nodes, SIZE), edges, draw(batch, SIZE))


def random_state(batch: int, nodes: int) -> Tensor:
    return torch.randn(batch, nodes, SIZE, generator=torch.Generator().manual_seed(1))


def gated(base: MessagePassing) -> GatedForgetNet:
    return GatedForgetNet(base, SIZE)


def step_of(processor: nn.Module, graph: Graph, state: Tensor | None = None) -> tuple[ProcessorOutput, Tensor]:
    """What a step leaves, and its penalty [B]."""
    with entered(Scope()) as scope:
        return processor(graph, state), scope.losses["penalty"]


def same(one: ProcessorOutput, other: ProcessorOutput) -> bool:
    """True if decoders read the same."""
    assert one.edges is not None and other.edges is not None
    pairs = (one.nodes, other.nodes), (one.edges, other.edges)
    return all(torch.equal(computed(x), computed(y)) for x, y in pairs)


def with_gate(inner: MessagePassing, bias: float) -> GatedForgetNet:
    processor = gated(inner)
    processor.progress(1.0)  # the penalty counts in full
    with torch.no_grad():
        processor.gate_out.bias.fill_(bias)
    return processor


def test_an_open_gate_leaves_message_passing_as_it_is():
    base, graph = inner(), random_graph(2, 5, seed=0)
    state = random_state(2, 5)
    (found, penalty), expected = step_of(with_gate(base, OPEN), graph, state), base(graph, state)
    assert torch.equal(found.state, expected.state) and same(found, expected)
    assert penalty.tolist() == [1.0, 1.0]


def test_a_shut_gate_makes_a_forgetnet():
    base, graph = inner(), random_graph(2, 5, seed=0)
    (found, penalty), expected = step_of(with_gate(base, SHUT), graph, random_state(2, 5)), ForgetNet(base)(graph)
    x, nothing, new = computed(found.nodes).split(SIZE, dim=-1)
    assert not nothing.any()
    assert same(found._replace(nodes=torch.cat([x, new], dim=-1)), expected)
    assert penalty.tolist() == [0.0, 0.0]


def test_a_gate_between_lets_that_part_of_history_through():
    base, graph = inner(), random_graph(1, 4, seed=0)
    processor = gated(base)
    processor.progress(1.0)
    hidden = random_state(1, 4)
    expected = torch.empty_like(hidden)
    for j in range(4):  # the equation, node by node
        z = torch.cat([graph.nodes[0, j], hidden[0, j]])
        inside = torch.relu(processor.gate_in.weight @ z + processor.gate_in.bias)
        expected[0, j] = 1 / (1 + torch.exp(-(processor.gate_out.weight @ inside + processor.gate_out.bias)))
    step, penalty = step_of(processor, graph, hidden)
    torch.testing.assert_close(step.state, base(graph, expected * hidden).state, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(penalty, expected.mean().view(1), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("make", [ForgetNet, lambda base: with_gate(base, SHUT)])
def test_two_histories_with_one_present_have_one_future(make: Callable[[MessagePassing], nn.Module]):
    processor = make(inner())
    present = random_graph(2, 5, seed=9)
    first, second = (processor(present, processor(random_graph(2, 5, seed), None).state) for seed in (1, 2))
    assert same(first, second)


def test_message_passing_itself_remembers():
    processor, present = inner(), random_graph(2, 5, seed=9)
    first, second = (processor(present, processor(random_graph(2, 5, seed), None).state) for seed in (1, 2))
    assert not torch.allclose(computed(first.nodes), computed(second.nodes))


def taught(processor: nn.Module, batch: Batch) -> Tensor:
    """The logits of the minimum where each step is fed the true hint."""
    torch.manual_seed(0)
    reasoner = Reasoner({"minimum": find("minimum").spec}, processor, HintConfig(teacher=1.0))
    logits = predict(reasoner, batch).outputs["min"]
    assert isinstance(logits, Tensor)
    return logits


@pytest.mark.parametrize(("make", "remembers"), [(ForgetNet, False), (gated, True)])
def test_a_false_first_hint_is_forgotten_when_true_ones_follow(make, remembers):
    batch = sample("minimum", n=5, batch=4, seed=0)
    assert batch.lengths.min() > 2
    false = batch.hints["min_h"].copy()
    false[0] = (false[0] + 1) % 5
    processor = make(inner())
    expected = taught(processor, batch)
    found = taught(processor, batch._replace(hints={**batch.hints, "min_h": false}))
    assert torch.equal(expected, found) == (not remembers)


def test_the_penalty_is_between_0_and_1_and_its_gradient_shuts_the_gate():
    processor, graph = gated(inner()), random_graph(3, 5, seed=0)
    processor.progress(1.0)
    optimiser = torch.optim.SGD(processor.parameters(), lr=1.0)
    means = []
    for _ in range(5):
        _, penalty = step_of(processor, graph, random_state(3, 5))
        assert penalty.shape == (3,)
        assert ((penalty >= 0) & (penalty <= 1)).all()
        means.append(penalty.mean().item())
        optimiser.zero_grad()
        penalty.sum().backward()
        optimiser.step()
    assert means == sorted(means, reverse=True)
    assert means[-1] < means[0] - 0.01


def test_the_gate_begins_half_open():
    processor, graph = gated(inner()), random_graph(8, 16, seed=0)
    processor.progress(1.0)
    _, penalty = step_of(processor, graph)
    assert penalty.mean().item() == pytest.approx(0.5, abs=0.1)


def test_the_penalty_weighs_more_as_training_goes_on():
    processor = gated(inner())
    weights = [processor.alpha]
    for fraction in (0.0, 1 / 3, 2 / 3, 1.0):
        processor.progress(fraction)
        weights.append(processor.alpha)
    assert weights == pytest.approx([0, 0, 1 - math.sqrt(3) / 2, 1 / 2, 1])
    with pytest.raises(ValueError, match="between 0 and 1, not 1.5"):
        processor.progress(1.5)


def test_the_weighted_penalty_is_part_of_the_loss():
    torch.manual_seed(0)
    reasoner = Reasoner({"bfs": find("bfs").spec}, with_gate(inner(), OPEN))
    batch = sample("bfs", n=5, batch=4, seed=0)
    steps = sum(max(1, length - 1) for length in batch.lengths)
    for fraction, weight in ((0.0, 0.0), (2 / 3, 0.5), (1.0, 1.0)):
        reasoner.processor.progress(fraction)  # type: ignore[operator]
        total, count = reasoner(batch).losses["penalty"]
        assert count == steps
        assert total.item() == pytest.approx(weight * steps)
