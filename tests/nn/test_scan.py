"""The scan: what it adds, when it adds nothing, and in which order it reads."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from helpers.scoring import predict
from rnar.clrs import find, sample
from rnar.functional import Affine, computed
from rnar.functional.scope import Scope, entered
from rnar.nn.aggregators import Max
from rnar.nn.graph import Graph
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.processors.scan import Scan
from rnar.nn.reasoner import Reasoner

SIZE, B, N = 8, 2, 5
VARIANTS = {
    "lstm": {},
    "gru": dict(cell="gru"),
    "one way": dict(both_ways=False),
    "gru, one way": dict(cell="gru", both_ways=False),
    "narrow": dict(width=3, reads=4),
    "gated": dict(gated=True),
    "shuffled": dict(shuffled=0.5),
    "priced": dict(gated=True, price=0.1),
}


def inner() -> MessagePassing:
    return MessagePassing(SIZE, Max(SIZE), triplets=4, gate=True)


def scan(**options) -> Scan:
    torch.manual_seed(0)
    return Scan(inner(), SIZE, **options)


def graph_of(nodes: Tensor) -> Graph:
    rng = torch.Generator().manual_seed(1)
    channels = torch.randn(*nodes.shape[:2], nodes.shape[1], 3, generator=rng)
    edges = Affine(channels, torch.randn(SIZE, 3, generator=rng), torch.randn(SIZE, generator=rng))
    return Graph(nodes, edges, torch.randn(len(nodes), SIZE, generator=rng))


def drawn(*shape: int, seed: int = 2) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("name", VARIANTS)
def test_the_scan_adds_to_the_nodes_what_was_read_there(name):
    processor, graph, state = scan(**VARIANTS[name]).eval(), graph_of(drawn(B, N, SIZE)), drawn(B, N, SIZE, seed=3)
    z = torch.cat([graph.nodes, state], dim=-1)
    read = processor.reader(z if processor.into is None else processor.into(z))[0]
    told = processor.out(read)
    if processor.gate is not None:
        told = torch.sigmoid(processor.gate(torch.cat([z, read], dim=-1))) * told
    expected, found = processor.inner(graph.replace(nodes=graph.nodes + told), state), processor(graph, state)
    assert torch.equal(found.state, expected.state)
    assert torch.equal(computed(found.nodes), computed(expected.nodes))
    assert found.nodes.shape == (B, N, 3 * SIZE)


def test_a_reading_knows_what_comes_before_and_with_both_ways_what_comes_after():
    z = drawn(1, N, 2 * SIZE)
    changed = z.clone()
    changed[:, 2] += 1
    for both_ways, reached in ((False, [2, 3, 4]), (True, [0, 1, 2, 3, 4])):
        processor = scan(both_ways=both_ways)
        differs = (processor.read(z) - processor.read(changed)).abs().amax(dim=(0, 2)) > 1e-6
        assert differs.nonzero().flatten().tolist() == reached


@pytest.mark.parametrize("task", ["insertion_sort", "bfs"])
def test_from_zero_it_starts_as_the_inner_processor(task):
    specs, batch = {task: find(task).spec}, sample(task, n=6, batch=3, seed=0)
    torch.manual_seed(4)
    base = Reasoner(specs, inner())
    wrapped = Reasoner(specs, Scan(base.processor, SIZE, from_zero=True))
    wrapped.heads.load_state_dict(base.heads.state_dict())
    expected, found = predict(base, batch), wrapped(batch)
    for name, loss in expected.losses.items():
        torch.testing.assert_close(found.losses[name].total, loss.total)
    for name, logits in expected.hints.items():
        torch.testing.assert_close(found.hints[name], logits)
    found.losses[next(iter(specs[task].outputs))].total.backward()
    assert wrapped.processor.out.weight.grad.abs().sum() > 0  # type: ignore[union-attr]  # and learns from there


def test_a_shuffled_order_is_read_and_each_node_gets_its_own_reading():
    processor, z, order = scan(), drawn(1, N, 2 * SIZE), torch.tensor([3, 0, 4, 1, 2])
    expected = torch.empty(1, N, 128)
    expected[:, order] = processor.reader(z[:, order])[0]
    assert torch.equal(processor.read(z, order), expected)


def order_of(processor: Scan, seed: int) -> Tensor | None:
    """The order that is drawn for a batch of this seed."""
    scope = Scope()
    scope.batch_generator = torch.Generator().manual_seed(seed)
    with entered(scope):
        return processor.order(N)


def test_the_generator_decides_the_order_in_training_and_when_tried_it_is_the_nodes_own():
    processor = scan(shuffled=0.5)
    seeds = range(200)
    orders, again = ([order_of(processor, seed) for seed in seeds] for _ in range(2))
    assert all(x is y is None or torch.equal(x, y) for x, y in zip(orders, again, strict=True))  # type: ignore[arg-type]
    assert 60 < sum(order is not None for order in orders) < 140
    assert all(sorted(order.tolist()) == list(range(N)) for order in orders if order is not None)
    assert len({tuple(order.tolist()) for order in orders if order is not None}) > 20
    assert order_of(scan(shuffled=1.0), 0) is not None
    processor.eval()
    assert all(order_of(processor, seed) is None for seed in seeds)


def test_a_batch_is_read_in_one_order_at_every_step_and_by_every_core():
    specs, batch = {"insertion_sort": find("insertion_sort").spec}, sample("insertion_sort", n=6, batch=4, seed=0)
    torch.manual_seed(4)
    network = Reasoner(specs, scan(shuffled=0.5)).double()
    seen: list[Tensor | None] = []
    read = network.processor.read
    network.processor.read = lambda z, order=None: (seen.append(order), read(z, order))[1]  # type: ignore[assignment]
    shuffled = []
    for seed in range(12):
        seen.clear()
        whole = network(batch, seed).losses
        assert len(seen) == batch.lengths.max() - 1 and all(order is seen[0] for order in seen)
        shuffled.append(seen[0] is not None)
        parts = [network(batch.part(slice(k, k + 2)), seed).losses for k in (0, 2)]
        for name, loss in whole.items():
            if name != "pred":  # whose noise is drawn for each sample
                assert sum(part[name].total for part in parts).item() == pytest.approx(loss.total.item())
    assert any(shuffled) and not all(shuffled)


def test_an_open_gate_has_its_price():
    processor, graph, state = scan(gated=True, price=0.1), graph_of(drawn(B, N, SIZE)), drawn(B, N, SIZE, seed=3)
    for bias, expected in ((-1e4, 0.0), (1e4, 0.1)):
        with torch.no_grad():
            processor.gate.bias.fill_(bias)  # type: ignore[union-attr]
        with entered(Scope()) as scope:
            processor(graph, state)
        assert scope.losses["scan"].tolist() == pytest.approx([expected] * B)
    with entered(Scope()) as scope:
        scan(gated=True)(graph, state)
    assert not scope.losses


def test_a_price_without_a_gate_or_no_probability_is_an_error():
    with pytest.raises(ValueError, match=r"price is that of an open gate.*gated=True"):
        scan(price=0.1)
    with pytest.raises(ValueError, match="a probability, from 0 to 1, not 1.5"):
        scan(shuffled=1.5)
