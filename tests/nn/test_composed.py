"""Composed hints: the node after a marked one, and the one before it."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from helpers.scoring import predict
from rnar.clrs import find, sample
from rnar.models import MODELS
from rnar.nn.aggregators import Max
from rnar.nn.composed import Composed, Marks, composed_of, marks, points
from rnar.nn.heads import HintConfig
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.reasoner import Reasoner

SIZE = 8


def network(task: str, which: Marks = "one", **options) -> Reasoner:
    torch.manual_seed(0)
    return Reasoner({task: find(task).spec}, MessagePassing(SIZE, Max(SIZE)), composed=which, **options)


def test_a_mark_is_composed_with_a_pointer_both_ways():
    """With `pred` as the pointer and node 2 marked: (P m) marks its successor, (P^T m) its predecessor."""
    pred = torch.tensor([0, 0, 1, 2, 3])
    pointing = torch.nn.functional.one_hot(pred, 5).float()[None, None]
    marked = torch.zeros(1, 5, 1)
    marked[0, 2] = 1
    composed = Composed(masks=1, pointers=1, size=2)
    with torch.no_grad():
        composed.map.weight.copy_(torch.eye(2))
    after, before = composed(marked, pointing)[0].T
    assert after.tolist() == [0, 0, 0, 1, 0] and before.tolist() == [0, 1, 0, 0, 0]


def test_every_mask_has_a_channel_with_every_pointer():
    generator = torch.Generator().manual_seed(0)
    marked, pointing = torch.rand(2, 4, 3, generator=generator), torch.rand(2, 2, 4, 4, generator=generator)
    composed = Composed(masks=3, pointers=2, size=12)
    with torch.no_grad():
        composed.map.weight.copy_(torch.eye(12))
    found = composed(marked, pointing).view(2, 4, 2, 2, 3)  # pointer, way, mask
    for p in range(2):
        for m in range(3):
            there = torch.stack([pointing[b, p] @ marked[b, :, m] for b in range(2)])
            back = torch.stack([pointing[b, p].T @ marked[b, :, m] for b in range(2)])
            assert torch.allclose(found[:, :, p, 0, m], there) and torch.allclose(found[:, :, p, 1, m], back)


@pytest.mark.parametrize(
    ("task", "which", "masks", "pointers"),
    [
        ("minimum", "one", 2, 1),
        ("quickselect", "one", 5, 1),
        ("kmp_matcher", "one", 4, 2),
        ("kmp_matcher", "all", 5, 2),
        ("dijkstra", "one", 1, 1),
        ("dijkstra", "all", 3, 1),
    ],
)
def test_pointers_may_be_inputs_or_hints(task, which, masks, pointers):
    spec = find(task).spec
    assert (len(marks(spec.hints, which)), len(points(spec.inputs)) + len(points(spec.hints))) == (masks, pointers)
    made = network(task, which)
    assert made.heads_of(task).composed.map.in_features == 2 * masks * pointers  # type: ignore[union-attr]
    made.loss(sample(task, n=8, batch=3, seed=0)).backward()
    assert all(p.grad.abs().sum() > 0 for p in made.heads_of(task).composed.parameters())  # type: ignore[union-attr]


def test_where_nothing_is_marked_or_nothing_points_there_is_nothing_to_compose():
    for task in ("floyd_warshall", "lcs_length"):
        assert composed_of(find(task).spec.inputs, find(task).spec.hints, "all", SIZE) is None
    assert composed_of(find("bfs").spec.inputs, find("bfs").spec.hints, "one", SIZE) is None  # `reach_h` is of many
    assert network("minimum", "none").heads_of("minimum").composed is None
    assert network("minimum", hints=HintConfig("decoded")).heads_of("minimum").composed is None


@pytest.mark.parametrize("nodes", [4, 64])
def test_what_a_mark_of_one_node_is_composed_to_does_not_grow_with_the_graph(nodes):
    """All point at node 0: a mark of one node is 1 there, one of all nodes as much as there are nodes."""
    pointing = torch.zeros(1, 1, nodes, nodes)
    pointing[..., 0] = 1
    composed = Composed(masks=2, pointers=1, size=4)
    with torch.no_grad():
        composed.map.weight.copy_(torch.eye(4))
    marked = torch.stack([torch.nn.functional.one_hot(torch.tensor(2), nodes), torch.ones(nodes)], dim=-1)[None]
    _, _, one, many = composed(marked, pointing)[0].T  # P m of both, P^T m of both
    assert one.max() == 1 and many.max() == nodes


def test_a_model_says_which_marks_there_are_if_it_is_given_others():
    with pytest.raises(ValueError, match="composed must be none or one or all, not True"):
        replace(MODELS["linked"], composed=True)  # type: ignore[arg-type]


def test_what_is_composed_matters():
    made, batch = network("minimum"), sample("minimum", n=5, batch=2, seed=0)
    before = predict(made, batch).outputs["min"]
    with torch.no_grad():
        made.heads_of("minimum").composed.map.weight.neg_()  # type: ignore[union-attr]
    assert not torch.allclose(before, predict(made, batch).outputs["min"])  # type: ignore[arg-type]
