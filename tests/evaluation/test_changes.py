"""Hints that change are counted apart, beside what copying them would score."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from helpers.evaluating import prepared
from helpers.scoring import decide
from rnar.evaluation.evaluate import evaluate
from rnar.nn.reasoner import Reasoner
from rnar.runtime.workers import Workers

TASKS = ("insertion_sort", "lcs_length", "floyd_warshall", "mst_kruskal", "binary_search", "naive_string_matcher")


def let_it_copy(reasoner: Reasoner, task: str) -> None:
    """Make a network predict the hints that it was fed."""
    heads, fed = reasoner.heads_of(task), {}
    graph, decode = heads.graph, heads.decode

    def remembering(inputs, channels, hints):
        fed.update(hints)
        return graph(inputs, channels, hints)

    def copying(*arguments):
        return {name: 2 * wide - 1 for name, wide in fed.items()}, decode(*arguments)[1]

    heads.graph, heads.decode = remembering, copying  # type: ignore[method-assign]


def counted(batch, name: str, predicted: np.ndarray) -> dict[tuple[str, int], list[int]]:
    """A plain loop over all entries of a hint, by step and by node: changing, right of them, judged, right of them."""
    found: dict[tuple[str, int], list[int]] = {}
    truth = batch.hints[name]
    for b, length in enumerate(batch.lengths):
        for t in range(1, length):
            for place in np.ndindex(truth.shape[2:]):
                now, before = truth[(t, b, *place)], truth[(t - 1, b, *place)]
                if now < 0:
                    continue
                right = predicted[(t - 1, b, *place)] == now
                for key in [("step", t - 1), *(("node", at) for at in place[:1])]:
                    counts = found.setdefault(key, [0, 0, 0, 0])
                    for k, one in enumerate((now != before, now != before and right, True, right)):
                        counts[k] += bool(one)
    return found


@pytest.mark.parametrize("source", ["network", "truth"])
@pytest.mark.parametrize("task", TASKS)
def test_counts_are_those_of_a_plain_loop(task, source):
    model, reasoner, batch = prepared(task)
    reasoner.hints = replace(reasoner.hints, source=source)
    with torch.no_grad():
        logits = reasoner(batch, hints=True).hints
    found = evaluate(Workers(reasoner, 2), batch, hints=True).changes
    features = {name: f for name, f in model.spec(task).hints.items() if f.kind != "scalar"}
    assert found.keys() == features.keys()
    for name, feature in features.items():
        expected = counted(batch, name, decide(feature, logits[name]).numpy())
        for which, counts in (("step", found[name].steps), ("node", found[name].nodes)):
            rows = [expected.get((which, k), [0, 0, 0, 0]) for k in range(len(counts))]
            assert counts.tolist() == rows
        assert len(found[name].steps) == batch.lengths.max() - 1
        assert len(found[name].nodes) == (batch.nodes if feature.shape(batch.nodes) else 0)


def test_a_network_that_copies_scores_as_the_baseline_says_and_nothing_where_hints_change():
    _, reasoner, batch = prepared("insertion_sort", n=12)
    reasoner.hints = replace(reasoner.hints, source="truth")
    let_it_copy(reasoner, "insertion_sort")
    found = evaluate(Workers(reasoner, 1), batch, hints=True)
    assert found.changes.keys() == found.hints.keys() and "pred_h" in found.changes
    for name, changes in found.changes.items():
        for shares in (changes.total, changes.by_step, changes.by_node):
            np.testing.assert_array_equal(shares.all, shares.copied)
            assert not np.nansum(shares.changed)
        if found.hints[name].measure.name == "accuracy":
            assert changes.total.all == pytest.approx(found.hints[name].score)
        assert changes.steps[:, 0].any()
    assert found.changes["pred_h"].total.copied > 0.75  # and more with more nodes, which is why it is told


def test_parts_add_up_to_the_whole():
    _, reasoner, batch = prepared("quickselect")
    workers = Workers(reasoner, 1)
    whole = evaluate(workers, batch, hints=True).changes
    parts = [evaluate(workers, batch.part(some), hints=True) for some in (slice(0, 3), slice(3, None))]
    for name, changes in (parts[0] + parts[1]).changes.items():
        np.testing.assert_array_equal(changes.steps, whole[name].steps)
        np.testing.assert_array_equal(changes.nodes, whole[name].nodes)
