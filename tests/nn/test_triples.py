"""Pointers of pairs as triples: enough to execute Floyd-Warshall exactly, with weights set by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from helpers.scoring import predict
from rnar.clrs import Batch, find, sample
from rnar.clrs.batch import as_batch
from rnar.models import MODELS
from rnar.nn.aggregators import Max
from rnar.nn.decoders import TriplePointerDecoder
from rnar.nn.heads import HintConfig
from rnar.nn.processors.forgetnet import ForgetNet, GatedForgetNet
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.reasoner import Reasoner
from rnar.runtime import backward

TASK = "floyd_warshall"
POINTING = ("floyd_warshall", "matrix_chain_order", "optimal_bst")
H = 16
FAR = 1024.0
"""more than any way is long; what is not known is at least so far away"""
MARKED = 4 * FAR
"""for the node k: more than all else that could decide a maximum"""
SURE = 1e4
"""the logit of what is certain"""
POS, IS_K = 0, 1  # features of nodes
D, KNOWN = 0, 1  # features of pairs
VIA, NOW, KNOWN_SUM, COPY = 0, 1, 2, 3  # messages of three nodes
GAIN, LESS, LESS_MORE, ONE_KNOWN, BOTH_KNOWN, DISTANCE, COPIED = range(7)  # what is made of them for decoders


def executing(sharp: float) -> Reasoner:
    """Floyd-Warshall as a network. Its decisions are exact if distances differ by more than 1 / sharp."""
    network = Reasoner({TASK: find(TASK).spec}, MessagePassing(H, Max(H), triplets=8), pointers="triplets")
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        encode(network)
        move_k_on(network)
        look_through_k(network)
        decode(network, sharp)
    return network


def encode(network: Reasoner) -> None:
    heads = network.heads_of(TASK)
    first(heads.inputs.maps["pos"]).weight[POS] = 1
    first(heads.hints.maps["k"]).weight[IS_K] = 1
    first(heads.hints.maps["D"]).weight[D] = 1
    first(heads.hints.maps["msk"]).weight[KNOWN] = 1
    assert heads.codes is not None
    heads.codes.weight[0, 0, COPY] = 1  # P[a, b, c]


def move_k_on(network: Reasoner) -> None:
    """The next k is the nearest node after k: k sends its distance, and to those after it that they are."""
    processor, heads = network.processor, network.heads_of(TASK)
    assert isinstance(processor, MessagePassing)
    processor.to_receiver.weight[0, POS] = 1
    processor.to_sender.weight[0, [POS, IS_K]] = torch.tensor([-1.0, FAR])
    processor.to_graph.bias[0] = -FAR
    processor.hidden_layer.weight[:3, 0] = torch.tensor([1, FAR, FAR])
    processor.hidden_layer.bias[2] = -1
    processor.last_layer.weight[0, 0] = 1  # how far
    processor.last_layer.weight[1, 1:3] = torch.tensor([1.0, -1.0])  # is it after k?
    processor.from_messages.weight[[0, 1], [0, 1]] = 1
    processor.from_messages.bias[2] = 8  # the norm divides by nearly the same everywhere
    processor.norm.weight.fill_(1)
    first(heads.decode_hints.each["k"].of_nodes).weight[0, 2 * H : 2 * H + 2] = SURE * torch.tensor([-1.0, 1.0])


def look_through_k(network: Reasoner) -> None:
    """t_bc of a = k: how far it is from b to c through k, whether that is known, and to whom (k, b) points."""
    assert isinstance(network.processor, MessagePassing)
    triplets = network.processor.triplets
    assert triplets is not None
    for message in (VIA, KNOWN_SUM, COPY):
        triplets.from_a.weight[message, IS_K] = MARKED
        triplets.from_a.bias[message] = -MARKED
    for pair in (triplets.from_ab, triplets.from_ac):
        pair.weight[VIA, [D, KNOWN]] = torch.tensor([-1.0, FAR])
        pair.bias[VIA] = -FAR
        pair.weight[KNOWN_SUM, KNOWN] = 1
    triplets.from_bc.weight[KNOWN_SUM, KNOWN] = 2
    triplets.from_bc.weight[NOW, [D, KNOWN]] = torch.tensor([1.0, -FAR])
    triplets.from_bc.bias[NOW] = FAR


def decode(network: Reasoner, sharp: float) -> None:
    """`GAIN`: by how much it is nearer through k. What is relaxed has its pointer from `COPIED`, the rest its own."""
    assert isinstance(network.processor, MessagePassing) and network.processor.triplets is not None
    out, heads = network.processor.triplets.out, network.heads_of(TASK)
    out.weight[GAIN, [VIA, NOW]] = 1
    out.weight[LESS, [VIA, NOW]] = out.weight[LESS_MORE, [VIA, NOW]] = sharp
    out.weight[[ONE_KNOWN, BOTH_KNOWN], KNOWN_SUM] = 1
    out.bias[[LESS_MORE, ONE_KNOWN, BOTH_KNOWN]] = torch.tensor([-1.0, -1.0, -2.0])
    out.weight[DISTANCE, NOW] = 1
    out.weight[COPIED, COPY] = 1
    relaxed, known = torch.zeros(2 * H), torch.zeros(2 * H)
    relaxed[[H + LESS, H + LESS_MORE]] = torch.tensor([1.0, -1.0])
    known[[H + ONE_KNOWN, H + BOTH_KNOWN]] = torch.tensor([1.0, -1.0])
    distance = first(heads.decode_hints.each["D"].of_edges)
    distance.weight[0] = FAR * known
    distance.weight[0, [H + DISTANCE, H + GAIN]] = torch.tensor([1.0, -1.0])
    distance.bias[0] = -FAR
    mask = first(heads.decode_hints.each["msk"].of_edges)
    mask.weight[0], mask.bias[0] = SURE * known, -SURE / 2
    for pointer in (heads.decode_hints.each["Pi_h"], heads.decode_outputs.each["Pi"]):
        assert isinstance(pointer, TriplePointerDecoder)
        ij, _, _, _, _, jk = first(pointer.of_edges).weight.chunk(6)
        ij[0], ij[1] = 2 * relaxed, -2 * relaxed  # relu(2 u_ij + copied_jk - 2) + relu(P_ijk - 2 u_ij)
        jk[0, H + COPIED] = 1
        first(pointer.of_edges).bias[0] = -2
        pointer.codes.weight[0, 0, 1] = 1
        pointer.last.weight[0, :2] = SURE


def first(modules: nn.Module) -> nn.Linear:
    """The only one of a list."""
    (linear,) = modules.children()
    assert isinstance(linear, nn.Linear)
    return linear


def assert_executes(network: Reasoner, batch: Batch) -> None:
    """Every hint of every step is the algorithm's, though the network is fed its own from the first on."""
    prediction = predict(network.eval(), batch)
    assert len(batch.hints["Pi_h"]) == batch.nodes
    for name in ("Pi_h", "k"):
        np.testing.assert_array_equal(prediction.hints[name].argmax(dim=-1), batch.hints[name][1:])
    np.testing.assert_array_equal(prediction.hints["msk"] > 0, batch.hints["msk"][1:] > 0)
    np.testing.assert_allclose(prediction.hints["D"], batch.hints["D"][1:], atol=1e-5)
    assert (batch.hints["Pi_h"][0] != batch.hints["Pi_h"][-1]).mean() > 0.1  # there was something to do


@pytest.mark.parametrize("n", [5, 16, 33])
def test_floyd_warshall_can_be_executed_exactly(n):
    batch = sample(TASK, n=n, batch=3, seed=n, p=0.8)
    assert_executes(executing(sharp=1e7).double(), batch)


def test_floyd_warshall_can_be_executed_exactly_by_the_compiled_loops():
    """Of whole numbers, so that no decision hangs on a last bit."""
    rng = np.random.default_rng(0)
    A = np.triu(rng.integers(1, 30, (12, 12)) * (rng.random((12, 12)) < 0.5), 1).astype(np.float32)
    assert_executes(executing(sharp=1.0), as_batch(find(TASK).trace(A + A.T)))


@pytest.mark.parametrize("task", POINTING)
def test_pointers_as_triples_keep_less_for_the_backward_pass(task):
    batch, kept = sample(task, n=16, batch=2, seed=0), {}
    for pointers in ("means", "triplets"):
        network = replace(MODELS["triplet-gmpnn"], pointers=pointers).build(task)
        seen: dict[int, int] = {}

        def count(x: Tensor, seen: dict[int, int] = seen) -> Tensor:
            seen[x.untyped_storage().data_ptr()] = x.untyped_storage().nbytes()
            return x

        with torch.autograd.graph.saved_tensors_hooks(count, lambda x: x):
            network.loss(batch)
        kept[pointers] = sum(seen.values())
    assert kept["triplets"] < 0.9 * kept["means"]


@pytest.mark.parametrize("task", [*POINTING, "bfs"])
def test_gradients_are_the_same_whether_steps_are_kept_or_computed_again(task):
    model = MODELS["edge-pointers"]
    batch, found = model.batch(sample(task, n=6, batch=3, seed=0)), []
    for memory in (0, 1 << 30):
        network = model.build(task, size=8).double()
        backward(network, batch, memory=memory)
        found.append([parameter.grad for parameter in network.parameters()])
    (network := model.build(task, size=8).double()).loss(batch).backward()
    for *gradients, expected in zip(*found, (parameter.grad for parameter in network.parameters()), strict=True):
        assert all(torch.allclose(gradient, expected, atol=1e-12) for gradient in gradients)


@pytest.mark.parametrize("wrapped", [ForgetNet, lambda inner: GatedForgetNet(inner, H)])
def test_any_message_passing_with_triplets_can_have_them(wrapped):
    processor = wrapped(MessagePassing(H, Max(H), triplets=4))
    network = Reasoner({TASK: find(TASK).spec}, processor, pointers="triplets")
    batch = sample(TASK, n=5, batch=2, seed=0)
    before = predict(network, batch).outputs["Pi"]
    with torch.no_grad():
        network.heads_of(TASK).codes.weight += 1  # type: ignore[union-attr]
    assert not torch.allclose(before, predict(network, batch).outputs["Pi"])  # type: ignore[arg-type]


def test_without_fed_pointers_they_are_still_read_off_triples():
    network = Reasoner(
        {TASK: find(TASK).spec}, MessagePassing(H, Max(H), triplets=4), HintConfig("decoded"), pointers="triplets"
    )
    network.loss(sample(TASK, n=5, batch=2, seed=0)).backward()
    assert network.heads_of(TASK).codes is None


def test_without_triplets_there_are_no_pointers_as_triples():
    with pytest.raises(ValueError, match=r"MessagePassing has no messages of three nodes.*triplets=8"):
        Reasoner({TASK: find(TASK).spec}, MessagePassing(H, Max(H)), pointers="triplets")
