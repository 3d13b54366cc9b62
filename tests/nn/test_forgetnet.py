from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from rnar.clrs import Batch, find, sample
from rnar.engine import losses, predict
from rnar.nn.aggregators import Max
from rnar.nn.encoders import Graph
from rnar.nn.linear import OfChannels
from rnar.nn.processors.forgetnet import ForgetNet, GatedForgetNet
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.processors.processor import Processor
from rnar.nn.reasoner import Feeding, Reasoner

SIZE = 8
SHUT, OPEN = -1e4, 1e4


def inner() -> MessagePassing:
    return MessagePassing(SIZE, Max(SIZE), triplets=4)


def random_graph(batch: int, nodes: int, seed: int) -> Graph:
    rng = torch.Generator().manual_seed(seed)

    def draw(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=rng)

    channels, pairs = draw(batch, nodes, nodes, 3), OfChannels(draw(3, SIZE), draw(SIZE))
    return Graph(draw(batch, nodes, SIZE), channels, pairs, draw(batch, SIZE), None)


def with_gate(inner: MessagePassing, bias: float) -> GatedForgetNet:
    processor = GatedForgetNet(inner)
    processor.progress(1.0)  # the penalty counts in full
    with torch.no_grad():
        processor.gate_out.bias.fill_(bias)
    return processor


def test_an_open_gate_leaves_message_passing_as_it_is():
    base, graph = inner(), random_graph(2, 5, seed=0)
    state = (torch.randn(2, 5, SIZE, generator=torch.Generator().manual_seed(1)),)
    found, expected = with_gate(base, OPEN)(graph, state), base(graph, state)
    assert torch.equal(found.state[0], expected.state[0])
    assert torch.equal(found.nodes, expected.nodes)
    assert torch.equal(found.edges.computed, expected.edges.computed)  # type: ignore[union-attr]
    assert found.losses["penalty"].tolist() == [1.0, 1.0]  # type: ignore[union-attr]


def test_a_shut_gate_makes_a_forgetnet():
    base, graph = inner(), random_graph(2, 5, seed=0)
    state = (torch.randn(2, 5, SIZE, generator=torch.Generator().manual_seed(1)),)
    found, expected = (
        with_gate(base, SHUT)(graph, state),
        ForgetNet(base)(graph, ForgetNet(base).start(2, 5, graph.nodes)),
    )
    x, nothing, new = found.nodes.split(SIZE, dim=-1)
    assert not nothing.any()
    assert torch.equal(torch.cat([x, new], dim=-1), expected.nodes)
    assert torch.equal(found.edges.computed, expected.edges.computed)  # type: ignore[union-attr]
    assert found.losses["penalty"].tolist() == [0.0, 0.0]  # type: ignore[union-attr]


def test_a_gate_between_lets_that_part_of_history_through():
    base, graph = inner(), random_graph(1, 4, seed=0)
    processor = GatedForgetNet(base)
    processor.progress(1.0)
    hidden = torch.randn(1, 4, SIZE, generator=torch.Generator().manual_seed(1))
    expected = torch.empty_like(hidden)
    for j in range(4):  # the equation, node by node
        z = torch.cat([graph.nodes[0, j], hidden[0, j]])
        inside = torch.relu(processor.gate_in.weight @ z + processor.gate_in.bias)
        expected[0, j] = 1 / (1 + torch.exp(-(processor.gate_out.weight @ inside + processor.gate_out.bias)))
    step = processor(graph, (hidden,))
    torch.testing.assert_close(step.state[0], base(graph, (expected * hidden,)).state[0], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(step.losses["penalty"], expected.mean().view(1), atol=1e-6, rtol=1e-6)


@pytest.mark.parametrize("make", [ForgetNet, lambda base: with_gate(base, SHUT)])
def test_two_histories_with_one_present_have_one_future(make: Callable[[MessagePassing], Processor]):
    processor = make(inner())
    present = random_graph(2, 5, seed=9)
    futures = []
    for seed in (1, 2):
        state = processor.start(2, 5, present.nodes)
        state = processor(random_graph(2, 5, seed), state).state
        futures.append(processor(present, state))
    assert torch.equal(futures[0].nodes, futures[1].nodes)
    assert torch.equal(futures[0].edges.computed, futures[1].edges.computed)


def test_message_passing_itself_remembers():
    processor, present = inner(), random_graph(2, 5, seed=9)
    first, second = (
        processor(present, processor(random_graph(2, 5, seed), processor.start(2, 5, present.nodes)).state)
        for seed in (1, 2)
    )
    assert not torch.allclose(first.nodes, second.nodes)


def taught(processor: Processor, batch: Batch) -> Tensor:
    """The logits of the minimum where each step is fed the true hint."""
    torch.manual_seed(0)
    reasoner = Reasoner({"minimum": find("minimum").spec}, processor, Feeding(teacher=1.0), True)
    logits = predict(reasoner, batch).outputs["min"]
    assert isinstance(logits, Tensor)
    return logits


@pytest.mark.parametrize(("make", "remembers"), [(ForgetNet, False), (GatedForgetNet, True)])
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
    processor, graph = GatedForgetNet(inner()), random_graph(3, 5, seed=0)
    state = (torch.randn(3, 5, SIZE, generator=torch.Generator().manual_seed(1)),)
    processor.progress(1.0)
    optimiser = torch.optim.SGD(processor.parameters(), lr=1.0)
    means = []
    for _ in range(5):
        penalty = processor(graph, state).losses["penalty"]
        assert penalty is not None and penalty.shape == (3,)
        assert ((penalty >= 0) & (penalty <= 1)).all()
        means.append(penalty.mean().item())
        optimiser.zero_grad()
        penalty.sum().backward()
        optimiser.step()
    assert means == sorted(means, reverse=True)
    assert means[-1] < means[0] - 0.01


def test_the_gate_begins_half_open():
    processor, graph = GatedForgetNet(inner()), random_graph(8, 16, seed=0)
    processor.progress(1.0)
    step = processor(graph, processor.start(8, 16, graph.nodes))
    assert step.losses["penalty"].mean().item() == pytest.approx(0.5, abs=0.1)


def test_the_penalty_weighs_more_as_training_goes_on():
    processor = GatedForgetNet(inner())
    weights = [processor.alpha]
    for fraction in (0.0, 1 / 3, 2 / 3, 1.0):
        processor.progress(fraction)
        weights.append(processor.alpha)
    assert weights == pytest.approx([0, 0, 1 - math.sqrt(3) / 2, 1 / 2, 1])
    with pytest.raises(ValueError, match="between 0 and 1, not 1.5"):
        processor.progress(1.5)


def test_the_weighted_penalty_is_part_of_the_loss():
    torch.manual_seed(0)
    reasoner = Reasoner({"bfs": find("bfs").spec}, with_gate(inner(), OPEN), Feeding(), True)
    batch = sample("bfs", n=5, batch=4, seed=0)
    steps = sum(max(1, length - 1) for length in batch.lengths)
    for fraction, weight in ((0.0, 0.0), (2 / 3, 0.5), (1.0, 1.0)):
        reasoner.processor.progress(fraction)  # type: ignore[operator]
        total, count = losses(reasoner, batch, 0)["penalty"]
        assert count == steps
        assert total.item() == pytest.approx(weight * steps)
