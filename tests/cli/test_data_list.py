"""`rnar data list`: every task, or those that match."""

from __future__ import annotations

import re

import pytest

from helpers.command import refused
from rnar.clrs import ALGORITHMS, splits


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_list_has_every_task_with_its_features_and_steps(run, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, err = run("data", "list")
    assert (code, err) == (0, "")
    assert max(map(len, out.splitlines())) <= width
    for name, algorithm in ALGORITHMS.items():
        assert name in out and algorithm.chapter in out
        for stage in algorithm.spec:
            for feature in stage:
                assert re.search(rf"\b{feature}\b", out)


def test_the_list_takes_wildcards_and_tells_the_mean_steps(run):
    out = run("data", "list", "mst*")[1]
    assert "mst_kruskal" in out and "mst_prim" in out and "bfs" not in out
    line = next(line for line in out.splitlines() if line.startswith("mst_prim"))
    known = splits.facts()["mst_prim"]
    assert line.split()[-2:] == [f"{known[split]['mean_steps']:.0f}" for split in ("val", "test")]


def test_a_pattern_that_matches_nothing_is_refused_with_the_nearest(run):
    refused(run("data", "list", "mts*"), "'mts*'", "'mst*'")
    refused(run("data", "list", "quikselect"), "'quikselect'", "'quickselect'")
    refused(run("data", "list", "zzz*"), "'zzz*'", "bfs", "quickselect")
    refused(run("data", "check", "mts*"), "'mst*'")
