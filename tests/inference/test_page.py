"""The page as a file: what is in it, what cannot get out of it, how large it is."""

from __future__ import annotations

import base64
import json
import re
import zlib
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

import rnar.clrs
from helpers.inference import forged
from helpers.own_tasks import SORT, written
from rnar.clrs import ALGORITHMS, Sample, find
from rnar.inference.page import Line, playback
from rnar.inference.page.data import Packer, before, rounded, scene, typed, way_to_draw


def data_of(html: str) -> dict:
    (text,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)
    return json.loads(text)


def some(task: str, n: int = 6, seed: int = 1) -> Sample:
    return rnar.clrs.sample(task, n if "string" not in find(task).problem.inputs else 20, 1, seed=seed).sample(0)


@pytest.mark.parametrize("task", ALGORITHMS)
def test_every_feature_of_every_task_is_drawn_in_some_way(task):
    sample = some(task)
    data = data_of(playback(sample, forged(sample)).html)
    found = {(feature["stage"], feature["name"]): feature for feature in data["features"]}
    spec = find(task).spec
    assert found.keys() == {("hint", name) for name in spec.hints} | {("output", name) for name in spec.outputs}
    ways = {feature["way"] for feature in found.values()}
    assert ways <= {"flag", "fill", "class", "number", "order", "arrow", "edge", "grid", "chip"}
    assert all(feature["said"] for feature in found.values())
    assert len(data["scene"]["labels"]) == sample.nodes and data["steps"] == sample.steps


@pytest.mark.parametrize(
    ("task", "kind"),
    [("quicksort", "rows"), ("kmp_matcher", "rows"), ("lcs_length", "rows"), ("matrix_chain_order", "rows"),
     ("dijkstra", "plane"), ("dfs", "plane"), ("graham_scan", "plane"), ("segments_intersect", "plane")],
)  # fmt: skip
def test_a_problem_is_drawn_as_what_it_is(task, kind):
    picture = scene(some(task))
    assert picture["kind"] == kind
    if kind == "rows":
        nodes = [i for group in picture["groups"] for i in group["nodes"]]
        assert sorted(nodes) == list(range(len(picture["faces"])))


def test_points_lie_as_they_do_and_edges_carry_their_weights():
    picture = scene(rnar.clrs.trace("segments_intersect", [0, 4, 0, 4], [0, 2, 2, 1]))
    assert picture["edges"] == [(0, 1, ""), (2, 3, "")]
    (x0, y0), (x1, y1), *_ = picture["at"]
    assert (x1 - x0) == pytest.approx(-2 * (y1 - y0))  # upwards, with one scale for both axes
    picture = scene(rnar.clrs.trace("dijkstra", [[0, 0.25, 0], [0.25, 0, 3], [0, 3, 0]], 1))
    assert picture["edges"] == [(0, 1, "0.25"), (1, 2, "3")] and picture["flags"] == [("s", 1)]
    assert not picture["directed"] and scene(rnar.clrs.trace("dfs", [[0, 1], [0, 0]]))["directed"]


def test_what_makes_an_order_is_drawn_as_one():
    sample = some("heapsort")
    assert way_to_draw("pred_h", find("heapsort").spec.hints["pred_h"], sample.hints["pred_h"], "rows") == "order"
    assert way_to_draw("parent", find("heapsort").spec.hints["parent"], sample.hints["parent"], "rows") == "arrow"


def test_packed_arrays_come_back():
    """Unpacked here as the page does it, and each byte is used."""
    rng = np.random.default_rng(0)
    bytes_, halves, numbers = rng.integers(0, 200, (5, 7)), rng.integers(0, 2000, (4, 3)), rng.normal(size=(3, 2))
    packer = Packer()
    (small, kind), (wide, other), (real, third) = (
        typed(bytes_, "mask_one", 200), typed(halves, "pointer", 2000), typed(numbers, "scalar", 5))  # fmt: skip
    assert (kind, other, third) == ("u1", "u2", "f4")
    packer.add(small, before(small))
    packer.add(wide, before(wide))
    packer.add(small + np.uint8(1), small)
    packer.add(real)
    raw = np.frombuffer(zlib.decompress(base64.b64decode(packer.text())), np.uint8)
    first = np.bitwise_xor.accumulate(raw[:35].reshape(5, 7), axis=0)
    second = (
        np.bitwise_xor.accumulate(raw[35:59].reshape(2, 4, 3), axis=1).transpose(1, 2, 0).copy().view("<u2")[..., 0]
    )
    third_ = raw[94:].reshape(4, 3, 2).transpose(1, 2, 0).copy().view("<f4")[..., 0]
    np.testing.assert_array_equal(first, bytes_)
    np.testing.assert_array_equal(second, halves)
    np.testing.assert_array_equal(raw[59:94].reshape(5, 7) ^ first.astype(np.uint8), bytes_ + 1)
    np.testing.assert_array_equal(third_, numbers.astype(np.float32))
    assert len(raw) == 35 + 24 + 35 + 24


def test_a_networks_numbers_keep_three_digits():
    numbers = np.random.default_rng(0).normal(size=1000).astype(np.float32) * 10.0 ** np.arange(-5, 5).repeat(100)
    np.testing.assert_allclose(rounded(numbers), numbers, rtol=3e-4)
    assert np.isinf(rounded(np.array([np.inf], np.float32))).all()


EVIL = '</script><script>alert("x")</script><!-- & \u2028'


def test_no_string_of_a_users_gets_out_of_the_page():
    html = playback(some("minimum"), None, EVIL, [Line(EVIL, EVIL, "wrong", 1)]).html
    assert EVIL not in html and html.count("<script") == 2 and html.count("</script>") == 2


def test_no_name_of_a_feature_gets_out_of_the_page(monkeypatch):
    sample, spec = some("minimum"), find("minimum").spec
    hints = {EVIL: spec.hints["i"], "min_h": spec.hints["min_h"]}
    monkeypatch.setitem(ALGORITHMS, "minimum", replace(find("minimum"), spec=spec._replace(hints=hints)))
    html = playback(sample._replace(hints={EVIL: sample.hints["i"], "min_h": sample.hints["min_h"]})).html
    assert EVIL not in html and html.count("<script") == 2
    assert [feature["name"] for feature in data_of(html)["features"]] == [EVIL, "min_h", "min"]


def test_in_a_notebook_it_stands_in_a_frame_of_its_own():
    page = playback(some("minimum"))
    (inside,) = re.findall(r'srcdoc="([^"]*)"', page._repr_html_())
    assert unescape(inside) == page.html and "<" not in inside
    assert "minimum, 6 nodes" in repr(page)


def test_nothing_is_asked_of_anybody():
    html = playback(some("bfs")).html
    assert "default-src 'none'" in html
    assert not re.search(r"https?://|src=|@import|url\((?!#tip)", html)


def test_a_long_run_of_many_nodes_is_small():
    """Quickselect at n=64, some 400 steps, and a network whose probabilities are noise: nothing compresses less."""
    batch = rnar.clrs.official("quickselect", "test")
    sample = batch.sample(int(np.argmax(batch.lengths)))
    assert sample.nodes == 64 and sample.steps > 400
    assert len(playback(sample, forged(sample)).html) < 3_000_000


def test_a_page_is_written_whole(tmp_path):
    page = playback(some("bfs"))
    assert page.save(tmp_path / "page.html").read_text("utf-8") == page.html
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_an_own_algorithm_has_a_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in written(tmp_path):
        sample = rnar.clrs.trace(SORT, [3.0, 1.0, 2.0])
        data = data_of(playback(sample, forged(sample)).html)
        assert data["task"] == SORT and data["scene"]["kind"] == "rows"
