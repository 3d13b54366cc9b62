"""The sweeps of the paper's tables."""

from __future__ import annotations

from dataclasses import fields

import pytest

from helpers.sweeping import SEQUENTIAL
from rnar.clrs import ALGORITHMS
from rnar.clrs.splits import facts
from rnar.models import MODELS
from rnar.sweep.presets import PRESETS, Part, models_of, seeds_of, tasks_of
from rnar.training import Settings

OUT_OF_MEMORY = {"articulation_points", "bridges", "jarvis_march", "mst_kruskal"}


TOO_LARGE_FOR_JANOSSY = {"bubble_sort", "heapsort", "quickselect", "quicksort", "strongly_connected_components"}


SYSTEMS, JANOSSY = "triplet-gmpnn rt g-forgetnet rnar".split(), [f"rnar-janossy-{k}" for k in (1, 2, 3)]


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
    preset, none = PRESETS[name], {field.name for field in fields(Settings) if field.default in (None, "auto")}
    assert preset.settings.keys() <= none
    for part in (preset.main, *preset.besides):
        for model in models_of(part.models):
            Settings(tasks=tuple(tasks_of(part.tasks)), model=model, **preset.settings).resolved()
    assert seeds_of(preset.seeds)


def test_flags_replace_the_main_part_of_a_preset_and_choose_from_the_rest():
    table2 = PRESETS["table2"]
    assert table2.parts("bfs", None) == [Part("bfs", table2.main.models)]
    assert table2.parts("bridges,bfs", None)[1:] == [Part("bridges", "rnar-mpnn")]
    assert table2.parts(None, "rnar") == [Part(table2.main.tasks, "rnar")]
    assert [part.models for part in table2.parts(None, "rnar,rnar-mpnn")] == ["rnar,rnar-mpnn", "rnar-mpnn"]


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
