"""Widening, relaxing, deciding, judging: each kind against a plain re-statement."""

import pytest
import torch

from rnar.clrs import edge, graph, node
from rnar.nn.kinds import PermutationLogits, kind_of, log_sinkhorn, to_ring

FEATURES = [
    node.scalar,
    node.mask,
    node.mask_one,
    node.categorical(3),
    node.pointer,
    edge.pointer,
    graph.categorical(4),
]


def example(feature, generator, nodes=5, batch=4):
    """Random truth and logits."""
    shape = (batch, *feature.shape(nodes))
    if feature.kind == "scalar":
        return torch.randn(shape, generator=generator), torch.randn(shape, generator=generator)
    if feature.kind == "mask":
        return torch.randint(-1, 2, shape, generator=generator).to(torch.int8), torch.randn(shape, generator=generator)
    classes = feature.classes or nodes
    low = -1 if feature.kind == "categorical" else 0
    truth = torch.randint(low, classes, shape, generator=generator).to(torch.int16)
    return truth, torch.randn((*shape, classes), generator=generator)


@pytest.mark.parametrize("feature", FEATURES, ids=str)
def test_a_decision_widened_is_what_confident_logits_relax_to(feature):
    _, logits = example(feature, torch.Generator().manual_seed(0))
    kind = kind_of(feature)
    confident = logits if feature.kind == "scalar" else logits.double() * 1e8
    assert torch.allclose(kind.relax(confident).float(), kind.widen(kind.decide(logits), 5), atol=1e-3)


@pytest.mark.parametrize("feature", FEATURES, ids=str)
def test_the_loss_is_least_where_the_truth_is_predicted(feature):
    truth, logits = example(feature, torch.Generator().manual_seed(0))
    kind = kind_of(feature)
    if feature.kind == "scalar":
        right = truth
    elif feature.kind == "mask":
        right = (truth.float() * 2 - 1) * 50
    else:
        right = torch.nn.functional.one_hot(truth.clamp(min=0).long(), logits.shape[-1]) * 50.0
    total, count = kind.losses(right, truth)[""]
    assert total / count < 1e-6
    assert kind.losses(logits, truth)[""].total > total
    assert count == ((truth >= 0).sum() if feature.kind in ("mask", "categorical") else truth.numel())


@pytest.mark.parametrize("feature", FEATURES, ids=str)
def test_gradients_of_losses_agree_with_finite_differences(feature):
    truth, logits = example(feature, torch.Generator().manual_seed(0), nodes=3, batch=2)
    kind = kind_of(feature)
    assert torch.autograd.gradcheck(lambda x: kind.losses(x, truth)[""].total, logits.double().requires_grad_())
    assert torch.autograd.gradcheck(kind.relax, logits.double().requires_grad_())


def test_entries_that_are_not_judged_change_nothing():
    truth, logits = example(node.mask, torch.Generator().manual_seed(0))
    kind = kind_of(node.mask)
    other = torch.where(truth < 0, 7.0, logits)
    assert torch.equal(kind.losses(logits, truth)[""].total, kind.losses(other, truth)[""].total)


def test_the_first_of_a_ring_points_at_the_last():
    pred = torch.tensor([[2, 1, 1], [0, 0, 1], [1, 2, 2]])  # orders 1 2 0, 0 1 2 and 2 1 0; the first points at itself
    ring, first = to_ring(pred)
    assert ring.tolist() == [[2, 0, 1], [2, 0, 1], [1, 2, 0]]
    assert first.tolist() == [1, 0, 2]


def test_sinkhorn_gives_a_doubly_stochastic_matrix_without_diagonal():
    x = torch.randn(3, 6, 6, generator=torch.Generator().manual_seed(0)) * 0.1
    p = log_sinkhorn(x, steps=200).exp()
    assert torch.allclose(p.sum(dim=-1), torch.ones(3, 6), atol=1e-3)
    assert torch.allclose(p.sum(dim=-2), torch.ones(3, 6), atol=1e-3)
    assert p.diagonal(dim1=-2, dim2=-1).max() < 1e-6


def test_gumbel_noise_changes_the_sample_and_none_does_not():
    x = torch.randn(2, 4, 4, generator=torch.Generator().manual_seed(0))
    noise = torch.rand(2, 4, 4, generator=torch.Generator().manual_seed(1))
    assert not torch.allclose(log_sinkhorn(x, 10, noise), log_sinkhorn(x, 10))
    gumbel = -torch.log(-torch.log(noise + 1e-12) + 1e-12)
    assert torch.allclose(log_sinkhorn(x, 10, noise), log_sinkhorn(x + gumbel, 10), atol=1e-5)


def test_a_permutation_is_decided_and_judged_as_stored():
    pred = torch.tensor([[2, 1, 1, 0], [1, 2, 3, 3]])  # orders 1 2 0 3 and 3 2 1 0
    ring, first = to_ring(pred)
    logits = PermutationLogits(
        torch.log(torch.nn.functional.one_hot(ring, 4) * 0.9 + 0.025), torch.nn.functional.one_hot(first, 4) * 5.0
    )
    kind = kind_of(node.permutation)
    assert torch.equal(kind.decide(logits), pred)
    found = kind.losses(logits, pred)
    assert found.keys() == {"", "_first"} and found[""].total / 8 < 0.1
    assert kind.counts(pred.numpy()) == {"": 8, "_first": 2}
    assert {name: int(loss.count) for name, loss in found.items()} == {"": 8, "_first": 2}
