"""`rnar report --figure`: what runs did along their steps, and what their networks can."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from helpers.command import runner
from helpers.reporting import made_up, silent, write
from helpers.svg import texts
from helpers.training import small_test, tiny
from rnar.models import MODELS
from rnar.report import figures
from rnar.report.drawing import strokes
from rnar.report.figures import Curve, rates
from rnar.report.runs import Row
from rnar.report.score_figures import smoothed
from rnar.report.scores import Group, Score, Trial
from rnar.report.shared import gather
from rnar.training import testing, train


@pytest.fixture
def run(capsys):
    return runner(capsys, "report")


@pytest.fixture
def runs(tmp_path) -> Path:
    folder = tmp_path / "runs"
    for seed in (0, 1):
        made_up(folder, "heapsort", seed=seed, pace=3.0)
        made_up(folder, "heapsort", "triplet-gmpnn", seed=seed, pace=1.0, validations=[0.0, 0.5, 0.6 + seed / 10])
    made_up(folder, "dfs", score=None, done=500)
    return folder


def bench(path: Path, n: int, seconds: float, task: str = "heapsort") -> Path:
    """What `rnar bench --against --json` writes, as far as it is read."""
    sizes = {"n": n, "batch": 32, "size": 128, "threads": 2}
    write(path, dict(task=task, model="rnar", sizes=sizes, dm_clrs={"training": {"median": seconds}}))
    return path


@pytest.mark.parametrize("figure", ["timing", "curves", "losses"])
@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_figure_is_an_image_of_its_kind(run, runs, tmp_path, figure, suffix):
    path = tmp_path / f"out.{suffix}"
    assert run(runs, "--figure", figure, "--out", path) == (0, "", "")
    content = path.read_bytes()
    assert content.startswith({"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[suffix]) and len(content) > 5000
    assert run(runs, "--figure", figure, "--out", path, "--force") == (0, "", "")
    assert path.read_bytes() == content  # the same bytes from the same data
    if suffix == "svg":
        assert {"Heapsort  (seeds: 2)", "DFS  (seeds: 1)", "Triplet-GMPNN", "RNAR", "training steps"} <= set(
            texts(path)
        )


def test_a_loss_is_that_of_all_features_and_there_is_none_before_the_first_step(monkeypatch, runs):
    panels: dict[str, list[Curve]] = {}
    monkeypatch.setattr(figures, "_drawn", lambda found, *_, **__: panels.update(found) or b"")
    figures.losses(gather([runs], silent), "png")
    rnar = next(curve for curve in panels["heapsort"] if curve.model == "rnar")
    assert [steps.tolist() for steps in rnar.steps] == [[5000, 10000]] * 2
    assert [values.tolist() for values in rnar.values] == [[2.0, 1.0]] * 2


def test_time_has_a_unit_that_fits_and_dm_clrs_a_line_where_it_was_measured(run, runs, tmp_path):
    out = tmp_path / "out.svg"
    files = [bench(tmp_path / "a.json", 16, 9.0), bench(tmp_path / "b.json", 4, 3.0)]
    assert run(runs, "--figure", "timing", "--bench", *files, "--out", out)[0] == 0
    assert "wall-clock time (h)" in texts(out)  # 30,000 seconds
    assert "RNAR in dm-clrs, training alone, n = 4, 16, 2 threads" in texts(out)
    assert rates(files)["heapsort", "rnar"].seconds == 6.0


def test_measurements_that_do_not_fit_are_refused(run, runs, tmp_path):
    def refused(*words: str) -> None:
        code, out, err = run(runs, "--figure", "timing", "--bench", tmp_path / "a.json", "--out", tmp_path / "x.png")
        assert (code, out) == (2, "") and "\n" not in err and all(word in err for word in words)

    bench(tmp_path / "a.json", 16, 9.0, task="bfs")
    refused("bfs", "no run")
    write(tmp_path / "a.json", {"hello": 1})
    refused("a.json", "rnar bench")
    write(tmp_path / "a.json", dict(task="heapsort", model="rnar", sizes={"n": 16, "threads": 1}, dm_clrs=None))
    refused("a.json", "--against")
    assert not (tmp_path / "x.png").exists()


def test_seeds_are_averaged_where_all_have_been():
    curve = Curve(
        "rnar", "x", [np.array([0, 50, 100]), np.array([0, 50])], [np.array([1.0, 2.0, 9.0]), np.array([3.0, 6.0])]
    )
    steps, values = curve.common()
    assert steps.tolist() == [0, 50] and values.mean(0).tolist() == [2.0, 4.0]


def test_rows_of_a_csv_cannot_be_drawn(run, runs, tmp_path):
    run(runs, "--export", tmp_path)
    for figure in ("curves", "ood", "losses", "timing", "sizes", "hints"):
        code, out, err = run(tmp_path / "runs.csv", "--figure", figure, "--out", tmp_path / "x.png")
        assert (code, out) == (2, "") and "run folders" in err


def test_other_settings_are_lines_of_their_own(run, runs, tmp_path):
    made_up(runs / "short", "heapsort", steps=500, batch=4)
    assert run(runs, "--figure", "curves", "--out", tmp_path / "out.svg")[0] == 0
    assert "RNAR, 500 steps, batch 4" in texts(tmp_path / "out.svg")


def test_the_score_at_a_larger_size_has_a_line_for_the_network_and_one_for_the_average(run, tmp_path, monkeypatch):
    monkeypatch.setattr(testing, "official", small_test)
    out, seen = tmp_path / "out.svg", {}
    train(tiny(tmp_path / "runs" / "one", steps=4, ood_n=6, average=0.5))
    assert run(tmp_path / "runs", "--figure", "ood", "--out", out) == (0, "", "")
    assert {"RNAR", "RNAR, average of the weights", "score, n = 6 (%)"} <= set(texts(out))
    train(tiny(tmp_path / "runs" / "two", steps=4, ood_n=8, seed=1))
    code, _, err = run(tmp_path / "runs", "--figure", "ood", "--out", tmp_path / "other.svg")
    assert code == 2 and "n = 6 and 8" in err
    train(tiny(tmp_path / "none", steps=4, ood_samples=0))
    code, _, err = run(tmp_path / "none", "--figure", "ood", "--out", tmp_path / "other.svg")
    assert code == 2 and "nothing to draw" in err and not (tmp_path / "other.svg").exists()
    monkeypatch.setattr(figures, "_drawn", lambda found, *_, **__: seen.update(found) or b"")
    figures.ood(gather([tmp_path / "runs" / "one"], silent), "png")
    lines = [json.loads(line) for line in (tmp_path / "runs" / "one" / "metrics.jsonl").read_text().splitlines()]
    assert [[v.tolist() for v in curve.values] for curve in seen["bfs"]] == [
        [[100 * line[name]["bfs"] for line in lines]] for name in ("ood", "ood_average")
    ]


def test_networks_are_tried_for_scores_against_size_and_hints_along_the_steps(run, tmp_path, monkeypatch):
    monkeypatch.setattr(testing, "official", small_test)
    train(tiny(tmp_path / "runs" / "one", steps=2))
    made_up(tmp_path / "runs", "dfs")  # has no network
    few = ("--samples", 3, "--threads", 1)
    code, out, err = run(tmp_path / "runs", "--figure", "sizes", "--n", 4, 6, *few, "--out", tmp_path / "sizes.svg")
    assert (code, out) == (0, "") and "dfs" in err and "left out" in err
    assert {"BFS", "4", "6", "RNAR, seed 0", "size of the problems (n)"} <= set(texts(tmp_path / "sizes.svg"))
    flags = ("--figure", "hints", "--n", 6, *few, "--out", tmp_path / "hints.svg")
    assert run(tmp_path / "runs" / "one", *flags) == (0, "", "")
    assert "RNAR, seed 0" in texts(tmp_path / "hints.svg")
    assert {"pi_h", "reach_h (F1)", "step"} <= set(texts(tmp_path / "hints.svg"))
    assert json.loads((tmp_path / "runs" / "one" / "result.json").read_text())["steps"] == 2  # the run is as it was


def test_networks_that_differ_in_their_seed_are_one_line_and_others_are_not(run, tmp_path, monkeypatch):
    monkeypatch.setattr(testing, "official", small_test)
    for seed in (0, 1):
        train(tiny(tmp_path / "runs" / str(seed), steps=2, seed=seed))
    train(tiny(tmp_path / "runs" / "batch", steps=2, batch=2))
    few = ("--samples", 3, "--threads", 1)
    for figure, sizes in (("sizes", (4, 6)), ("hints", (6,))):
        out = tmp_path / f"{figure}.svg"
        assert run(tmp_path / "runs", "--figure", figure, "--n", *sizes, *few, "--out", out) == (0, "", "")
        assert len([text for text in texts(out) if text.endswith("mean of 2 seeds")]) == 1
        assert len([text for text in texts(out) if text.endswith("seed 0")]) == 1
        assert not [text for text in texts(out) if text.endswith("seed 1")]
    assert "score ± 95% interval or standard deviation (%)" in texts(tmp_path / "sizes.svg")


def test_the_score_of_several_seeds_is_their_mean_and_standard_deviation():
    def score(seed: int, value: float) -> Score:
        return Score(Row("bfs", "rnar", seed, True, 100, 100), "", Trial(), 8, value, (0.1, 0.7), 3)

    three = Group((score(0, 0.2), score(1, 0.4), score(2, 0.6)))
    assert (three.mean, *three.bars) == pytest.approx((40, 20, 20))
    assert (three.label, three.sizes) == ("RNAR, mean of 3 seeds", [8])
    alone = Group((score(5, 0.4),))
    assert (alone.mean, *alone.bars) == pytest.approx((40, 30, 30)) and alone.label == "RNAR, seed 5"


def test_seeds_that_have_no_step_in_common_are_drawn(run, tmp_path):
    made_up(tmp_path, "bfs", seed=0)
    made_up(tmp_path, "bfs", seed=1, score=None, done=400)
    assert run(tmp_path, "--figure", "losses", "--out", tmp_path / "out.svg") == (0, "", "")


def test_a_model_looks_the_same_in_every_figure_and_its_variants_alike():
    few = strokes([("rnar", "RNAR"), ("mpnn", "mpnn")])
    many = strokes([(model, model) for model in ("mpnn", "own:model", *MODELS)])
    assert few["RNAR"] == many["rnar"] and few["mpnn"] == many["mpnn"]
    assert len({*many.values()}) == len(many) == len(MODELS) + 1
    compared = ("rnar", "triplet-gmpnn", "rt", "g-forgetnet", "linked", "combined")
    assert len({many[model].colour for model in compared}) == len(compared)
    one, other = strokes([("rnar", "one"), ("rnar", "other")]).values()
    assert one.colour == other.colour and one.dash != other.dash and one.marker != other.marker


def test_smoothing_takes_the_mean_of_neighbours_that_are_numbers():
    values = np.array([[0.0, 3.0, 6.0, np.nan, 12.0]])
    assert smoothed(values, 1)[0].tolist() == [1.5, 3.0, 4.5, 9.0, 12.0]
