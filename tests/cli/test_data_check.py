"""`rnar data check`: the official sets, compared with the reference's digests."""

from __future__ import annotations

import json

from rnar.cli import data
from rnar.clrs import ALGORITHMS, splits


def test_the_official_sets_are_those_of_the_reference(run):
    code, out, err = run("data", "check", "b*", "--split", "val")
    assert (code, err) == (0, "")
    assert [line.split() for line in out.splitlines() if " val " in line] == [
        [name, "val", "ok"] for name in ALGORITHMS if name.startswith("b") and name in splits.facts()
    ]
    assert out.splitlines()[-1].startswith("5 of 5 sets")


def test_a_set_that_differs_is_named_with_its_features_and_the_exit_code_is_1(run, monkeypatch):
    wrong = json.loads(json.dumps(splits.facts()))
    wrong["bfs"]["val"]["sha256"]["hint/pi_h"] = "0"
    monkeypatch.setattr(splits, "facts", lambda: wrong)
    code, out, _ = run("data", "check", "bfs")
    assert code == 1
    assert out.splitlines()[0].split() == "bfs train ok val differs in hint/pi_h test ok".split()
    assert out.splitlines()[1].startswith("2 of 3 sets")


def test_the_check_goes_through_every_set(monkeypatch):
    counted = []
    monkeypatch.setattr(data, "differences", lambda task, split, progress: counted.append((task, split)) or [])
    assert data.check("mst*") == 0
    assert counted == [(task, split) for task in ("mst_kruskal", "mst_prim") for split in ("train", "val", "test")]
