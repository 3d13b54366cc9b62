from __future__ import annotations

import gc
import itertools
import json
import pickle
import threading
from typing import Any

import numpy as np
import pytest
from torch.utils.data import DataLoader, IterableDataset

from helpers.processes import run
from rnar.clrs import ALGORITHMS, Batch, Stream, find, to_dm_clrs

SPARSE = ("articulation_points", "bridges", "mst_kruskal")
MATCHERS = ("naive_string_matcher", "kmp_matcher")
GRAPHS = [task for task in ALGORITHMS if "p" in find(task).problem.options]


def first(stream: Stream, many: int) -> list[Batch]:
    with stream:
        return list(itertools.islice(stream, many))


def assert_equal(a: Batch, b: Batch) -> None:
    ours, theirs = to_dm_clrs(a), to_dm_clrs(b)
    assert ours.keys() == theirs.keys()
    for name in ours:
        np.testing.assert_array_equal(ours[name], theirs[name], err_msg=name, strict=True)


def differ(a: Batch, b: Batch) -> bool:
    return not np.array_equal(a.inputs["pos"], b.inputs["pos"])


def running() -> set[threading.Thread]:
    return set(threading.enumerate())


def gone(threads: set[threading.Thread], seconds: float = 120.0) -> bool:
    """Do these threads end, however busy the machine is?"""
    for thread in threads:
        thread.join(seconds)
    return not any(thread.is_alive() for thread in threads)


@pytest.mark.parametrize("task", ALGORITHMS)
def test_batches_of_32_come_in_the_sizes_of_the_standard_protocol_in_turn(task):
    batches = first(Stream(task, seed=1, ahead=0), 6)
    sizes = [4, 7, 11, 13, 16, 4]
    if task in MATCHERS:
        sizes = [20] * 6
    if task == "segments_intersect":
        sizes = [4] * 6
    if task == "optimal_bst":  # one node more than keys
        sizes = [n + 1 for n in sizes]
    assert [batch.nodes for batch in batches] == sizes
    assert {(batch.task, batch.size) for batch in batches} == {(task, 32)}


@pytest.mark.parametrize("task", GRAPHS)
def test_edge_probabilities_are_tenths_halved_for_three_tasks(task):
    (p,) = Stream(task).state["options"].values()
    expected = np.arange(1, 10) / (20 if task in SPARSE else 10)
    np.testing.assert_allclose(p, expected)


@pytest.mark.parametrize("task, most", [("bfs", 0.9), ("bridges", 0.45)])
def test_graphs_are_as_dense_as_their_probabilities_say(task, most):
    """A self-loop has the edge's own probability, so that loops tell the mean and the largest of the nine."""
    stream = Stream(task, batch=2000, sizes=(16,), ahead=0)
    loops = np.diagonal(next(stream).inputs["A"], axis1=1, axis2=2).mean(axis=1)
    assert loops.mean() == pytest.approx(0.5 * most / 0.9, abs=0.02)
    assert loops.var() > 0.06 * (most / 0.9) ** 2  # one probability alone would give a fourth of that
    assert (loops > most - 0.05).any()


@pytest.mark.parametrize("task", MATCHERS)
def test_needles_have_one_to_eight_of_twenty_letters(task):
    batch = next(Stream(task, batch=500, ahead=0))
    needles = batch.inputs["string"].sum(axis=1)
    assert batch.nodes == 20
    values, counts = np.unique(needles, return_counts=True)
    assert values.tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    assert counts.min() > 30


@pytest.mark.parametrize("task", ALGORITHMS)
def test_positions_are_random_and_ascend_within_each_string(task):
    batch = next(Stream(task, ahead=0))
    string = batch.inputs.get("string", np.zeros_like(batch.inputs["pos"]))
    for pos, second in zip(batch.inputs["pos"], string, strict=True):
        for part in (pos[second == 0], pos[second == 1]):
            assert (np.diff(part) > 0).all()
            assert ((part > 0) & (part < 1)).all()
    assert differ(batch, batch._replace(inputs={**batch.inputs, "pos": np.roll(batch.inputs["pos"], 1, axis=0)}))


def test_a_batch_made_in_the_background_is_the_batch_made_at_once():
    for a, b in zip(
        first(Stream("quickselect", seed=3), 8), first(Stream("quickselect", seed=3, ahead=0), 8), strict=True
    ):
        assert_equal(a, b)


def test_a_stream_does_not_depend_on_others():
    alone = first(Stream("bfs", seed=2), 4)
    with Stream("bfs", seed=2) as stream, Stream("bfs", seed=5) as other, Stream("dfs", seed=2) as another:
        for expected in alone:
            next(other)
            next(another)
            np.random.seed(0)  # nor on the global generator
            assert_equal(next(stream), expected)


def test_seeds_tasks_and_batches_have_nothing_in_common():
    settings: dict[str, Any] = dict(batch=2, sizes=(8,), ahead=0)
    streams = [Stream("bfs", 0, **settings), Stream("bfs", 1, **settings), Stream("dijkstra", 0, **settings)]
    batches = [next(stream) for stream in streams for _ in range(2)]
    assert all(differ(a, b) for a, b in itertools.combinations(batches, 2))


@pytest.mark.parametrize("ahead", [0, 1, 4])
@pytest.mark.parametrize("task", ["bfs", "kmp_matcher", "heapsort"])
def test_after_restoring_the_batch_comes_that_would_have_come(task, ahead):
    with Stream(task, seed=7, ahead=ahead) as stream, Stream(task, seed=7, ahead=ahead) as fresh:
        for _ in range(3):
            next(stream)
        state = json.loads(json.dumps(stream.state))
        expected = [next(stream), next(stream)]
        stream.restore(state)
        fresh.restore(state)
        for batch in expected:
            assert_equal(next(stream), batch)
            assert_equal(next(fresh), batch)
        assert stream.state == fresh.state == {**state, "next": 5}


def test_what_was_prepared_ahead_is_not_counted():
    prepared = threading.Semaphore(0)
    with Stream("minimum", ahead=4, transform=lambda batch: prepared.release() or batch) as stream:
        next(stream)
        for _ in range(5):  # the one that was taken and four more
            assert prepared.acquire(timeout=120)
        assert stream.state["next"] == 1


def test_a_state_says_what_it_is_the_state_of():
    state = Stream("kmp_matcher", seed=4, batch=3, needle=5).state
    assert state == {
        "task": "kmp_matcher",
        "seed": 4,
        "batch": 3,
        "sizes": [20],
        "random_positions": True,
        "options": {"needle": 5},
        "next": 0,
    }


@pytest.mark.parametrize(
    "changed, message",
    [
        (dict(task="dfs"), "task is 'dfs', not 'bfs'"),
        (dict(seed=1), "seed is 1, not 0"),
        (dict(batch=16), "batch is 16, not 32"),
        (dict(sizes=[4]), r"sizes is \[4\], not \[4, 7, 11, 13, 16\]"),
        (dict(random_positions=False), "random_positions is False, not True"),
        (dict(options={"p": 0.5}), r"options is {'p': 0.5}, not {'p': \[0.1,"),
    ],
)
def test_the_state_of_another_stream_is_refused(changed, message):
    stream = Stream("bfs")
    with pytest.raises(ValueError, match="this is the state of another stream: " + message):
        stream.restore({**stream.state, **changed})


def test_no_state_at_all_is_refused():
    with pytest.raises(ValueError, match="this is the state of another stream: task is None, not 'bfs'"):
        Stream("bfs").restore({})


def failing_at(number: int):
    """A transform that raises at its call of that number."""
    calls = itertools.count()

    def transform(batch: Batch) -> Batch:
        if next(calls) == number:
            raise RuntimeError("the transform failed")
        return batch

    return transform


@pytest.mark.parametrize("ahead", [0, 4])
def test_an_error_reaches_the_consumer_after_the_batches_before_it(ahead):
    before = running()
    with Stream("minimum", transform=failing_at(2), ahead=ahead) as stream:
        next(stream)
        next(stream)
        with pytest.raises(RuntimeError, match="the transform failed"):
            next(stream)
        assert stream.state["next"] == 2
    assert gone(running() - before)


def test_after_an_error_the_stream_still_answers():
    def ask() -> None:
        for _ in range(2):
            try:
                next(stream)
            except RuntimeError:
                continue

    stream = Stream("minimum", transform=failing_at(0))
    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    assert gone({asking})


def test_a_transform_is_done_last():
    seen: list[Any] = []
    stream = Stream("bfs", transform=lambda batch: seen.append(batch) or batch._replace(task="changed"), ahead=0)
    assert next(stream).task == "changed"
    stream.restore({**stream.state, "next": 0})
    assert_equal(seen[0], next(Stream("bfs", ahead=0)))


def test_nothing_runs_before_the_first_batch_is_asked_for():
    before = running()
    stream = Stream("minimum")
    assert not running() - before
    stream.close()


def test_close_ends_the_thread_and_the_stream_can_go_on():
    before = running()
    stream, same = Stream("minimum", seed=1), Stream("minimum", seed=1, ahead=0)
    assert_equal(next(stream), next(same))
    assert len(running() - before) == 1
    stream.close()
    assert not running() - before
    assert_equal(next(stream), next(same))
    stream.close()
    stream.close()
    assert not running() - before


def test_a_stream_that_is_forgotten_ends_its_thread():
    before = running()
    stream = Stream("minimum")
    next(stream)
    threads = running() - before
    assert len(threads) == 1
    del stream
    gc.collect()
    assert gone(threads)


def test_a_program_ends_though_its_stream_is_open():
    code = "import rnar.clrs; s = rnar.clrs.Stream('minimum'); print(next(s).size)"
    printed, said = run(code)
    assert printed == "32\n"
    assert [line for line in said.splitlines() if "compiling" not in line] == []


@pytest.mark.parametrize(
    "settings, message",
    [
        (dict(seed=-1), "a seed must not be negative, but it is -1"),
        (dict(seed=None), "^Stream: seed must be a whole number, not None"),
        (dict(sizes=[]), "a stream needs at least one size of problems"),
        (dict(batch=0), "bfs: a batch must hold 1 to 1,000,000 samples, not 0"),
        (dict(sizes=(4, 1)), "bfs: n=1 is too small: the smallest n of this task is 2"),
        (dict(p=1.5), r"bfs: p=1.5 is not a probability between 0 and 1 or a tuple of them"),
        (dict(needle=3), "bfs: no option 'needle'; this task has: p=0.5"),
    ],
)
def test_impossible_settings_are_refused_at_once(settings, message):
    with pytest.raises(ValueError, match=message):
        Stream("bfs", **settings)


@pytest.mark.filterwarnings("ignore:This DataLoader will create")  # on a machine of one core
@pytest.mark.parametrize("workers", [0, 1, 2])
def test_a_loader_gives_the_batches_of_the_stream_with_any_number_of_workers(workers):
    settings: dict[str, Any] = dict(seed=2, batch=2, sizes=(4, 5), ahead=0)
    stream = Stream("bfs", **settings)
    next(stream)
    expected = first(stream, 5)
    stream.restore({**stream.state, "next": 1})
    loader = DataLoader(stream.dataset(), batch_size=None, num_workers=workers)
    for _ in range(2):  # each pass begins where the stream is
        for found, batch in zip(loader, expected, strict=False):
            assert_equal(found, batch)
    assert stream.state["next"] == 1


@pytest.mark.filterwarnings("ignore:This DataLoader will create")  # on a machine of one core
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork")  # of the thread that prepares batches
@pytest.mark.parametrize("workers", [0, 2])
def test_a_stream_itself_is_a_dataset_for_a_loader(workers):
    settings: dict[str, Any] = dict(seed=2, batch=2, sizes=(4, 5))
    with Stream("bfs", **settings) as stream:
        assert isinstance(stream, IterableDataset)
        expected = first(stream, 6)
        stream.restore({**stream.state, "next": 1})
        loader = DataLoader(stream, batch_size=None, num_workers=workers)
        for found, batch in zip(loader, expected[1:], strict=False):
            assert_equal(found, batch)


def test_a_stream_can_be_sent_to_another_process_while_it_prepares_batches():
    with Stream("bfs", seed=1, batch=2) as stream:
        next(stream)
        sent = pickle.loads(pickle.dumps(stream))
        assert sent.state == stream.state
        with sent:
            assert_equal(next(sent), next(stream))


def test_a_dataset_can_be_sent_to_a_process_that_knows_nothing():
    dataset = Stream("bfs", seed=1, batch=2).dataset()
    assert_equal(next(iter(pickle.loads(pickle.dumps(dataset)))), next(iter(dataset)))
