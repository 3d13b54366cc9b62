"""`rnar networks`: what ships."""

from __future__ import annotations

import json

from helpers.command import refused
from rnar.inference import pretrained


def test_all_that_ship_are_listed_with_their_scores(run):
    code, out, err = run("networks")
    assert (code, err) == (0, "") and max(map(len, out.splitlines())) <= 80
    for name in pretrained.names():
        card = pretrained.read_card(pretrained.home() / name)
        assert card is not None
        line = next(line for line in out.splitlines() if line.startswith(f"{name} "))
        for task, test in card.tests.items():
            low, high = test.interval
            size = f"{pretrained.megabytes(pretrained.home() / name):.1f}"
            shown = [f"{100 * test.score:.1f}", f"{100 * low:.1f}–{100 * high:.1f}", f"{test.samples:,}", card.model]
            assert all(text in line for text in [*shown, f"{card.step:,}", size]), task


def test_of_one_it_is_told_how_it_was_trained(run):
    code, out, _ = run("networks", "Binary_Search")
    card = pretrained.read_card(pretrained.home() / "binary_search")
    told = dict(line.split(None, 1) for line in out.splitlines())
    assert code == 0 and card is not None and told["commit"] == card.commit
    assert told["training"].startswith(f"{card.steps:,} steps of 32 samples in ") and "average" in told["training"]
    assert told["data"] == "binary_search: n = 4, 7, 11, 13, 16"
    assert f"{100 * card.tests['binary_search'].score:.1f}" in told["score"]


def test_all_that_is_known_may_be_lines_of_json(run):
    found = [json.loads(line) for line in run("networks", "--json")[1].splitlines()]
    assert [each["name"] for each in found] == pretrained.names()
    (one,) = map(json.loads, run("networks", "minimum", "--json")[1].splitlines())
    assert one in found and one["tests"]["minimum"]["score"] and "probes" not in one


def test_one_may_be_listed_or_copied_to_go_on(run, tmp_path):
    code, out, _ = run("networks", "binary_search-rnar", "--copy", tmp_path / "run")
    assert code == 0 and f"rnar train binary_search --model rnar --seed 0 --folder {tmp_path / 'run'}" in out
    files = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert files == ["best.safetensors", "config.json", "state.safetensors"]
    assert "binary_search" in run("evaluate", tmp_path / "run", "--n", 4, "--samples", 2)[1]
    assert run("networks", "binary_search-rnar")[1].count("rnar ") >= 1
    refused(run("networks", "binary_search-rnar", "--copy", tmp_path / "run"), "is not empty")


def test_one_may_be_evaluated_by_its_name(run):
    assert "binary_search" in run("evaluate", "binary_search", "--n", 4, "--samples", 2)[1]
    refused(run("evaluate", "binary_serch"), "no network 'binary_serch'", "'binary_search'")


def test_one_that_does_not_ship_is_refused(run):
    refused(run("networks", "binary_serch"), "no network 'binary_serch'", "'binary_search'")
    refused(run("networks", "--copy", "x"), "which network shall be copied?")
