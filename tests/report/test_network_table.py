"""Which network of a run is tested, in a table; and which runs come together in a line of any table."""

from __future__ import annotations

import csv

from helpers.reporting import cells, made_up, page_of, silent
from rnar.report.shared import gather
from rnar.report.tables import network_table


def table(folder):
    return network_table(gather([folder], silent))


def test_each_network_has_its_mean_over_seeds(tmp_path):
    made_up(tmp_path, "bfs", seed=0, score=0.5, others={"last": 0.7, "average": 0.9}, average=0.99)
    made_up(tmp_path, "bfs", seed=1, score=0.6, others={"last": 0.7, "average": 0.8}, average=0.99)
    line = cells(table(tmp_path), "BFS")
    assert (line["selected"], line["last"], line["average"]) == ("55.00", "70.00", "85.00")
    assert (line["selected ±"], line["last ±"], line["average ±"]) == ("7.07", "0.00", "7.07")


def test_what_an_average_brought_is_told_run_by_run(tmp_path):
    made_up(tmp_path, "bfs", seed=0, score=0.5, others={"average": 0.9}, average=0.99)
    assert not any("average of the weights it is" in each for each in table(tmp_path).about)  # of one run there is none
    made_up(tmp_path, "bfs", seed=1, score=0.6, others={"average": 0.5}, average=0.99)
    made_up(tmp_path, "minimum", seed=0, score=0.6)
    assert table(tmp_path).about[-1] == (
        "Of 2 runs that have an average of the weights it is better than the selected network in 1 and worse in 1; the "
        "mean difference is +15.0 points."
    )


def test_what_some_seeds_lack_is_said(tmp_path):
    made_up(tmp_path, "bfs", seed=0, score=0.5, others={"last": 0.6})
    made_up(tmp_path, "bfs", seed=1, score=0.6, others={"last": 0.8, "average": 0.9}, average=0.99)
    page = table(tmp_path)
    line = cells(page, "BFS")
    assert (line["selected"], line["last"], line["average"]) == ("55.00", "70.00", "90.00")
    assert list(page.notes) == ["average: of 1 of 2 seeds"]


def test_a_model_that_has_all_tasks_has_a_mean_and_the_best_is_marked(tmp_path):
    made_up(tmp_path, "bfs", "mpnn", score=0.5, others={"last": 0.6})
    made_up(tmp_path, "minimum", "mpnn", score=0.7, others={"last": 0.2})
    made_up(tmp_path, "bfs", "pgn", score=0.4, others={"last": 0.7})
    made_up(tmp_path, "dfs", "pgn", score=None, done=5)  # no score, and so no line
    page = table(tmp_path)
    assert [row[0].text for row in page.rows] == ["BFS", "BFS", "Minimum", "Average, 2 tasks"]
    mean = cells(page, "Average, 2 tasks")
    assert (mean["model"], mean["selected"], mean["last"], mean["average"]) == ("mpnn", "60.00", "40.00", "–")
    best = {
        (row[1].text, name) for row in page.rows[:2] for name, cell in zip(page.head, row, strict=True) if cell.best
    }
    assert best == {("mpnn", "selected"), ("pgn", "last")}


def test_an_average_beside_a_run_does_not_part_it_from_other_seeds(tmp_path):
    made_up(tmp_path, "bfs", seed=0, score=0.5)
    made_up(tmp_path, "bfs", seed=1, score=0.7, average=0.99)
    made_up(tmp_path, "bfs", seed=2, score=0.9, precision="bfloat16")
    page = page_of(tmp_path)
    both, other = cells(page, "BFS"), cells(page, "BFS", 1)
    assert (both["seeds ×\nsteps"], both["test\nn = 64"]) == ("2 × 10000", "60.00")
    assert (other["seeds ×\nsteps"], other["test\nn = 64"]) == ("1 × 10000", "90.00")
    assert list(page.notes) == ["precision bfloat16"]


def test_of_each_seed_the_longest_finished_run_counts(tmp_path):
    made_up(tmp_path / "one", "bfs", seed=0, score=0.1, steps=500)
    made_up(tmp_path / "two", "bfs", seed=0, score=0.5, average=0.99)
    made_up(tmp_path / "two", "bfs", seed=1, score=0.7, steps=2000)
    made_up(tmp_path / "three", "bfs", seed=1, score=None, done=1000)
    page = page_of(tmp_path)
    (line,) = [row for row in page.rows if row[0].text == "BFS"]
    assert [cell.text for cell in line[2:4]] == ["2 × 2000–10000", "60.00"]
    assert page.about[-1] == "2 shorter runs of the same task, model, settings and seed are not shown."


def test_a_run_under_way_that_has_come_further_has_a_line(tmp_path):
    made_up(tmp_path / "one", "bfs", score=0.1, steps=500)
    made_up(tmp_path / "two", "bfs", score=None, done=1000)
    assert [row[2].text for row in page_of(tmp_path).rows] == ["1 × 500", "1000 of 10000"]


def test_the_command_writes_it(run, tmp_path):
    made_up(tmp_path / "runs", "bfs", score=0.5, others={"last": 0.6})
    code, _, err = run(tmp_path / "runs", "--table", "networks", "--format", "csv", "--out", tmp_path / "a.csv")
    assert (code, err) == (0, "")
    with (tmp_path / "a.csv").open() as file:
        (line,) = csv.DictReader(file)
    assert (line["task"], line["selected"], line["last"]) == ("BFS", "50.00", "60.00")
