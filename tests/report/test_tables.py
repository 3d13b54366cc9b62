"""The tables of the paper with the runs beside, and the list of all runs."""

from __future__ import annotations

import json

import pytest

from helpers.reporting import cells, made_up, page_of, write
from rnar.report.published import TASKS, substituted, tasks_of


def test_a_cell_is_the_mean_over_seeds_and_their_standard_deviation(runs):
    row = cells(page_of(runs, 1), "Quickselect")
    # by hand: (80 + 86 + 83) / 3 = 83; deviations -3, 3, 0; sqrt(18 / 2) = 3
    assert (row["RNAR ours"], row["RNAR ours ±"]) == ("83.00", "3.00")
    assert row["RNAR ours less paper"] == "−4.08"  # 83 - 87.08
    assert row["RNAR seeds × RNAR steps"] == "3 × 10000"
    assert (row["RNAR paper"], row["RNAR paper ±"], row["RT paper ±"]) == ("87.08", "2.21", "17.3")


def test_what_was_not_run_or_not_finished_is_a_dash_and_one_seed_has_no_deviation(runs):
    page = page_of(runs, 1)
    bubble, heap = cells(page, "Bubble Sort"), cells(page, "Heapsort")
    assert [bubble[k] for k in page.names if "RNAR ours" in k or "Triplet-GMPNN ours" in k] == ["–"] * 4
    assert heap["RNAR ours"] == "50.00" and "RNAR ours ±" not in heap and heap["RNAR seeds × RNAR steps"] == "1 × 10000"
    assert any("1 run is not finished" in words for words in page.about)


def test_the_best_is_marked_and_so_is_what_beats_its_baseline(runs):
    page = page_of(runs, 1)
    (heap,) = [row for row in page.rows if row[0].text == "Heapsort"]
    marked = {name: (cell.best, cell.beats) for name, cell in zip(page.names, heap, strict=True)}
    assert marked["RNAR paper"] == (True, True)  # 93.07, the paper's baseline has 49.13
    assert marked["RNAR ours"] == (False, False)  # 50, above the paper's baseline, below ours of 60
    assert marked["Triplet-GMPNN ours"] == (False, False)
    (select,) = [row for row in page.rows if row[0].text == "Quickselect"]
    assert dict(zip(page.names, select, strict=True))["RNAR ours"].beats  # there is no baseline of ours


def test_averages_are_a_dash_until_all_tasks_are_run_and_then_both_are_right(runs, tmp_path):
    page = page_of(runs, 1)
    row = cells(page, "Average, 10 tasks")
    assert (row["RNAR ours"], row["RNAR seeds × RNAR steps"]) == ("–", "2 of 10")
    some = cells(page, "Average, 2 run here")
    assert (some["RNAR ours"], some["RNAR paper"]) == ("66.50", f"{(87.08 + 93.07) / 2:.2f}")
    assert some["Triplet-GMPNN ours"] == "–"
    for place, task in enumerate(TASKS):
        model = "rnar-mpnn" if task in substituted() else "rnar"
        made_up(tmp_path / "all", task, model, score=1.0 if task == "find_maximum_subarray_kadane" else place / 100)
    page = page_of(tmp_path / "all", 2)
    of_tasks, of_categories = cells(page, "Average, 30 tasks"), cells(page, "Average, 8 categories")
    total = sum(range(30)) - list(TASKS).index("find_maximum_subarray_kadane") + 100
    assert of_tasks["RNAR ours"] == f"{total / 30:.2f}" and of_tasks["RNAR paper"] == "75.78"
    assert float(of_categories["RNAR ours"]) > float(of_tasks["RNAR ours"])  # one task is a category
    assert of_categories["RT paper"] == "66.60"
    assert not [row for row in page.rows if "run here" in row[0].text]


def test_where_the_paper_had_no_triplets_it_is_compared_with_rnar_mpnn_and_triplets_have_a_line(tmp_path):
    for task in TASKS:
        made_up(tmp_path, task, score=0.5)
    made_up(tmp_path, "bridges", "rnar-mpnn", score=0.7)
    page = page_of(tmp_path, 2)
    assert (cells(page, "Bridges")["RNAR ours"], cells(page, "Bridges")["RNAR ours less paper"]) == ("70.00", "−2.22")
    assert cells(page, "Jarvis' March")["RNAR ours"] == "–"  # with triplets is something else
    lines = [cells(page, "· RNAR with triplets", k) for k in range(4)]
    assert [(line["RNAR ours"], line["RNAR ours less paper"]) for line in lines] == [("50.00", "–")] * 4
    assert cells(page, "Average, 30 tasks")["RNAR ours"] == "–"
    assert cells(page, "· with triplets in all")["RNAR ours"] == "50.00"
    mixed = "RNAR-MPNN on Articulation Points, Bridges, Jarvis' March, MST-Kruskal"
    assert mixed in page.notes
    rows = {(row[0].text, row[1].text): row[4].text for row in page_of(tmp_path).rows}
    assert (rows["Bridges", "rnar-mpnn"], rows["Bridges", "rnar"]) == ("72.22", "–")


def test_runs_of_other_settings_have_a_line_of_their_own_that_says_so(runs):
    made_up(runs / "short", "quickselect", score=0.3, steps=500, size=8, batch=4)
    made_up(runs / "small", "quickselect", score=0.2, size=8)
    page = page_of(runs, 1)
    assert cells(page, "Quickselect")["RNAR ours"] == "83.00"  # the standard protocol stays as it was
    first, second = (cells(page, "· other settings", k) for k in (0, 1))
    assert (first["RNAR ours"], first["RNAR seeds × RNAR steps"]) == ("20.00", "1 × 10000")
    assert (second["RNAR ours"], second["RNAR seeds × RNAR steps"]) == ("30.00", "1 × 500")
    assert "batch 4, size 8" in page.notes


def test_what_patience_ended_says_how_far_it_came(tmp_path):
    made_up(tmp_path, "heapsort", done=5200, patience=3000)
    page = page_of(tmp_path, 1)
    assert cells(page, "Heapsort")["RNAR seeds × RNAR steps"] == "1 × 5200"
    assert "patience 3000" in page.notes
    made_up(tmp_path, "heapsort", seed=1, done=3600, patience=3000)  # planned for as many steps: a seed like the other
    made_up(tmp_path, "heapsort", seed=2, patience=3000)
    assert cells(page_of(tmp_path, 1), "Heapsort")["RNAR seeds × RNAR steps"] == "3 × 3600–10000"


def test_models_with_the_same_other_settings_share_a_line(tmp_path):
    for model in ("rnar", "triplet-gmpnn"):
        made_up(tmp_path, "quickselect", model, score=0.5)
        made_up(tmp_path / "small", "quickselect", model, score=0.3, batch=4)
    lines = [row for row in page_of(tmp_path, 1).rows if row[0].text == "· other settings"]
    assert [[cell.text for cell in row].count("30.00") for row in lines] == [2]


def test_a_test_of_all_samples_that_there_are_is_nothing_unusual(tmp_path):
    made_up(tmp_path, "heapsort", test_samples=32)  # of 32
    made_up(tmp_path, "quickselect", test_samples=32)  # of 2048
    page = page_of(tmp_path, 1)
    assert [note for note in page.notes if "samples" in note] == ["test samples 32"]
    (marked,) = {row[0].text for row in page.rows if any(cell.marks and "±" not in cell.text for cell in row[5:])}
    assert marked == "Quickselect"


def test_a_model_of_ones_own_has_a_column_and_a_table_without_the_baseline_underlines_nothing(runs):
    made_up(runs, "heapsort", "rnar-gru", score=0.99)
    page = page_of(runs, 3)
    assert cells(page, "Heapsort")["RNAR-GRU ours"] == "99.00" and cells(page, "Heapsort")["RNAR-MPNN paper"] == "67.61"
    assert not any(cell.beats for row in page.rows for cell in row)
    assert any("triplet-gmpnn are in other tables" in words for words in page.about)


def test_the_listing_has_all_that_was_run_finished_or_not(runs):
    page = page_of(runs)
    rows = [[cell.text for cell in row] for row in page.rows]
    assert ["Heapsort", "triplet-gmpnn", "1 × 10000", "60.00", "49.13", "+10.87", "90.00", "500", "2.5"] in rows
    assert ["Heapsort", "rnar", "400 of 10000", "–", "93.07", "–", "90.00", "20", "1.0"] in rows
    assert ["Average, 30 tasks", "rnar", "2 of 30", "–", "75.78", "–", "", "", ""] in rows
    assert "seed 1 is not finished" in page.notes


def test_the_listing_has_averages_of_the_weights_where_runs_kept_them(runs):
    assert "average\nn = 64" not in page_of(runs).head
    made_up(runs / "kept", "bfs", score=0.4, seed=0, others={"last": 0.5, "average": 0.8}, average=0.99)
    made_up(runs / "kept", "bfs", score=0.6, seed=1, others={"last": 0.5, "average": 0.9}, average=0.99)
    page = page_of(runs)
    line = dict(zip(page.head, next(row for row in page.rows if row[0].text == "BFS"), strict=True))
    kept = line["average\nn = 64"]
    assert (line["test\nn = 64"].text, kept.text, kept.spread) == ("50.00", "85.00", "7.07")
    assert any("Average: of the weights" in words for words in page.about)
    made_up(runs / "kept", "bfs", score=0.6, seed=2, average=0.99)
    assert "average: of 2 of 3 seeds" in page_of(runs).notes


def test_a_generalist_has_a_row_for_each_task_and_is_told_apart(tmp_path):
    path = made_up(tmp_path, "dfs", score=0.4)
    for name, change in {
        "config.json": lambda value: value["settings"].update(tasks=["dfs", "bfs"]),
        "result.json": lambda value: value["tests"].update(bfs=value["tests"]["dfs"] | {"score": 0.6}),
    }.items():
        value = json.loads((path / name).read_text())
        change(value)
        write(path / name, value)
    made_up(tmp_path / "alone", "dfs", score=0.9, seed=1)
    page = page_of(tmp_path, 2)
    assert (cells(page, "DFS")["RNAR ours"], cells(page, "· other settings")["RNAR ours"]) == ("90.00", "40.00")
    assert cells(page, "BFS")["RNAR ours"] == "60.00"
    assert "learned together with 1 other task" in page.notes


def test_a_table_may_have_the_averages_of_the_weights_where_runs_kept_them(tmp_path):
    for seed, average in enumerate([0.9, 0.7]):
        made_up(tmp_path, "quickselect", seed=seed, score=0.3, others={"last": 0.2, "average": average})
    made_up(tmp_path, "heapsort", score=0.5)  # kept none
    made_up(tmp_path, "minimum", score=None, done=400)
    page = page_of(tmp_path, 1, "average")
    row = cells(page, "Quickselect")
    assert (row["RNAR ours"], row["RNAR ours ±"], row["RNAR ours less paper"]) == ("80.00", "14.14", "−7.08")
    assert cells(page, "Heapsort")["RNAR ours"] == "–"
    assert page.title.endswith("; ours is the average of the weights")
    assert any("1 run is not finished" in words for words in page.about)
    assert cells(page_of(tmp_path, 1, "last"), "Quickselect")["RNAR ours"] == "20.00"
    assert cells(page_of(tmp_path, 1), "Quickselect")["RNAR ours"] == "30.00"


def test_a_table_of_networks_that_no_run_has_is_refused(runs):
    with pytest.raises(ValueError, match="no finished run here has a test of the average of the weights; train with"):
        page_of(runs, 1, "average")


def test_an_average_over_runs_of_several_lengths_says_so(tmp_path):
    for place, task in enumerate(tasks_of(1)):
        made_up(tmp_path, task, score=0.5, steps=2000 if place else 10000)
    page = page_of(tmp_path, 1)
    average = next(row for row in page.rows if row[0].text == "Average, 10 tasks")
    (letter,) = [letter for note, letter in page.notes.items() if note == "average over runs of 2000–10000 steps"]
    assert dict(zip(page.names, average, strict=True))["RNAR ours"].marks == letter
