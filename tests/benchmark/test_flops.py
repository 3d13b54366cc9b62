"""How many operations a step has, and how many the machine can do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from rnar.benchmark.flops import counted, forward_flops, machine_speed, sample_steps
from rnar.clrs import Stream, sample
from rnar.models import MODELS


def plain(name: str, task: str, n: int, batch: int, size: int) -> tuple[int, np.ndarray]:
    """The operations of a network without hint reversal in a forward pass, and the lengths of its batch."""
    model = replace(MODELS[name], reversal=False)
    data = model.batch(sample(task, n=n, batch=batch, seed=0))
    return counted(model.build(task, size), data), data.lengths


def by_hand(n: int, batch: int, h: int) -> int:
    """Those of mpnn on minimum, whose inputs are 2 of nodes and 1 of pairs, its hints 2 of nodes, its output 1."""
    nodes, pairs, steps, channels = batch * n, batch * n * n, n - 1, 4
    of_nodes = nodes * ((channels + h) * 3 * h + h * h)  # z to receiver, sender and itself; messages to states
    of_pairs = pairs * (h + 2 * h * h)  # a channel; two layers of the message
    decoded = nodes * (channels + 2 * h) * 2
    once = h * h + nodes * (channels + 2 * h)  # the channel of pairs through W_e; the output
    once += channels * h * (3 * h + 2 + 1)  # channels of nodes through the maps of z, and of what is decoded
    return 2 * (steps * (of_nodes + of_pairs + batch * h * h + decoded) + once)


@pytest.mark.parametrize(("n", "batch", "size"), [(8, 3, 32), (4, 2, 16)])
def test_the_products_of_an_mpnn_are_those_counted_by_hand(n, batch, size):
    counted, lengths = plain("mpnn", "minimum", n, batch, size)
    assert set(lengths) == {n}
    assert counted == pytest.approx(by_hand(n, batch, size), rel=0.01)


def test_the_products_of_an_lstm_are_counted_too():
    n, batch, h = 8, 3, 32
    more = plain("rnar-mpnn", "minimum", n, batch, h)[0] - plain("mpnn", "minimum", n, batch, h)[0]
    gates, last_layer = 4 * h * (h + h), h * h  # the last layer of the message is made one with the gates, once
    assert more == pytest.approx(2 * ((n - 1) * batch * n * n * (gates - last_layer) + 4 * h * h * h), rel=0.01)


@pytest.mark.parametrize("name", MODELS)
def test_the_cost_of_a_step_tells_that_of_all_batches(name):
    network = MODELS[name].build("bfs", 16)
    with Stream("bfs", batch=3, sizes=(6,), transform=MODELS[name].batch, ahead=0) as stream:
        first, second = next(stream), next(stream)
    assert len(set(second.lengths)) > 1
    assert forward_flops(network, [first, second])[1] == pytest.approx(counted(network, second), rel=0.01)


def test_counting_leaves_the_network_as_it_was():
    network = MODELS["mpnn"].build("minimum", 8).train()
    before = {name: x.clone() for name, x in network.state_dict().items()}
    counted(network, sample("minimum", n=4, batch=2, seed=0))
    assert network.training
    assert all(x.dtype == torch.float32 and torch.equal(x, before[name]) for name, x in network.state_dict().items())


def test_a_sample_takes_a_step_less_than_it_has_hints_and_at_least_one():
    batch = replace(sample("quickselect", n=4, batch=4, seed=0), lengths=np.array([1, 2, 5, 9]))
    assert sample_steps(batch) == 1 + 1 + 4 + 8


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_the_machine_has_a_speed_and_keeps_its_threads(precision):
    threads = torch.get_num_threads()
    assert 1e6 < machine_speed(64, 1, torch.device("cpu"), precision) < 1e15
    assert torch.get_num_threads() == threads
