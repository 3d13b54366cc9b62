"""Scores that `rnar evaluate --csv` wrote, shown again without a network."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from helpers.command import refused, runner
from helpers.svg import texts
from helpers.training import small_runs
from rnar.report.evaluations import recorded


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    return small_runs(tmp_path_factory.mktemp("runs"), ("bfs", "mpnn", 0), ("bfs", "pgn", 0), ("minimum", "mpnn", 1))


@pytest.fixture
def written(runs, tmp_path, capsys):
    """What `rnar evaluate` writes of these runs, with some flags."""

    def write(name: str, *flags) -> Path:
        out = tmp_path / name
        assert runner(capsys, "evaluate")(runs, *flags, "--csv", out)[0] == 0
        return out

    return write


def table(run, *flags) -> list[dict[str, str]]:
    code, out, err = run(*flags, "--table", "sizes", "--format", "csv")
    assert (code, err) == (0, "")
    return list(csv.DictReader(out.splitlines()))


def test_they_are_what_trying_the_networks_gives(run, runs, written):
    some = ("--n", 4, 6, "--samples", 3)
    again, tried = table(run, written("a.csv", *some)), table(run, runs, *some)
    assert len(again) == 4  # and a mean
    assert again == [{name: text for name, text in line.items() if name in again[0]} for line in tried]
    assert {*tried[0]} - {*again[0]} == {"s a step", "GB"}  # of which such a file tells nothing


def test_several_files_make_one_table_and_more_samples_count_for_more(run, written):
    few, more, other = (
        written("few.csv", "--n", 4, "--samples", 2),
        written("more.csv", "--n", 4, "--samples", 5),
        written("other.csv", "--n", 6, "--samples", 3),
    )
    expected = [each.score for each in recorded([more])]
    for order in ((few, more, other), (more, few, other)):
        found = recorded(order)
        assert [each.score for each in found if each.n == 4] == expected
        assert {(each.n, each.samples) for each in found} == {(4, 5), (6, 3)}
    assert "n = 4" in table(run, few, other)[0] and "n = 6" in table(run, few, other)[0]


def test_networks_that_were_asked_in_another_way_are_lines_of_their_own(run, written, tmp_path):
    files = (
        written("a.csv", "--n", 4, 6, "--samples", 3),
        written("b.csv", "--n", 4, "--samples", 3, "--network", "last"),
    )
    assert [line["model"] for line in table(run, *files, "--tasks", "minimum")] == ["mpnn", "mpnn, the last network"]
    assert run(*files, "--figure", "sizes", "--models", "mpnn", "--out", tmp_path / "a.svg") == (0, "", "")
    drawn = set(texts(tmp_path / "a.svg"))
    assert {"BFS", "Minimum", "MPNN, seed 0", "MPNN, seed 1, the last network", "sizes of training"} <= drawn
    assert not [text for text in drawn if text.startswith("PGN")]


def test_what_makes_no_sense_is_refused_in_a_line(run, runs, written, tmp_path):
    good = written("a.csv", "--n", 4, "--samples", 2)
    refused(run(good, "--table", "sizes", "--n", 4), "as they are")
    refused(run(good, runs, "--table", "sizes"), "one at a time")
    refused(run(good, "--table", "sizes", "--models", "rnar"), "there are runs of mpnn, pgn")
    refused(run(good, "--table", "hints"), "no CSV of runs")
    head, first, *_ = good.read_text().splitlines()
    bad = tmp_path / "bad.csv"
    bad.write_text(f"{head}\n{first.replace(',bfs,4,', ',bfs,many,')}\n")
    refused(run(bad, "--table", "sizes"), "row 1 of", "bad.csv", "n")
    bad.write_text(f"{head}\n")
    refused(run(bad, "--table", "sizes"), "no score in")
