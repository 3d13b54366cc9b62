"""Rows that are shared."""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path

import pytest

from helpers.reporting import made_up, silent, write
from rnar.report.shared import gather


def exported(folder: Path) -> list[dict[str, str]]:
    with open(folder / "runs.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_export_writes_a_row_for_each_run_and_none_is_dropped(run, runs, tmp_path):
    code, out, err = run(runs, "--export", tmp_path / "results")
    assert (code, err) == (0, "") and "rows 6 added, 0 replaced, 0 kept" in out
    rows = exported(tmp_path / "results")
    (stopped,) = [row for row in rows if row["finished"] == "no"]
    assert (stopped["task"], stopped["seed"], stopped["steps"], stopped["planned"]) == ("heapsort", "1", "400", "10000")
    assert (stopped["test_n64"], stopped["last_validation"], stopped["minutes"]) == ("", "0.9", "20.0")
    (done,) = [row for row in rows if (row["task"], row["seed"]) == ("quickselect", "1")]
    expected = dict(model="rnar", steps="10000", validation="0.9", validation_step="10000", test_n64="0.86")
    expected |= dict(test_samples="32", test_low="0.85", test_high="0.87", minutes="500.0", memory_mb="2500.0")
    expected |= dict(parameters="1234", device="cpu", threads="2", commit="c0ffee", finished="yes", note="")
    assert {name: done[name] for name in expected} == expected
    assert "batch=32" in done["settings"] and "size=128" in done["settings"]


def test_a_table_of_exported_rows_is_the_table_of_the_folders(run, runs, tmp_path):
    run(runs, "--export", tmp_path / "results")
    for flags in ((), ("--table", 1), ("--table", 2, "--format", "csv")):
        folders = run(runs, *flags)
        assert folders[0] == 0 and run(tmp_path / "results" / "runs.csv", *flags) == folders
        assert run(tmp_path / "results", *flags) == folders
        assert run(tmp_path / "results" / "runs.csv", runs, *flags) == folders  # each run counts once


def test_rows_of_other_runs_and_what_people_wrote_stay(run, runs, tmp_path):
    results = tmp_path / "results"
    run(runs, "--export", results)
    rows = exported(results)
    for row in rows:
        row |= {"note": "on my laptop", "mood": "good"}
    other = rows[0] | {"seed": "77", "note": "somebody else's"}
    with open(results / "runs.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(other))
        writer.writeheader()
        writer.writerows([*rows, other])
    shutil.rmtree(runs / "heapsort" / "triplet-gmpnn")
    shutil.rmtree(runs / "heapsort" / "rnar" / "seed-1")
    made_up(runs, "heapsort", seed=1, score=0.7)  # it went on to its end
    assert "rows 0 added, 5 replaced, 2 kept" in run(runs, "--export", results)[1]
    after = exported(results)
    assert len(after) == 7 and all(row["mood"] == "good" for row in after)
    (grown,) = [row for row in after if (row["task"], row["model"], row["seed"]) == ("heapsort", "rnar", "1")]
    assert (grown["finished"], grown["test_n64"], grown["note"]) == ("yes", "0.7", "on my laptop")
    assert [row["note"] for row in after if row["seed"] == "77"] == ["somebody else's"]
    assert "triplet-gmpnn" in {row["model"] for row in after}
    assert "on my laptop" in run(results)[1]


def test_a_finished_row_is_not_replaced_by_an_unfinished_one(run, runs, tmp_path):
    run(runs, "--export", tmp_path / "results")
    (runs / "quickselect" / "rnar" / "seed-2" / "result.json").unlink()
    assert "rows 0 added, 5 replaced, 1 kept" in run(runs, "--export", tmp_path / "results")[1]
    (row,) = [row for row in exported(tmp_path / "results") if (row["task"], row["seed"]) == ("quickselect", "2")]
    assert (row["finished"], row["test_n64"]) == ("yes", "0.83")


def test_other_settings_are_another_row(run, runs, tmp_path):
    run(runs, "--export", tmp_path / "results")
    made_up(tmp_path / "more", "quickselect", seed=0, score=0.1, batch=4)
    assert "rows 1 added, 0 replaced, 6 kept" in run(tmp_path / "more", "--export", tmp_path / "results")[1]


def test_a_test_on_more_samples_takes_the_place_of_one_on_fewer_and_not_the_other_way_round(run, tmp_path):
    results = tmp_path / "results"
    for name, samples in (("few", 4), ("more", 16)):
        made_up(tmp_path / name, "dfs", score=0.4 if samples == 4 else 0.3, test_samples=samples)
    run(tmp_path / "few", "--export", results)
    assert "rows 0 added, 1 replaced, 0 kept" in run(tmp_path / "more", "--export", results)[1]
    assert "rows 0 added, 0 replaced, 1 kept" in run(tmp_path / "few", "--export", results)[1]
    (row,) = exported(results)
    assert (row["test_n64"], row["test_samples"]) == ("0.3", "16") and row["settings"].endswith("test_samples=16")


def test_a_run_that_was_taken_further_keeps_its_first_result_until_it_has_a_new_one(run, tmp_path):
    path = made_up(tmp_path, "dfs", score=0.4, steps=500)
    shutil.move(path / "result.json", path / "result-500.json")
    config = json.loads((path / "config.json").read_text())
    config["settings"]["steps"] = 1000
    write(path / "config.json", config)
    rows = gather([tmp_path], silent)
    assert [(row.finished, row.steps, row.planned, row.test_n64) for row in rows] == [
        (True, 500, 500, 0.4),
        (False, 500, 1000, None),
    ]


def test_a_row_tells_by_what_a_run_was_trained_and_not_by_what_it_was_tested_later(tmp_path):
    path = made_up(tmp_path, "dfs", score=0.4, steps=500)
    config = json.loads((path / "config.json").read_text())
    (first,) = config["environments"]
    also = {**first, "from_step": 300, "threads": 4, "commit": "second"}
    tested = {**first, "from_step": 500, "threads": 1, "commit": "third"}
    write(path / "config.json", {**config, "environments": [{**first, "from_step": 0}, also, tested]})
    (row,) = gather([tmp_path], silent)
    assert (row.threads, row.commit) == (4, "c0ffee then second")


def changed(results: Path, change) -> None:
    """Change the rows of a CSV."""
    rows = change(exported(results))
    with open(results / "runs.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.mark.parametrize(
    ("column", "value", "said"),
    [
        ("test_n64", "7", "test_n64 is '7': expected float <= 1.0"),
        ("test_n64", "nan", "test_n64 is 'nan': expected float"),
        ("test_high", "inf", "test_high is 'inf': expected float <= 1.0"),
        ("validation", "-0.1", "validation is '-0.1': expected float >= 0.0"),
        ("task", "", "task is '': expected str of length >= 1"),
        ("seed", "one", "seed is 'one': expected int"),
        ("steps", "-5", "steps is '-5': expected int >= 0"),
        ("finished", "maybe", "finished is 'maybe', neither yes nor no"),
        ("settings", "batch", "settings have 'batch', which is not name=value"),
    ],
)
def test_a_row_that_makes_no_sense_is_told_with_its_place_and_left_out(run, runs, tmp_path, column, value, said):
    run(runs, "--export", tmp_path / "results")
    changed(tmp_path / "results", lambda rows: [rows[0], rows[1] | {column: value}, *rows[2:]])
    code, out, err = run(tmp_path / "results")
    assert code == 0 and err.startswith(f"rnar: row 2 of {tmp_path / 'results' / 'runs.csv'} is left out: {said}")


def test_two_rows_of_one_run_that_disagree_are_both_left_out_with_their_places(run, runs, tmp_path):
    run(runs, "--export", tmp_path / "results")
    changed(tmp_path / "results", lambda rows: [*rows, rows[0] | {"test_n64": "0.99"}])
    path = tmp_path / "results" / "runs.csv"
    code, out, err = run(tmp_path / "results")
    assert code == 0 and err.startswith(f"rnar: row 1 of {path} and row 7 of {path} are the same run (heapsort, ")
    assert err.endswith("and disagree; both are left out") and "99.00" not in out
    code, out, err = run(path, runs)
    assert "disagree; both are left out" in err


def test_names_and_notes_of_others_are_harmless_wherever_they_are_shown(run, runs, tmp_path):
    evil = "=HYPERLINK(1)\x1b[31m\n| [x](y) <script> \\end{tabular} %\u202e"
    run(runs, "--export", tmp_path / "results")
    changed(tmp_path / "results", lambda rows: [rows[0] | {"note": evil, "model": evil}, *rows[1:]])
    for format in ("terminal", "markdown", "latex", "csv", "html"):
        code, out, err = run(tmp_path / "results", "--format", format)
        assert (code, err) == (0, "") and not {"\x1b", "\u202e"} & set(out)
        assert "\\x1b" in out.replace("\\textbackslash{}", "\\").replace("\\\\", "\\")
        if format == "csv":
            assert "'=HYPERLINK(1)" in out and "\n=" not in out and ",=" not in out
        if format == "html":
            assert "<script>" not in out
        if format == "latex":
            assert "\\end{tabular} %" not in out
        if format == "markdown":
            assert "<script>" not in out and "[x](y)" not in out and "\n|  [x" not in out
    run(tmp_path / "results", "--export", tmp_path / "again")
    assert exported(tmp_path / "again")[0]["model"].startswith("'=HYPERLINK") or any(
        row["model"].startswith("'=HYPERLINK") for row in exported(tmp_path / "again")
    )
