"""Sweeps: what is chosen, planned, estimated and carried out; without a process."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from helpers.training import small_test, tiny
from rnar.cli.sweep import parts
from rnar.clrs import ALGORITHMS
from rnar.clrs.splits import facts
from rnar.models import MODELS
from rnar.sweep.child import Outcome
from rnar.sweep.choosing import models_of, seeds_of, tasks_of
from rnar.sweep.conduct import Event, Failure, conduct
from rnar.sweep.estimate import Rates, fitted
from rnar.sweep.layout import There, Wanted, layout, makespan
from rnar.sweep.plan import Job, plan
from rnar.sweep.presets import PRESETS, Part
from rnar.sweep.work import Work, run_work
from rnar.training import Settings, loop, train

TINY = dict(
    size=8, batch=3, sizes=(4, 5), steps=6, validate_every=2, validation_samples=4, selection_samples=4, wider_samples=2
)


SEQUENTIAL = (
    "activity_selector binary_search bubble_sort find_maximum_subarray_kadane heapsort insertion_sort minimum "
    "quickselect quicksort task_scheduling"
).split()
OUT_OF_MEMORY = {"articulation_points", "bridges", "jarvis_march", "mst_kruskal"}
TOO_LARGE_FOR_JANOSSY = {"bubble_sort", "heapsort", "quickselect", "quicksort", "strongly_connected_components"}
SYSTEMS, JANOSSY = "triplet-gmpnn rt g-forgetnet rnar".split(), [f"rnar-janossy-{k}" for k in (1, 2, 3)]


# ---- tasks, models and seeds


def test_tasks_are_names_wildcards_and_groups_each_once():
    assert tasks_of("all") == list(ALGORITHMS)
    assert tasks_of("sequential") == SEQUENTIAL
    assert tasks_of("b?s, mst*,bfs") == ["bfs", "mst_kruskal", "mst_prim"]


def test_models_are_names_and_wildcards_each_once():
    assert models_of("rt,rnar-janossy-*,rt") == ["rt", "rnar-janossy-1", "rnar-janossy-2", "rnar-janossy-3"]
    assert models_of("*") == list(MODELS)


@pytest.mark.parametrize(("words", "seeds"), [("3", [3]), ("0-4", [0, 1, 2, 3, 4]), ("7, 1-2,2-3", [7, 1, 2, 3])])
def test_seeds_are_numbers_and_ranges_each_once(words, seeds):
    assert seeds_of(words) == seeds


# ---- presets


@pytest.mark.parametrize(
    ("name", "tasks", "models"),
    [
        ("table1", set(SEQUENTIAL), SYSTEMS),
        ("table2", set(facts()), SYSTEMS),
        ("ablation", set(facts()) - OUT_OF_MEMORY, ["rnar", "rnar-mpnn", "rnar-nope"]),
        ("janossy", set(facts()) - OUT_OF_MEMORY - TOO_LARGE_FOR_JANOSSY, ["rnar", *JANOSSY]),
    ],
)
def test_a_preset_has_the_tasks_and_models_of_its_table(name, tasks, models):
    main = PRESETS[name].main
    assert (set(tasks_of(main.tasks)), models_of(main.models)) == (tasks, models)


def test_where_the_paper_ran_out_of_memory_table2_has_its_substitute_besides():
    (besides,) = PRESETS["table2"].besides
    assert set(tasks_of(besides.tasks)) == OUT_OF_MEMORY and besides.models == "rnar-mpnn"


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_sets_only_what_a_flag_can_override_and_makes_sense(name):
    preset, none = PRESETS[name], {field.name for field in fields(Settings) if field.default is None}
    assert preset.settings.keys() <= none
    for part in (preset.main, *preset.besides):
        for model in models_of(part.models):
            Settings(tasks=tuple(tasks_of(part.tasks)), model=model, **preset.settings).resolved()
    assert seeds_of(preset.seeds)


def test_flags_replace_the_main_part_of_a_preset_and_choose_from_the_rest():
    table2 = PRESETS["table2"]
    assert parts(table2, "bfs", None) == [Part("bfs", table2.main.models)]
    assert parts(table2, "bridges,bfs", None)[1:] == [Part("bridges", "rnar-mpnn")]
    assert parts(table2, None, "rnar") == [Part(table2.main.tasks, "rnar")]
    assert [part.models for part in parts(table2, None, "rnar,rnar-mpnn")] == ["rnar,rnar-mpnn", "rnar-mpnn"]


# ---- the plan


def test_runs_are_where_train_puts_them_and_the_first_seed_comes_first(tmp_path):
    jobs = plan([Part("bfs,dfs", "rnar"), Part("dfs", "rnar,mpnn")], [0, 3], TINY, tmp_path)
    assert [job.name for job in jobs] == [
        "bfs rnar seed 0", "dfs rnar seed 0", "dfs mpnn seed 0", "bfs rnar seed 3", "dfs rnar seed 3", "dfs mpnn seed 3"
    ]  # fmt: skip
    for job in jobs:
        usual = Settings(tasks=(job.task,), model=job.settings.name, seed=job.settings.seed).path
        assert job.settings.path == tmp_path / usual.relative_to("runs")


def test_a_plan_knows_how_far_each_run_is(tmp_path, monkeypatch):
    monkeypatch.setattr(loop, "official", small_test)

    def planned(seed: int, **changes: int) -> Job:
        return plan([Part("bfs", "rnar")], [seed], {**TINY, **changes}, tmp_path)[0]

    assert planned(0).standing == "new"
    result = train(tiny(tmp_path / "bfs/rnar/seed-0"))
    assert (planned(0).standing, planned(0).result) == ("finished", result)
    assert (planned(0, steps=8).standing, planned(0, steps=8).step) == ("begun", 6)
    assert planned(0, steps=4).standing == "further"
    (tmp_path / "bfs/rnar/seed-0/result.json").unlink()
    assert planned(0).standing == "begun"
    with pytest.raises(ValueError, match="batch is 3 there and 2 here; choose another --folder"):
        planned(0, batch=2)


# ---- work and time


def test_the_work_of_a_run_is_what_its_data_say():
    settings = Settings(tasks=("insertion_sort",), **{**TINY, "batch": 16, "test_samples": 5}).resolved()
    work = run_work(settings)  # insertion sort of n numbers has n steps, of which the first is given
    assert work.training == (6 * 16 * (3 * 4**2 + 4 * 5**2) / 2, 6 * (3 + 4) / 2)
    assert work.validation == ((1 + 3) * (4 * 15 * 16**2 + 2 * 31 * 32**2), (1 + 3) * (15 + 31))
    selection, test = (4 * 4 * 15 * 16**2, 4 * 15), (2 * 5 * 63 * 64**2, 2 * 64)
    assert work.test == tuple(map(sum, zip(selection, test, strict=True)))


def test_times_of_pairs_and_calls_are_found_again():
    works = [Work(pairs, calls) for pairs, calls in ((100, 3), (900, 7), (5000, 10), (200, 1))]
    assert np.allclose(
        fitted([(2e-5 * pairs + 1e-3 * calls, Work(pairs, calls)) for pairs, calls in works]), (2e-5, 1e-3)
    )
    assert fitted([(1.0, Work(100, 5)), (3.0, Work(100, 5))]) == (0.02, 0.0)  # one size alone


def test_a_cost_is_start_training_validation_and_test():
    rates = Rates(start=4.0, pair=2.0, call=3.0, tried_pair=0.5, memory=100)
    work = run_work(Settings(tasks=("insertion_sort",), **TINY, test_samples=1).resolved())
    cost = rates.cost(work, test_memory=7)
    training = 2 * work.training.pairs + 3 * work.training.calls + 0.5 * work.validation.pairs
    assert cost == (4.0, training, 0.5 * work.test.pairs, 107)
    begun = Job(Settings(tasks=("bfs",), steps=10, validate_every=5).resolved(), "begun", 4)
    assert np.isclose(cost.left(begun), 4.0 + 0.6 * training + cost.test)


@pytest.mark.parametrize(
    ("runs", "wanted", "there", "gpu", "memory", "found"),
    [
        (100, Wanted(), There(8), False, None, (8, 1)),
        (3, Wanted(), There(8), False, None, (3, 2)),
        (1, Wanted(), There(8), False, None, (1, 8)),
        (100, Wanted(), There(8, memory=10), False, 3, (3, 2)),  # memory for three
        (100, Wanted(), There(8, memory=10), False, 30, (1, 8)),  # for none: it is tried
        (100, Wanted(threads=3), There(8), False, None, (2, 3)),
        (100, Wanted(parallel=2), There(8), False, None, (2, 4)),
        (100, Wanted(parallel=20, threads=2), There(8), False, None, (20, 2)),
        (100, Wanted(), There(8, gpus=2), True, None, (2, 4)),
        (100, Wanted(gpus=0.5), There(8, gpus=2), True, None, (4, 2)),
        (2, Wanted(), There(12, largest=4), False, None, (2, 4)),  # three machines of four cores
    ],
)  # fmt: skip
def test_cores_are_shared_out_and_never_more_than_there_are(runs, wanted, there, gpu, memory, found):
    assert layout(runs, wanted, there, gpu, memory)[:2] == found


def test_the_time_of_all_is_that_of_the_last_to_end():
    assert makespan([3, 1, 1, 1, 5], 2) == 8.0
    assert makespan([2, 2, 2], 10) == 2.0


# ---- one after the other


class Scripted:
    """An engine whose jobs end as they are told to."""

    def __init__(self, script: dict[str, list[Outcome]], begins: dict[str, list[int]] | None = None):
        self.script, self.begins = script, begins or {}
        self.now: list[Job] = []
        self.most, self.stopped, self.said = 0, False, []

    def start(self, job):
        self.now.append(job)
        self.most = max(self.most, len(self.now))

    def events(self):
        job = self.now.pop(0)
        steps = self.begins.get(job.name)
        yield Event(job, {"begun": steps.pop(0) if steps else 0})
        yield Event(job, outcome=self.script.get(job.name, [Outcome("done", value=0.5)]).pop(0))

    def stop(self):
        self.stopped = True

    def started(self, job): ...
    def told(self, job, message): ...
    def waited(self): ...

    def retried(self, job, words):
        self.said.append(("retried", job.name, words))

    def ended(self, job, outcome):
        self.said.append((outcome.kind, job.name, outcome.words))


@pytest.fixture
def jobs(tmp_path):
    return plan([Part("bfs", "rnar")], range(4), TINY, tmp_path)


DIED, DONE = Outcome("died", "lightning"), Outcome("done", value=1.0)


def test_a_failure_is_told_and_the_others_go_on(jobs):
    engine = Scripted({"bfs rnar seed 1": [Outcome("failed", "no such thing")]})
    assert conduct(jobs, engine, 2, 3, engine) == [Failure(jobs[1], "no such thing")]
    assert [kind for kind, _, _ in engine.said] == ["done", "failed", "done", "done"]
    assert engine.most == 2 and engine.stopped


def test_who_dies_is_begun_again_but_not_forever(jobs):
    engine = Scripted({"bfs rnar seed 0": [DIED, DIED, DONE], "bfs rnar seed 1": [DIED] * 9})
    assert conduct(jobs, engine, 1, 2, engine) == [Failure(jobs[1], "lightning")]
    assert [kind for kind, name, _ in engine.said if name == "bfs rnar seed 0"] == ["retried", "retried", "done"]
    assert [kind for kind, name, _ in engine.said if name == "bfs rnar seed 1"] == ["retried", "retried", "died"]


def test_deaths_count_anew_for_a_run_that_came_further(jobs):
    engine = Scripted({"bfs rnar seed 0": [*[DIED] * 5, DONE]}, {"bfs rnar seed 0": [0, 10, 20, 30, 40, 50]})
    assert conduct(jobs, engine, 1, 1, engine) == []


def test_whatever_happens_nothing_is_left_running(jobs):
    engine = Scripted({})
    engine.events = lambda: (_ for _ in ()).throw(KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        conduct(jobs, engine, 2, 3, engine)
    assert engine.stopped
