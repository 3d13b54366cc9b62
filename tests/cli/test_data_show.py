"""`rnar data show`: a problem and its solution, step by step."""

from __future__ import annotations

import io
import re

import numpy as np
import pytest
from rich.console import Console

import rnar.clrs
from helpers.command import refused
from rnar.cli.show.page import Page
from rnar.clrs import ALGORITHMS
from rnar.clrs.naming import classes, distinct, number
from rnar.clrs.pointers import in_order, linked_list


@pytest.mark.parametrize("n", [4, 9, 30])
@pytest.mark.parametrize("task", ALGORITHMS)
def test_every_run_can_be_shown(run, task, n):
    code, out, err = run("data", "show", task, "--n", n, "--steps", 5)
    sample = rnar.clrs.sample(task, n=n, batch=1, seed=1).sample(0)
    shown = [int(t) for t in re.findall(r"^step (\d+)", out, re.MULTILINE)]
    assert (code, err) == (0, "")
    assert shown == list(range(min(5, sample.steps)))
    assert f"{sample.nodes} nodes, {sample.steps} steps" in out
    assert max(map(len, out.splitlines())) <= 80
    names = {*sample.hints, *sample.outputs}
    assert all(re.search(rf"(?<!\w){name}\b", out) for name in names)
    assert out.count("answer") == len(sample.outputs)
    assert (f"{sample.steps - 5} more" in out) == (sample.steps > 5)


@pytest.mark.parametrize("task", ALGORITHMS)
def test_a_hint_is_marked_where_it_changed_and_only_there(task):
    sample = rnar.clrs.sample(task, n=6, batch=1, seed=2).sample(0)
    screen = io.StringIO()
    Page(sample, Console(width=200, file=screen)).print(sample.steps, "a test")
    _, *steps = re.split(r"^step \d+", screen.getvalue().split("\nanswer")[0], flags=re.MULTILINE)
    for name, hint in sample.hints.items():
        for t, step in enumerate(steps):
            assert re.search(rf"(?<!\w){name}\b", step)
            assert bool(re.search(rf"\*{name}\b", step)) == (t > 0 and bool((hint[t] != hint[t - 1]).any()))


def test_in_colour_what_changed_is_yellow_and_nothing_is_marked():
    sample = rnar.clrs.trace("minimum", [3.0, 1.0, 2.0])
    screen = io.StringIO()
    Page(sample, Console(width=80, file=screen, force_terminal=True, color_system="standard")).print(9, "test")
    assert "\x1b[1;33mmin_h\x1b[0m" in screen.getvalue()
    assert "*" not in screen.getvalue()


def test_a_sort_is_shown_as_its_keys_in_their_present_order(run):
    out = run("data", "show", "insertion_sort", "[[5, 2, 9, 1]]")[1]
    orders = [re.findall(r"\d", line) for line in out.splitlines() if "pred_h" in line]
    assert ["".join(order) for order in orders] == ["5291", "2591", "2591", "1259"]
    assert "pred: 1 → 2 → 5 → 9" in out


def test_marks_stand_below_the_nodes_that_they_mark(run):
    lines = run("data", "show", "binary_search", "[[1, 3, 5, 7], 6]")[1].splitlines()
    at = next(k for k, line in enumerate(lines) if line.startswith("step 0"))
    keys, marks = lines[at + 1], lines[at + 2]
    assert {mark: keys[marks.index(mark)] for mark in ("low", "mid", "high")} == {"low": "1", "mid": "3", "high": "7"}


def test_pointers_sets_and_classes_are_told_as_what_they_mean(run):
    out = run("data", "show", "bfs", "[[[0, 1, 0], [1, 0, 1], [0, 1, 0]], 0]")[1]
    assert "*reach_h  {0, 1, *2}" in out
    assert "*pi_h     1→0  *2→1" in out
    out = run("data", "show", "dfs", "[[[0, 1], [0, 0]]]")[1]
    assert "*color    white 1   grey *0" in out
    assert "*s_prev   *1 → 0" in out
    assert "phase build" in run("data", "show", "heapsort")[1]


def test_a_small_table_is_drawn_and_of_a_large_one_the_changes_are_told(run):
    out = run("data", "show", "lcs_length", '["AT", "TA"]')[1]
    assert re.search(r"b_h +T2 +A3 +c +T2 +A3\s+A0 +↑ +↖ +A0 +· +1\s+T1 +↖ +↖ +T1 +1 +·", out)
    out = run("data", "show", "floyd_warshall", "--n", 16, "--steps", 2)[1]
    sample = rnar.clrs.sample("floyd_warshall", n=16, batch=1, seed=1).sample(0)
    changed = np.argwhere(sample.hints["Pi_h"][1] != sample.hints["Pi_h"][0])
    told = next(line for line in out.splitlines() if line.startswith("*Pi_h"))
    assert told.split()[1::2] == [f"*[{i},{j}]" for i, j in changed]


def test_the_answer_is_told_in_words(run):
    assert "median: node 0 (key 5)" in run("data", "show", "quickselect", "[[5, 2, 9]]")[1]
    assert "match: node 2 (letter C)" in run("data", "show", "kmp_matcher", '["ATCG", "CG"]')[1]
    assert "match: no match" in run("data", "show", "naive_string_matcher", '["ATCG", "AA"]')[1]
    crossing = run("data", "show", "segments_intersect", "[[0, 2, 0, 2], [0, 2, 2, 0]]")[1]
    assert "intersect: yes" in crossing


def test_seed_sample_size_and_distribution_choose_the_problem(run):
    batch = rnar.clrs.sample("minimum", n=7, batch=3, seed=5, low=10.0, high=20.0)
    out = run("data", "show", "minimum", "--n", 7, "--seed", 5, "--sample", 2, "--low", 10, "--high", 20)[1]
    keys = re.search(r"key +([\d. ]+)", out)
    assert keys and keys[1].split() == [f"{x:.2f}" for x in batch.inputs["key"][2]]
    assert run("data", "show", "bfs", "--p", "1")[1].count("0 – 0  1  2  3  4  5") == 1
    assert run("data", "show", "kmp_matcher", "--needle", "2,2")[1].count("13  14") == 1


def test_what_cannot_be_drawn_is_refused(run):
    refused(run("data", "show", "bsf"), "no task 'bsf'", "'bfs'")
    refused(run("data", "show", "bfs", "--n", 1), "n=1 is too small", "2")
    refused(run("data", "show", "kmp_matcher", "--n", 8, "--needle", 5), "needle of 5", "n of at least 11")
    refused(run("data", "show", "bfs", "--needle", 5), "no option 'needle'", "p=0.5")
    refused(run("data", "show", "bfs", "--p", "0.1;0.9"), "--p", "'0.1;0.9'")
    refused(run("data", "show", "bfs", "--p", "1.5"), "probability")
    refused(run("data", "show", "bfs", "--seed", -1), "seed")
    refused(run("data", "show", "bfs", "--sample", -1), "--sample")
    refused(run("data", "show", "bfs", "--steps", 0), "--steps")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[5, 2", "neither JSON nor numbers"),
        ("[" * 100_000, "neither JSON nor numbers"),
        ("{}", "given nothing"),
        ("[[5, NaN, 2]]", "finite"),
        ("[[5, 1e999]]", "finite"),
        ("[[5, 1" + "0" * 400 + "]]", "large"),
        ('[["five", 2]]', "numbers"),
        ("[[5]]", "at least 2"),
        ("[[5, 2], 3]", "numbers only"),
        ("[]", "at least 2"),
    ],
)
def test_an_input_that_is_no_problem_is_refused(run, text, said):
    refused(run("data", "show", "minimum", text), said)


def test_an_own_input_is_not_drawn(run):
    refused(run("data", "show", "minimum", "[[1, 2]]", "--seed", 3), "--seed", "INPUT")
    refused(run("data", "show", "bfs", "[[[0, 1], [1, 0]], 5]"), "source", "5")
    refused(run("data", "show", "kmp_matcher", '["AT", "ATT"]'), "needle", "longer")


@pytest.mark.parametrize("task", ALGORITHMS)
def test_every_class_has_a_name(task):
    for stage in ALGORITHMS[task].spec:
        for name, feature in stage.items():
            if feature.kind == "categorical":
                assert len(set(classes(task, name, feature))) == feature.classes
            elif str(feature) == "graph.mask":
                assert len(set(classes(task, name, feature))) == 2


def test_nodes_with_like_keys_have_different_labels():
    assert distinct(np.array([5.0, 2.0, 5.0])) == ["5#0", "2", "5#2"]
    assert distinct(np.array([0.123, 0.124, 0.5])) == ["0.123", "0.124", "0.500"]
    assert [number(x) for x in (3.0, 0.126, 0.00123, -0.5)] == ["3", "0.13", "0.0012", "-0.50"]


def test_lists_are_read_from_pointers():
    order = np.random.default_rng(0).permutation(9)
    assert in_order(rnar.clrs.chain(order)) == order.tolist()
    assert linked_list(np.array([0, 1, 2])) == []
    assert linked_list(np.array([2, 0, 2, 3])) == [1, 0, 2]
    assert linked_list(np.array([2, 2, 2])) is None
    assert linked_list(np.array([1, 0, 2])) is None
    assert linked_list(np.array([1, 2, 1])) is None  # a way into a circle


@pytest.mark.parametrize(("task", "text"), [("quickselect", "[5, 2, 9]"), ("floyd_warshall", "[[0, 1], [1, 0]]")])
def test_a_task_that_takes_one_array_can_be_given_it_alone(run, task, text):
    found = run("data", "show", task, text)
    assert found[0] == 0 and found == run("data", "show", task, f"[{text}]")


def test_an_input_is_given_in_the_words_of_solve(run, tmp_path):
    (tmp_path / "roads.csv").write_text("from,to,km\nRome,Pisa,3\nPisa,Bari,2.5\n")
    out = run("data", "show", "dijkstra", "--edges", tmp_path / "roads.csv", "Rome")[1]
    assert "s          Rome" in out and "Pisa – Rome (3)  Bari (2.50)" in out and "pi: Pisa→Rome  Bari→Pisa" in out
    expected = run("data", "show", "quickselect", "5", "2", "9")
    assert expected[0] == 0 and expected == run("data", "show", "quickselect", "--input", "[[5, 2, 9]]")
