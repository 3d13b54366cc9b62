"""Tests at the end of a run: who is stopped there goes on from where it was."""

from __future__ import annotations

import json

import pytest

import rnar.clrs
from helpers.training import contents, small_test, tiny
from rnar.cli.train import left_out
from rnar.evaluation.evaluate import evaluate
from rnar.training import Run, learner, portions, testing, train

SAMPLES = 4  # of a test


@pytest.fixture
def stopped_after(monkeypatch):
    """Let the process be stopped before the test of another sample, after so many; how many there were since."""
    monkeypatch.setattr(testing, "official", small_test)
    monkeypatch.setattr(testing, "AT_ONCE", 1)
    tried, evaluate = [], testing.evaluate

    def stop_after(most: int) -> list[int]:
        tried.clear()

        def trying(workers, batch, **others):
            if len(tried) == most:
                raise KeyboardInterrupt
            tried.append(batch.size)
            return evaluate(workers, batch, **others)

        monkeypatch.setattr(testing, "evaluate", trying)
        return tried

    return stop_after


def settings(folder, **changes):
    return tiny(folder, tasks=("insertion_sort",), average=0.5, validate_every=6, **changes)


@pytest.fixture
def first_is_best(monkeypatch):
    """Let validation prefer the network that has learned nothing."""
    scores = iter([0.9] + [0.1] * 1000)
    monkeypatch.setattr(testing.Learner, "_scores", lambda self, sets: dict.fromkeys(sets, next(scores)))


def test_no_sample_is_tried_twice(tmp_path, stopped_after, first_is_best):
    run = settings(tmp_path / "run", selection_samples=0)
    for _ in range(5):
        tried = stopped_after(2)
        with pytest.raises(KeyboardInterrupt):
            train(run)
        assert tried == [1, 1]
    noted = json.loads((run.path / "tests.json").read_text())
    assert [len(noted["found"][name]["insertion_sort"]["pred"]) for name in ("best", "last", "average")] == [4, 4, 2]
    tried = stopped_after(100)
    result = train(run)
    assert tried == [1, 1]
    assert result.best_step == 0 and result.average and result.last not in (None, result.tests)
    assert all(test["insertion_sort"].samples == SAMPLES for test in (result.tests, result.last, result.average))


def test_the_result_is_that_of_a_run_that_was_never_stopped(tmp_path, stopped_after):
    run, never = settings(tmp_path / "run"), settings(tmp_path / "never")
    stopped_after(6)
    with pytest.raises(KeyboardInterrupt):
        train(run)
    stopped_after(100)
    train(run)
    train(never)
    assert contents(run.path) == contents(never.path)


def test_who_is_told_of_a_test_hears_all_of_it(tmp_path, stopped_after):
    told: dict[str, float] = {}

    class Listener(testing.Callback):
        def testing(self, task, which):
            told[which] = 0.0

            def hear(share):
                told[which] += share

            return hear

    run = settings(tmp_path / "run")
    stopped_after(3)
    with pytest.raises(KeyboardInterrupt):
        train(run, Listener())
    assert told == {"the selected network": pytest.approx(3 / 4)}
    stopped_after(100)
    train(run, Listener())
    assert list(told.values()) == pytest.approx([1.0] * len(told))


def test_tests_of_fewer_steps_do_not_count(tmp_path, stopped_after):
    short, long = settings(tmp_path / "run"), settings(tmp_path / "run", steps=12)
    stopped_after(2)
    with pytest.raises(KeyboardInterrupt):
        train(short)
    tried = stopped_after(100)
    train(long)
    assert len(tried) in (2 * SAMPLES, 3 * SAMPLES)  # the selected one may be the last one


def test_tests_of_other_code_of_a_user_do_not_count(tmp_path, stopped_after, first_is_best):
    run = settings(tmp_path / "run", selection_samples=0)
    stopped_after(2)
    with pytest.raises(KeyboardInterrupt):
        train(run)
    path = run.path / "tests.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "code": {"mine:Model": "another digest"}}))
    tried = stopped_after(100)
    train(run)
    assert len(tried) == 3 * SAMPLES


@pytest.mark.parametrize(
    "damage",
    [
        lambda noted: {**noted, "step": -1},
        lambda noted: {"selected": 0},
        lambda noted: {**noted, "found": {"best": {"insertion_sort": {"pred": [[1.0]]}}}},
        lambda noted: {**noted, "found": {"best": {"insertion_sort": {"other": [[1.0, 1.0]]}}}},
        lambda noted: {**noted, "found": {"best": {"insertion_sort": {"pred": [[1.0, 1.0]] * 9}}}},
    ],
)
def test_what_makes_no_sense_is_refused_and_begins_anew_when_it_is_removed(tmp_path, stopped_after, damage):
    run = settings(tmp_path / "run")
    stopped_after(2)
    with pytest.raises(KeyboardInterrupt):
        train(run)
    path = run.path / "tests.json"
    path.write_text(json.dumps(damage(json.loads(path.read_text()))))
    stopped_after(100)
    with pytest.raises(ValueError, match="tests.json .*; remove it, and "):
        train(run)
    path.unlink()
    assert train(run).tests["insertion_sort"].samples == SAMPLES


def test_a_run_is_tested_on_more_samples_later_and_its_first_result_stays(tmp_path, stopped_after, monkeypatch):
    few, all_of_them = settings(tmp_path / "run", test_samples=1), settings(tmp_path / "run", test_samples=None)
    stopped_after(100)
    first = train(few)
    networks = 3 if first.best_step < first.steps else 2  # the selected one may be the last one
    before = (few.path / "result.json").read_bytes()
    tried = stopped_after(2)
    with pytest.raises(KeyboardInterrupt):  # on the way the run is as it was
        train(all_of_them)
    assert train(few) == first and tried == [1, 1]
    tried = stopped_after(100)
    with monkeypatch.context() as patch:
        patch.setattr(testing.Learner, "select", lambda *_: pytest.fail("networks were compared a second time"))
        more = train(all_of_them)
    assert len(tried) == networks * (SAMPLES - 1) - 2
    assert (first.tests["insertion_sort"].samples, more.tests["insertion_sort"].samples) == (1, SAMPLES)
    assert (more.best_step, more.validation, more.candidates) == (first.best_step, first.validation, first.candidates)
    assert (few.path / "result-6-of-1-samples.json").read_bytes() == before
    never = train(settings(tmp_path / "never"))
    assert (more.tests, more.last, more.average) == (never.tests, never.last, never.average)
    assert Run(few.path).settings.test_samples is None


def test_a_test_on_more_samples_than_are_asked_for_is_told_as_it_is(tmp_path, stopped_after):
    stopped_after(100)
    result = train(settings(tmp_path / "run"))
    tried = stopped_after(100)
    assert train(settings(tmp_path / "run", test_samples=2)) == result and not tried


@pytest.fixture
def no_time(monkeypatch):
    """Let each evaluation take a second of a budget of six, by a clock that only evaluations move."""
    clock = [0.0]

    def slow(workers, batch, **others):
        clock[0] += 1.0
        return evaluate(workers, batch, **others)

    for module in (testing, portions):
        monkeypatch.setattr(module.time, "perf_counter", lambda: clock[0])
    monkeypatch.setattr(testing, "evaluate", slow)
    monkeypatch.setattr(learner, "evaluate", slow)
    monkeypatch.setattr(testing, "LEAST", 6.0)
    return clock


def drawn(task, split):
    return rnar.clrs.sample(task, n=4, batch=50, seed=3)


def test_comparing_and_testing_take_no_longer_than_training_and_all_networks_have_the_same_samples(
    tmp_path, monkeypatch, no_time
):
    monkeypatch.setattr(testing, "official", drawn)
    auto = settings(tmp_path / "run", selection_samples=None)
    result = train(auto)
    tests = [result.tests, result.last, result.average]
    assert len({test["insertion_sort"].samples for test in tests}) == 1
    assert 4 <= result.tests["insertion_sort"].samples < 50 and 4 <= result.selection_samples < 1024
    assert train(auto) == result  # and nothing is done once more
    (line,) = left_out(auto, result)
    assert f"compared on {result.selection_samples} of 1024 samples" in str(line)
    more = train(settings(tmp_path / "run", selection_samples=None, test_samples="all"))
    assert {test["insertion_sort"].samples for test in (more.tests, more.last, more.average)} == {50}
    assert (more.best_step, more.candidates) == (result.best_step, result.candidates)


def test_numbers_that_were_asked_for_are_kept_to(tmp_path, monkeypatch, no_time):
    monkeypatch.setattr(testing, "official", drawn)
    monkeypatch.setattr(testing, "LEAST", 0.0)
    run = settings(tmp_path / "run", selection_samples=32, test_samples=33)
    result = train(run)
    assert (result.selection_samples, result.tests["insertion_sort"].samples) == (32, 33)
    assert left_out(run, result) == []


def test_a_portion_is_as_large_as_the_time_that_is_left_allows(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(portions.time, "perf_counter", lambda: now[0])

    def sizes(done, seconds, each=1.0):
        now[0], made = 0.0, []
        for portion in portions.portions(done, 100, 64, seconds):
            made.append(portion.stop - portion.start)
            now[0] += each * made[-1]
        return made

    assert sizes(0, float("inf")) == [64, 36] and sizes(0, 1e9) == [4, 8, 16, 32, 40]
    assert sizes(0, 20.0) == [4, 8, 8] and sizes(0, 0.0) == [4] and sizes(8, 0.0) == []


def test_a_run_that_is_stopped_in_its_test_may_be_tested_on_fewer_samples(tmp_path, stopped_after):
    stopped_after(3)
    with pytest.raises(KeyboardInterrupt):
        train(settings(tmp_path / "run"))
    stopped_after(100)
    fewer, never = (train(settings(tmp_path / name, test_samples=2)) for name in ("run", "never"))
    assert (fewer.tests, fewer.last, fewer.average) == (never.tests, never.last, never.average)
