"""The page in a browser: what is drawn is the trace and what the network decided, and it can be played."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rnar.clrs
from helpers.browser import Browser, installed
from helpers.inference import forged
from rnar.clrs import ALGORITHMS, Feature, Sample, Spec, edge, find, graph, node
from rnar.clrs.naming import classes
from rnar.evaluation.beliefs import Belief
from rnar.inference.page import Line, playback
from rnar.inference.page.data import scene

pytestmark = pytest.mark.skipif(not installed(), reason="there is no Chromium here to show pages in")

READ = """
frames => {
  for (const f of rnar.data.features) f.shown = true;
  document.getElementById("values").open = true;
  const all = selector => [...document.querySelectorAll(selector)];
  const state = e => ["right", "wrong", "ghost"].find(s => e.classList.contains(s));
  return frames.map(frame => {
    rnar.go(frame);
    const found = {values: {}};
    for (const td of all("#values td[data-f]")) {
      const name = `${td.dataset.who} ${td.dataset.f}`;
      (found.values[name] ||= []).push([td.textContent.replace("✗ ", ""), td.classList.contains("wrong")]);
    }
    for (const panel of all(".panel")) {
      const those = selector => [...panel.querySelectorAll(selector)];
      const nodes = (selector, read) => Object.fromEntries(those(selector).map(e => [e.dataset.i, read(e)]));
      const each = (selector, read) => those(selector).filter(state).map(read);
      const joined = e => [e.dataset.f, Number(e.dataset.from), Number(e.dataset.to), state(e)];
      const node = e => Number(e.closest("[data-i]").dataset.i);
      found[panel.dataset.who] = {
        marks: each("[data-i] .mark[data-f], .set[data-f]",
                    e => [e.dataset.f, node(e), state(e), e.textContent.trim()]),
        chips: each(".chips .mark[data-f]", e => [e.dataset.f, state(e), e.textContent.replace("✗ ", "").trim()]),
        arrows: [...each("[data-i] .mark[data-to]", e => [e.dataset.f, node(e), Number(e.dataset.to), state(e)]),
                 ...each(".arrow[data-f]", joined)],
        edges: each(".chosen", joined),
        greys: nodes(".node", e => e.getAttribute("class").split(" ")[1]),
        before: nodes(".cell[data-before]", e => Number(e.dataset.before)),
      };
    }
    return found;
  });
}
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    found = Browser(tmp_path_factory.mktemp("browser"))
    yield found
    found.close()


@pytest.fixture
def shown(browser, tmp_path):
    """Show a page; in the end the browser has complained of nothing and asked for nothing but the file."""

    def show(sample: Sample, belief: Belief | None, *verdict: Line, **window: Any) -> Browser:
        browser.open(playback(sample, belief, "a test", verdict).save(tmp_path / "page.html"), **window)
        return browser

    yield show
    assert browser.complaints == []
    assert browser.requests == [(tmp_path / "page.html").as_uri()]


def some(task: str, n: int = 6) -> Sample:
    return rnar.clrs.sample(task, n if "string" not in find(task).problem.inputs else 15, 1, seed=2).sample(0)


class Expected:
    """What should be drawn of one feature at one frame, computed from the trace and the belief."""

    def __init__(self, sample: Sample, belief: Belief, name: str, frame: int, who: str):
        output = frame == sample.steps
        spec, self.name, self.who, self.task = find(sample.task).spec, name, who, sample.task
        self.feature: Feature = (spec.outputs if output else spec.hints)[name]
        self.truth = np.asarray(sample.outputs[name] if output else sample.hints[name][frame])
        self.said, self.wrong = self.truth, np.zeros(self.truth.shape, bool)
        if who == "network" and (output or frame > 0):
            said = belief.outputs[name] if output else belief.hints[name]
            wrong = belief.wrong_outputs[name] if output else belief.wrong_hints[name]
            self.said, self.wrong = (said.decided, wrong) if output else (said.decided[frame - 1], wrong[frame - 1])
        self.labels = scene(sample)["labels"]

    def state(self, at: Any = ()) -> str:
        return "wrong" if self.wrong[at] else "right"

    def flags(self) -> set[tuple[int, str]]:
        ghost = {(int(self.truth), "ghost")} if self.wrong else set()
        return {(int(self.said), self.state()), *ghost}

    def fills(self) -> set[tuple[int, str]]:
        ghosts = {(int(i), "ghost") for i in np.flatnonzero(self.wrong & (self.said != 1))}
        return {(int(i), self.state(i)) for i in np.flatnonzero(self.said == 1)} | ghosts

    def arrows(self, plane: bool) -> set[tuple[int, int, str]]:
        found = {(i, int(j), self.state(i)) for i, j in enumerate(self.said) if i != j or self.wrong[i]}
        ghosts = {(i, int(j), "ghost") for i, j in enumerate(self.truth) if self.wrong[i]}
        return found | {(i, j, state) for i, j, state in ghosts if not plane or i != j}

    def edges(self) -> set[tuple[int, int, str]]:
        found = set()
        for i, j in np.argwhere(self.wrong | ((self.said == 1) & (self.truth == 1))).tolist():
            twin = (self.said[i, j] == 1) == (self.said[j, i] == 1) and self.wrong[i, j] == self.wrong[j, i]
            if i <= j or not twin:
                found.add((i, j, self.state((i, j)) if self.said[i, j] == 1 else "ghost"))
        return found

    def told(self, x: Any) -> str:
        """One entry as text; a number by itself."""
        if self.feature.kind == "scalar":
            return x
        if self.feature.kind in ("mask_one", "pointer", "permutation"):
            return self.labels[int(x)]
        if x < 0:
            return "–"
        if self.feature.kind == "mask" and self.feature.place != "graph":
            return "✓" if x == 1 else "·"
        return classes(self.task, self.name, self.feature)[int(x)]


@pytest.mark.parametrize("task", ALGORITHMS)
def test_what_is_drawn_is_the_trace_and_what_the_network_decided(shown, task):
    compare(shown, some(task))


EVERY = {
    f"{place}_{kind}": getattr(words, kind) if kind != "categorical" else words.categorical(4)
    for place, words in (("node", node), ("edge", edge), ("graph", graph))
    for kind in ("scalar", "mask", "mask_one", "categorical", "pointer", "permutation")
    if (place == "node" or kind in ("scalar", "mask", "categorical")) or (place, kind) == ("edge", "pointer")
}
"""an own algorithm may have features of any place and kind"""


@pytest.mark.parametrize("inputs", [{}, {"road": edge.mask}, {"x": node.scalar, "y": node.scalar}], ids=str)
def test_features_of_every_kind_are_drawn_for_an_own_algorithm(shown, inputs, monkeypatch):
    spec = Spec({"pos": node.scalar, **inputs}, EVERY, EVERY)
    monkeypatch.setitem(ALGORITHMS, "minimum", replace(find("minimum"), spec=spec))
    rng, n, steps = np.random.default_rng(0), 5, 4

    def values(feature: Feature, *steps: int) -> np.ndarray:
        if feature.kind == "permutation":
            return np.broadcast_to(rnar.clrs.chain(rng.permutation(n)), (*steps, n)).astype(feature.dtype)
        most = {"mask": 2, "categorical": 4, "scalar": 9}.get(feature.kind, n)
        return rng.integers(most, size=(*steps, *feature.shape(n))).astype(feature.dtype)

    compare(
        shown,
        Sample(
            "minimum",
            {name: values(feature) for name, feature in spec.inputs.items()},
            {name: values(feature, steps) for name, feature in EVERY.items()},
            {name: values(feature) for name, feature in EVERY.items()},
        ),
    )


def compare(shown, sample: Sample) -> None:
    task, belief = sample.task, forged(sample)
    frames = sorted({0, min(1, sample.steps - 1), sample.steps // 2, sample.steps - 1, sample.steps})
    found = shown(sample, belief).evaluate(f"({READ})({frames})")
    spec, picture = find(task).spec, scene(sample)
    ways = {(f["stage"], f["name"]): f["way"] for f in shown_features(shown, sample, belief)}
    for frame, drawn in zip(frames, found, strict=True):
        stage, features = ("output", spec.outputs) if frame == sample.steps else ("hint", spec.hints)
        for who in ("algorithm", "network"):
            for name in features:
                expected = Expected(sample, belief, name, frame, who)
                check_values(drawn["values"][f"{who} {name}"], expected, picture)
                check_picture(drawn[who], expected, ways[stage, name], picture["kind"] == "plane")


def shown_features(shown, sample, belief) -> list[dict[str, Any]]:
    import json
    import re

    html = playback(sample, belief).html
    (text,) = re.findall(r'id="data">(.*?)</script>', html, re.DOTALL)
    return json.loads(text)["features"]


def check_values(cells: list[Any], expected: Expected, picture: dict[str, Any]) -> None:
    """The table of exact values: all entries, in their order, and which are wrong."""
    said, wrong = expected.said, expected.wrong
    if expected.feature.place == "edge":
        said, wrong = (x[np.ix_(picture["rows"], picture["columns"])] for x in (said, wrong))
    assert [cell[1] for cell in cells] == np.ravel(wrong).tolist()
    values = [expected.told(x) for x in np.ravel(said)]
    if expected.feature.kind == "scalar":
        np.testing.assert_allclose([float(text) for text, _ in cells], values, rtol=4e-4, atol=1e-30)
    else:
        assert [text for text, _ in cells] == values


def check_picture(drawn: dict[str, Any], expected: Expected, way: str, plane: bool) -> None:
    name = expected.name
    marks = {(i, state) for f, i, state, _ in drawn["marks"] if f == name}
    if way == "flag":
        assert marks == expected.flags()
    elif way == "fill":
        assert marks == expected.fills()
    elif way == "number":
        said = {i: float(text.split()[-1]) for f, i, _, text in drawn["marks"] if f == name}
        np.testing.assert_allclose([said[i] for i in range(len(expected.said))], expected.said, atol=0.0051)
    elif way == "order":
        assert drawn["before"] == {str(i): int(j) for i, j in enumerate(expected.said)}
    elif way == "arrow":
        assert {(i, j, state) for f, i, j, state in drawn["arrows"] if f == name} == expected.arrows(plane)
    elif way == "edge":
        assert {(i, j, state) for f, i, j, state in drawn["edges"] if f == name} == expected.edges()
    elif way == "class" and classes(expected.task, name, expected.feature) != ("white", "grey", "black"):
        texts = {(i, state): text.lstrip("✗ ") for f, i, state, text in drawn["marks"] if f == name}
        for i, x in enumerate(expected.said):
            assert texts[i, expected.state(i)] == expected.told(x)
            assert ((i, "ghost") in texts) == bool(expected.wrong[i])
    elif way == "class":  # the colours of the book
        assert drawn["greys"] == {str(i): ("white", "grey", "black")[x] for i, x in enumerate(expected.said)}
    elif way == "chip":
        ((state, text),) = [(state, text) for f, state, text in drawn["chips"] if f == name]
        assert state == expected.state()
        value = text.removeprefix(name).split("%")[0].strip()
        if expected.feature.kind == "scalar":
            assert float(value) == pytest.approx(float(expected.said), abs=0.0051)
        else:
            assert value.startswith(expected.told(expected.said))
    else:
        assert way == "grid"  # on a canvas: the table has its values


def test_a_grid_shows_wrong_entries_in_another_colour(shown):
    sample = some("lcs_length")
    belief = forged(sample, wrong=0.0)
    place = np.argwhere(sample.outputs["b"] >= 0)[0]
    belief.outputs["b"].decided[tuple(place)] += 1
    shown(sample, belief, step=sample.steps)
    count = """
      (who => {
        const canvas = document.querySelector(`.panel[data-who=${who}] canvas`), [r, g, b] = [0xc2, 0x41, 0x0c];
        const {data} = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
        let found = 0;
        for (let k = 0; k < data.length; k += 4) found += data[k] == r && data[k + 1] == g && data[k + 2] == b;
        return found;
      })"""
    browser = shown(sample, belief, step=sample.steps)
    assert browser.evaluate(f'{count}("algorithm")') == 0
    assert browser.evaluate(f'{count}("network")') > 20


@pytest.mark.parametrize("wide", [1200, 390])
def test_keys_buttons_the_timeline_and_play_lead_from_step_to_step(shown, wide):
    sample = some("quickselect", n=8)
    browser = shown(sample, forged(sample), Line("hints", "first wrong", step=5), wide=wide)
    steps = sample.steps

    def frame() -> int:
        assert browser.evaluate('document.getElementById("track").getAttribute("aria-valuenow")') == str(now())
        return now()

    def now() -> int:
        return browser.evaluate("rnar.frame")

    assert frame() == 0
    browser.press("ArrowRight")
    browser.press("ArrowRight")
    assert frame() == 2
    browser.press("ArrowLeft")
    assert frame() == 1
    browser.press("End")
    assert frame() == steps and "answer" in browser.evaluate('document.getElementById("step").textContent')
    browser.press("ArrowRight")
    assert frame() == steps
    browser.press("Home")
    browser.press("ArrowLeft")
    assert frame() == 0
    for button, expected in (("#on", 1), ("#on", 2), ("#back", 1), ("#last", steps), ("#first", 0)):
        browser.click(button)
        assert frame() == expected
    browser.click("#track", x=(3 + 0.5) / (steps + 1))
    assert frame() == 3
    browser.click("#track", x=1 - 0.5 / (steps + 1))
    assert frame() == steps
    browser.click("[data-step]")
    assert frame() == 5
    browser.press(" ")
    assert browser.evaluate("rnar.playing")
    speed = 'document.getElementById("speed")'
    browser.evaluate(f'{speed}.value = "30", {speed}.onchange(), 0')
    browser.wait(f"rnar.frame == {steps} && !rnar.playing")  # it plays to the end, and stops there
    browser.evaluate(f'{speed}.value = "1"')
    browser.click("#playing")  # from the beginning again
    assert browser.evaluate("rnar.playing") and now() < steps
    browser.click("#playing")
    assert not browser.evaluate("rnar.playing")


def test_what_is_touched_is_told(shown):
    sample = some("dijkstra")
    belief = forged(sample)
    browser = shown(sample, belief, step=1)
    browser.click('.panel[data-who=network] [data-i="3"]')
    told = browser.evaluate('document.getElementById("told").textContent')
    assert told.startswith("network, node 3: ") and "pi_h" in told
    browser = shown(some("lcs_length"), None)
    browser.click(".panel canvas", 0.5, 0.6)
    assert browser.evaluate('document.getElementById("told").textContent').startswith("algorithm, b_h of ")


def test_hundreds_of_edges_are_hidden_until_they_are_asked_for(shown):
    sample = rnar.clrs.sample("bfs", 64, 1, seed=1, p=1.0).sample(0)
    browser, count = shown(sample, None, step=1), "document.querySelectorAll('.plane .edge:not(circle)').length"
    assert browser.evaluate(count) == 0 and "all 2016 edges" in browser.evaluate("document.body.textContent")
    browser.click("#legend [data-k=edges]")
    assert browser.evaluate(count) == 2016


def test_a_node_has_its_number_also_where_its_key_reads_the_same(shown):
    sample = rnar.clrs.trace("minimum", [3.0, 1.0, 2.0])
    browser = shown(sample, None)
    numbers = "[...document.querySelectorAll('.cell small:first-of-type')].map(e => e.textContent)"
    assert browser.evaluate(numbers) == ["0", "1", "2"]
    browser.click('.panel [data-i="1"]')
    assert "node 1 (1)" in browser.evaluate('document.getElementById("told").textContent')


def test_features_can_be_hidden_and_the_theme_changed(shown):
    sample = some("quickselect", n=8)
    browser = shown(sample, forged(sample))
    count = "document.querySelectorAll('.cell .mark[data-f=pivot]').length"
    assert browser.evaluate(count) > 0
    browser.click("#legend label:last-child input")
    assert browser.evaluate(count) == 0
    paper = "getComputedStyle(document.body).backgroundColor"
    light = browser.evaluate(paper)
    browser.click("#theme")
    dark = browser.evaluate(paper)
    assert light == "rgb(255, 255, 255)" and dark != light
    browser.click("#theme")
    assert browser.evaluate(paper) == light
    assert shown(sample, None, dark=True).evaluate(paper) == dark  # what the system prefers


@pytest.mark.parametrize("task", ["quickselect", "bfs", "mst_kruskal", "optimal_bst", "kmp_matcher", "bubble_sort"])
def test_large_problems_are_drawn_without_complaints(shown, task):
    sample = rnar.clrs.sample(task, 64, 1, seed=1).sample(0)
    browser = shown(sample, forged(sample, wrong=0.02), step=sample.steps // 2)
    assert browser.evaluate("rnar.frame") == sample.steps // 2


@pytest.mark.parametrize("task", ["quickselect", "dijkstra", "graham_scan", "lcs_length", "matrix_chain_order"])
@pytest.mark.parametrize("wide", [1200, 390])
def test_nothing_is_wider_than_the_window(shown, task, wide):
    sample = some(task, n=10)
    browser = shown(sample, forged(sample), wide=wide, step=2)
    assert browser.evaluate("document.documentElement.scrollWidth") <= wide


def test_an_algorithm_alone_has_one_panel(shown):
    browser = shown(some("bfs"), None)
    assert browser.evaluate("document.querySelectorAll('.panel').length") == 1
    assert browser.evaluate("[...document.querySelectorAll('.mark.wrong, .mark.ghost')].length") == 0


def test_no_request_could_leave_the_page(shown):
    """Not even one that somebody's script would make."""
    browser = shown(some("bfs"), None)
    blocked = browser.evaluate('fetch("https://example.org/").then(() => "went out", () => "blocked")')
    assert blocked == "blocked"
    browser.complaints.clear()  # it has said so in its console


def test_the_page_works_in_a_frame_of_a_notebook(browser, tmp_path):
    sample = some("minimum")
    path = tmp_path / "notebook.html"
    path.write_text(f"<!DOCTYPE html><meta charset=utf-8>{playback(sample, forged(sample))._repr_html_()}"
                    "<script>document.documentElement.dataset.ready = 'yes'</script>")  # fmt: skip
    browser.open(path)
    inside = "document.querySelector('iframe').contentDocument"
    browser.wait(f"{inside}.documentElement.dataset.ready == 'yes'")
    assert browser.evaluate(f"{inside}.querySelectorAll('.panel').length") == 2


def test_screenshots_show_what_is_there(shown, tmp_path: Path):
    sample = some("dijkstra")
    browser = shown(sample, forged(sample))
    assert browser.screenshot(whole=True).startswith(b"\x89PNG")
