"""The scan: what it adds, when it adds nothing, and in which order it reads."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from rnar.clrs import find, sample
from rnar.engine import losses, predict
from rnar.nn.aggregators import Max
from rnar.nn.encoders import Graph
from rnar.nn.linear import OfChannels
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
    return Scan(inner(), **options)


def graph_of(nodes: Tensor) -> Graph:
    rng = torch.Generator().manual_seed(1)
    channels = torch.randn(*nodes.shape[:2], nodes.shape[1], 3, generator=rng)
    pairs = OfChannels(torch.randn(3, SIZE, generator=rng), torch.randn(SIZE, generator=rng))
    return Graph(nodes, channels, pairs, torch.randn(len(nodes), SIZE, generator=rng), None)


def drawn(*shape: int, seed: int = 2) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("name", VARIANTS)
def test_the_scan_adds_to_the_nodes_what_was_read_there(name):
    processor, graph, state = scan(**VARIANTS[name]).eval(), graph_of(drawn(B, N, SIZE)), (drawn(B, N, SIZE, seed=3),)
    z = torch.cat([graph.nodes, state[0]], dim=-1)
    read = processor.reader(z if processor.into is None else processor.into(z))[0]
    told = processor.out(read)
    if processor.gate is not None:
        told = torch.sigmoid(processor.gate(torch.cat([z, read], dim=-1))) * told
    expected, found = processor.inner(graph._replace(nodes=graph.nodes + told), state), processor(graph, state)
    assert torch.equal(found.state[0], expected.state[0]) and torch.equal(found.nodes, expected.nodes)
    assert found.nodes.shape == (B, N, processor.node_width)


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
    wrapped = Reasoner(specs, Scan(base.processor, from_zero=True))  # type: ignore[arg-type]
    wrapped.heads.load_state_dict(base.heads.state_dict())
    for name, judged in losses(base, batch).items():
        torch.testing.assert_close(losses(wrapped, batch)[name].total, judged.total)
    for name, logits in predict(base, batch, hints=True).hints.items():
        torch.testing.assert_close(predict(wrapped, batch, hints=True).hints[name], logits)
    losses(wrapped, batch)[next(iter(specs[task].outputs))].total.backward()
    assert wrapped.processor.out.weight.grad.abs().sum() > 0  # type: ignore[union-attr]  # and learns from there


def test_a_shuffled_order_is_read_and_each_node_gets_its_own_reading():
    processor, z, order = scan(), drawn(1, N, 2 * SIZE), torch.tensor([3, 0, 4, 1, 2])
    expected = torch.empty(1, N, 128)
    expected[:, order] = processor.reader(z[:, order])[0]
    assert torch.equal(processor.read(z, order), expected)


def test_the_generator_decides_the_order_in_training_and_when_tried_it_is_the_nodes_own():
    processor = scan(shuffled=0.5)
    seeds = range(200)
    orders = [processor.draw(N, torch.Generator().manual_seed(seed)) for seed in seeds]
    again = [processor.draw(N, torch.Generator().manual_seed(seed)) for seed in seeds]
    assert all(x is y is None or torch.equal(x, y) for x, y in zip(orders, again, strict=True))  # type: ignore[arg-type]
    assert 60 < sum(order is not None for order in orders) < 140
    assert all(sorted(order.tolist()) == list(range(N)) for order in orders if order is not None)
    assert len({tuple(order.tolist()) for order in orders if order is not None}) > 20
    assert scan(shuffled=1.0).draw(N, torch.Generator().manual_seed(0)) is not None
    processor.eval()
    assert all(processor.draw(N, torch.Generator().manual_seed(seed)) is None for seed in seeds)


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
        whole = losses(network, batch, seed)
        assert len(seen) == batch.lengths.max() - 1 and all(order is seen[0] for order in seen)
        shuffled.append(seen[0] is not None)
        parts = [losses(network, batch.part(slice(k, k + 2)), seed) for k in (0, 2)]
        for name, judged in whole.items():
            if name != "pred":  # whose noise is drawn for each sample
                assert sum(part[name].total for part in parts).item() == pytest.approx(judged.total.item())
    assert any(shuffled) and not all(shuffled)


def test_an_open_gate_has_its_price():
    processor, graph, state = scan(gated=True, price=0.1), graph_of(drawn(B, N, SIZE)), (drawn(B, N, SIZE, seed=3),)
    for bias, expected in ((-1e4, 0.0), (1e4, 0.1)):
        with torch.no_grad():
            processor.gate.bias.fill_(bias)  # type: ignore[union-attr]
        assert processor(graph, state).losses["scan"].tolist() == pytest.approx([expected] * B)
    assert processor.losses == ("scan",) and scan(gated=True).losses == ()


def test_a_price_without_a_gate_or_no_probability_is_an_error():
    with pytest.raises(ValueError, match=r"price is that of an open gate.*gated=True"):
        scan(price=0.1)
    with pytest.raises(ValueError, match="a probability, from 0 to 1, not 1.5"):
        scan(shuffled=1.5)
