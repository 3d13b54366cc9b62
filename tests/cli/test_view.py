"""`rnar view`: pages as files."""

from __future__ import annotations

import pytest

from helpers.command import refused
from helpers.inference import untrained
from rnar.clrs import ALGORITHMS


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("task", ALGORITHMS)
def test_every_algorithm_has_a_page(run, here, task):
    code, out, err = run("view", task, "--network", "none")
    page = (here / f"{task}.html").read_text("utf-8")
    assert (code, err) == (0, "") and out.startswith(str(here / f"{task}.html"))
    assert page.startswith("<!DOCTYPE html>") and '"network":false' in page and "<dt>answer</dt>" in page


def test_a_page_shows_what_a_network_believed(run, here):
    untrained(here / "run", "dijkstra")
    graph = "[[0, 1], [1, 0]]"
    assert run("view", "dijkstra", graph, "0", "--network", "run", "--out", "own.html")[0] == 0
    page = (here / "own.html").read_text("utf-8")
    assert '"network":true' in page and "your own input" in page and "<dt>algorithm</dt>" in page
    assert (
        run("view", "dijkstra", "--n", 7, "--seed", 4, "--p", "0.9", "--network", "run", "--out", "random.html")[0] == 0
    )
    page = (here / "random.html").read_text("utf-8")
    assert "7 nodes" in page and "a random problem, seed 4" in page


def test_what_lies_outside_of_training_is_noted_in_one_line(run, here):
    out = run("view", "binary_search", "1,3,5,7", "5", "--out", "own.html")[1]
    (notes,) = [line for line in out.splitlines() if line.startswith("notes  ")]
    assert "not seen in training: a target that is one of the keys; its numbers were moved and divided" in notes
    assert "notes" not in run("view", "binary_search", "1,3,5,7", "5", "--network", "none")[1]


def test_by_default_the_network_that_ships_is_shown(run, here):
    run("view", "binary_search", "--n", 5)
    assert '"network":true' in (here / "binary_search.html").read_text("utf-8")


def test_where_none_ships_the_algorithm_is_shown_alone(run, here, nothing_ships):
    run("view", "graham_scan")
    assert '"network":false' in (here / "graham_scan.html").read_text("utf-8")


def test_a_file_that_is_there_stays_unless_it_is_to_be_replaced(run, here):
    (here / "bfs.html").write_text("mine")
    refused(run("view", "bfs", "--network", "none"), "bfs.html exists already; --force replaces it")
    assert (here / "bfs.html").read_text() == "mine"
    assert run("view", "bfs", "--network", "none", "--force")[0] == 0


def test_what_cannot_be_shown_is_refused(run, here):
    refused(run("view", "bsf"), "no task 'bsf'")
    refused(run("view", "bfs", "--out", "no/where.html"), "there is no folder")
    refused(run("view", "bfs", "--network", "nowhere"), "no folder nowhere")
    refused(run("view", "minimum", "3", "1", "--n", 4, "--network", "none"), "--n", "INPUT")
    refused(run("view", "minimum", "x1", "--network", "none"), "neither JSON nor numbers")
    refused(run("view", "bfs", "--n", 1, "--network", "none"), "n=1 is too small")
    assert list(here.iterdir()) == []
