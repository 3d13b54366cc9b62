from __future__ import annotations

import numpy as np
import pytest

from rnar.clrs import ALGORITHMS, Batch, official
from rnar.clrs.splits import Split, differences, digests, facts, size_of

MULTIPLIERS = {
    **dict.fromkeys(["quickselect", "minimum", "binary_search", "segments_intersect"], 64),
    **dict.fromkeys(["naive_string_matcher", "kmp_matcher"], 64),
    "find_maximum_subarray_kadane": 32,
}
MATCHERS = ("naive_string_matcher", "kmp_matcher")
NODES = {"optimal_bst": 65, "segments_intersect": 4, **dict.fromkeys(MATCHERS, 80)}


@pytest.mark.parametrize("task", facts())
def test_the_official_sets_have_the_seeds_lengths_and_sizes_of_the_reference(task):
    many, longer = MULTIPLIERS.get(task, 1), 1.25 if task in MATCHERS else 1
    assert size_of(task, "train") == (1, 16 * longer, 1000)
    assert size_of(task, "val") == (2, 16 * longer, 32 * many)
    assert size_of(task, "test") == (3, 64 * longer, 32 * many)


@pytest.mark.parametrize("split", ["val", "test"])
@pytest.mark.parametrize("task", facts())
def test_the_regenerated_sets_are_those_of_the_reference(task, split: Split):
    batch, expected = official(task, split), facts()[task][split]
    assert digests(batch) == expected["sha256"]
    assert batch.size == expected["samples"]
    assert batch.lengths.max() == expected["most_steps"]
    assert round(float(batch.lengths.mean()), 1) == expected["mean_steps"]
    assert split != "test" or batch.nodes == NODES.get(task, 64)


@pytest.mark.parametrize("task", ["bfs", "minimum", "optimal_bst"])
def test_the_regenerated_training_sets_are_those_of_the_reference(task):
    assert differences(task, "train") == []


def test_the_facts_are_about_thirty_tasks_and_every_split():
    assert facts().keys() <= ALGORITHMS.keys() and len(facts()) == 30
    for task, splits in facts().items():
        assert splits.keys() == {"train", "val", "test"}
        assert all(splits[split]["samples"] == size_of(task, split).samples for split in splits)


def with_one_change(batch: Batch, stage: str, name: str) -> Batch:
    """The last sample has another value there."""
    arrays = dict(getattr(batch, stage))
    array = arrays[name] = arrays[name].copy()
    last = (slice(None), -1) if stage == "hints" else (-1,)
    entry = array[last].reshape(-1).view()
    entry[0] = 1 - entry[0]
    array[last] = entry.reshape(array[last].shape)
    return batch._replace(**{stage: arrays})


@pytest.mark.parametrize("task", ["binary_search", "bridges", "lcs_length"])
def test_a_digest_notices_a_change_of_one_value(task):
    batch = official(task, "val")
    before = digests(batch)
    for stage, word in (("inputs", "input"), ("hints", "hint"), ("outputs", "output")):
        for name in getattr(batch, stage):
            after = digests(with_one_change(batch, stage, name))
            # the order of the nodes is a hint in the reference
            assert {k for k in before if before[k] != after[k]} == {
                "hint/pred_h" if name == "pred" else f"{word}/{name}"
            }


def test_a_digest_notices_a_change_of_the_last_sample_of_many_and_of_a_length():
    batch = official("minimum", "val")
    before, lengths = digests(batch), batch.lengths.copy()
    key = batch.inputs["key"].copy()
    key[-1, -1] = np.nextafter(key[-1, -1], np.float32(2))
    assert digests(batch._replace(inputs={**batch.inputs, "key": key}))["input/key"] != before["input/key"]
    lengths[-1] -= 1
    assert digests(batch._replace(lengths=lengths))["lengths"] != before["lengths"]


def test_differences_are_named(monkeypatch):
    wrong = {"minimum": {"val": {"sha256": {**facts()["minimum"]["val"]["sha256"], "input/key": "0", "hint/x": "1"}}}}
    monkeypatch.setattr("rnar.clrs.splits.facts", lambda: wrong)
    assert differences("minimum", "val") == ["hint/x", "input/key"]


def test_progress_is_told_in_samples():
    seen: list[int] = []
    assert differences("find_maximum_subarray_kadane", "val", seen.append) == []
    assert seen == [32] * 32


def test_an_unknown_split_is_refused():
    with pytest.raises(ValueError, match=r"no split 'tests' \(did you mean 'test'\?\); there are train, val, test"):
        official("bfs", "tests")  # type: ignore[arg-type]
