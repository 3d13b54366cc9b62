"""`rnar solve`: problems in words of the command line, answers for people and for programs."""

from __future__ import annotations

import io
import json
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rnar.clrs
from helpers.command import refused
from helpers.inference import untrained
from helpers.own_tasks import SORT, written
from rnar.cli.inputs import edges_of, example, own, parsed
from rnar.clrs import ALGORITHMS, Sample, find
from rnar.inference import pretrained

LINE = [[0, 1, 0], [1, 0, 2], [0, 2, 0]]
WAYS = [
    ("minimum", ("5", "-2", "9"), ([5, -2, 9],)),
    ("minimum", ("5,-2,9",), ([5, -2, 9],)),
    ("minimum", ("5 -2 9",), ([5, -2, 9],)),
    ("minimum", ("[5, -2, 9]",), ([5, -2, 9],)),
    ("minimum", ("[[5, -2, 9]]",), ([5, -2, 9],)),
    ("minimum", ('{"values": [5, -2, 9]}',), ([5, -2, 9],)),
    ("minimum", ("@list.txt",), ([5, -2, 9],)),
    ("minimum", ("list.txt",), ([5, -2, 9],)),
    ("minimum", ("list.npy",), ([5, -2, 9],)),
    ("minimum", ('{"key": [5, -2, 9]}',), ([5, -2, 9],)),
    ("graham_scan", ("[[0, 0], [4, 0], [2, 3], [2, 1]]",), ([0, 4, 2, 2], [0, 0, 3, 1])),
    ("binary_search", ("[1, 3, 5]", "3"), ([1, 3, 5], 3)),
    ("binary_search", ("1,3,5", "3"), ([1, 3, 5], 3)),
    ("binary_search", ("[[1, 3, 5], 3]",), ([1, 3, 5], 3)),
    ("dijkstra", (json.dumps(LINE), "0"), (LINE, 0)),
    ("dijkstra", (json.dumps([LINE, 0]),), (LINE, 0)),
    ("dijkstra", (json.dumps({"A": LINE, "s": 0}),), (LINE, 0)),
    ("dijkstra", ("graph.txt", "0"), (LINE, 0)),
    ("dijkstra", ("graph.json", "0"), (LINE, 0)),
    ("dfs", (json.dumps(LINE),), (LINE,)),
    ("dfs", (json.dumps([LINE]),), (LINE,)),
    ("kmp_matcher", ("ATCGATC", "gat"), ("ATCGATC", "GAT")),
    ("kmp_matcher", ('["ATCGATC", "GAT"]',), ("ATCGATC", "GAT")),
    ("graham_scan", ("[0, 4, 2, 2]", "0,0,3,1"), ([0, 4, 2, 2], [0, 0, 3, 1])),
]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    untrained(folder / "minimum", "minimum")
    untrained(folder / "dijkstra", "dijkstra")
    return folder


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save(tmp_path / "list.npy", [5, -2, 9])
    (tmp_path / "list.txt").write_text("5 -2 9\n")
    (tmp_path / "graph.txt").write_text("0 1 0\n1, 0, 2\n0 2 0\n")
    (tmp_path / "graph.json").write_text(json.dumps(LINE))
    return tmp_path


def solved(task: str, words: tuple[str, ...]) -> Sample:
    return find(task).solved(own(task, words).arguments)


@pytest.mark.parametrize(("task", "words", "arguments"), WAYS, ids=range(len(WAYS)))
def test_a_problem_may_be_given_in_many_ways(files, task, words, arguments):
    found, expected = solved(task, words), rnar.clrs.trace(task, *arguments)
    assert {name: x.tolist() for name, x in found.inputs.items()} == {
        name: x.tolist() for name, x in expected.inputs.items()
    }


def test_one_argument_may_come_from_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.StringIO("0 1 0\n1 0 2\n0 2 0\n"))
    assert solved("dijkstra", ("-", "2")).inputs["s"] == 2
    with pytest.raises(ValueError, match="standard input can be read once"):
        own("kmp_matcher", ("-", "-"))


@pytest.mark.parametrize("task", ALGORITHMS)
def test_every_task_says_what_it_takes_and_takes_its_example(task):
    takes, words = example(task).split(", as in ")
    assert takes == " ".join(find(task).problem.takes()).upper()
    assert solved(task, tuple(shlex.split(words))).task == task


def test_the_answer_is_told_in_words(run, runs):
    code, out, err = run("solve", "minimum", "0.5", "0.25", "0.75", "--network", runs / "minimum")
    assert (code, err) == (0, "")
    lines = {line.split("  ")[0]: line for line in out.splitlines()}
    assert "algorithm  the minimum is 0.25, at place 1" in out and "your own input" in lines["minimum"]
    agrees = lines["agrees"].split()[1] == "yes"
    assert ("✓ " in lines["network"]) == agrees and ("✗ " in lines["network"]) == (not agrees)
    assert "sure" in lines and "hints" in lines and "notes" in lines


def test_a_size_beyond_training_and_other_numbers_are_noted(run, runs):
    out = run("solve", "minimum", *range(1, 41), "--network", runs / "minimum")[1]
    assert "40 nodes are more than the 16 of training" in out and "moved and divided" in out


def test_a_random_problem_may_be_solved_too(run, runs):
    out = run("solve", "dijkstra", "--n", 5, "--seed", 3, "--p", "1", "--network", runs / "dijkstra")[1]
    assert "5 nodes" in out and "a random problem, seed 3" in out


def test_an_answer_may_be_a_line_of_json(run, runs):
    code, out, _ = run("solve", "minimum", "3 1 2", "--json", "--network", runs / "minimum")
    found = json.loads(out)
    assert code == 0 and found["algorithm"] == "the minimum is 1.0, at place 1" and found["true_outputs"] == {"min": 1}
    assert {"network", "agrees", "sure", "first_wrong", "notes", "score", "hints_right", "outputs"} <= found.keys()


def test_many_problems_are_lines_of_json(run, runs, tmp_path, monkeypatch):
    lines = ["[3, 1, 2]", "", "[[5, 4, 6, 7]]", '{"values": [2, 1]}', "[1", '["a", "b"]']
    (tmp_path / "many.jsonl").write_text("\n".join(lines))
    code, out, err = run("solve", "minimum", "--lines", tmp_path / "many.jsonl", "--network", runs / "minimum")
    found = [json.loads(line) for line in out.splitlines()]
    assert code == 1 and "2 of 5 lines are no problems of minimum" in err
    assert [each["line"] for each in found] == [1, 3, 4, 5, 6]
    assert [each["true_outputs"]["min"] for each in found[:3]] == [1, 1, 1]
    assert "not JSON" in found[3]["error"] and "numbers" in found[4]["error"]
    monkeypatch.setattr("sys.stdin", io.StringIO("[3, 1, 2]\n" * 40))
    code, out, _ = run("solve", "minimum", "--lines", "-", "--network", runs / "minimum", "--threads", 1)
    assert code == 0 and len({line.split('"line"')[1][6:] for line in out.splitlines()}) <= 3 and out.count("\n") == 40


def test_a_network_that_ships_is_asked_if_none_is_named(run):
    out = run("solve", "binary_search", "[1, 3, 5, 7]", "5")[1]
    card = pretrained.read_card(pretrained.folder_of("binary_search"))
    assert card is not None and "5.0 is at place 2" in out and f"{card.model}, seed {card.seed} after" in out
    other = run("solve", "binary_search", "[1, 3, 5, 7]", "5", "--network", "binary_search-rnar")[1]
    assert "rnar, seed 0 after" in other


def test_an_own_algorithm_can_be_asked(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in written(tmp_path):
        untrained(tmp_path / "run", SORT)
        assert "pred: 1, 2 and 3" in run("solve", SORT, "3", "1", "2", "--network", "run")[1]
        assert "pred: 1, 2 and 3" in run("view", SORT, "3", "1", "2", "--out", "p.html")[1] + (
            (tmp_path / "p.html").read_text()
        )


def test_what_cannot_be_solved_is_refused(run, runs, tmp_path):
    network = ("--network", runs / "minimum")
    refused(run("solve", "bsf", "1"), "no task 'bsf'", "'bfs'")
    refused(run("solve", "minimum", *network), "what shall be solved?", "5 2 9", "--n 16")
    refused(run("solve", "minimum", "five", *network), "minimum: ", "numbers", "'five'")
    refused(run("solve", "minimum", "[1, ", *network), "'[1,'", "neither JSON nor numbers nor letters nor a file")
    refused(run("solve", "minimum", "", *network), "is empty")
    refused(run("solve", "minimum", "5", *network), "at least 2")
    refused(run("solve", "minimum", "@none.txt", *network), "none.txt", "No such file")
    refused(run("solve", "minimum", "1", "2", "--seed", 3, *network), "--seed", "INPUT")
    refused(run("solve", "minimum", "1", "2", "--lines", "x", *network), "--lines")
    refused(run("solve", "minimum", "--lines", tmp_path / "none.jsonl", *network), "No such file")
    refused(run("solve", "dijkstra", "[[0, 1], [1, 0]]", "0", *network), "has not learned dijkstra", "minimum")
    refused(run("solve", "minimum", "1", "2", "--network", "nowhere"), "no folder nowhere", "ships")
    refused(run("solve", "minimum", "1", "2", "--threads", 0, *network), "threads must be 1 to 256, not 0")
    (tmp_path / "empty.jsonl").write_text("\n")
    refused(run("solve", "minimum", "--lines", tmp_path / "empty.jsonl", *network), "no line with a problem")


def test_a_task_without_a_network_says_how_to_train_one(run, nothing_ships):
    refused(run("solve", "graham_scan", "--n", 5), "no network for graham_scan ships", "rnar train graham_scan")


@pytest.mark.parametrize(
    ("text", "value"),
    [("5", 5), ("5.5", 5.5), ("1e3", 1000.0), ("5 2", [5, 2]), ("5,2\n1,0", [[5, 2], [1, 0]]), ("ATC", "ATC"),
     ('"ATC"', "ATC")],
)  # fmt: skip
def test_words_are_read_as_what_they_are(text, value):
    assert parsed(text, "") == value


DOCS = Path(__file__).parents[2] / "docs" / "tutorials" / "ask.md"
COMMANDS = [
    line
    for line in DOCS.read_text("utf-8").splitlines()
    if line.startswith("rnar solve ") and not any(word in line for word in ("runs/", "--lines"))
]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_examples_of_the_docs_are_right(run, command):
    code, out, err = run(*shlex.split(command)[1:])
    assert (code, err) == (0, "") and out.splitlines()[1].startswith("network    ✓ ")


@pytest.mark.parametrize(
    ("task", "words"),
    [("minimum", '{"self": [1, 2]}'), ("minimum", '{"task": "bfs", "values": [1, 2]}'), ("minimum", '{"n": 4}')],
)
def test_names_that_mean_nothing_are_refused(run, task, words):
    refused(run("solve", task, words), "minimum takes values, but was given")


def test_nodes_keep_their_names(run):
    out = run("solve", "dijkstra", '{"x": {"y": 2}, "y": {}, "z": {}}', "x", "--json")[1]
    found = json.loads(out)
    assert found["algorithm"] == "from node x: y from x (2.0); no path to node z" and found["names"] == ["x", "y", "z"]
    refused(run("solve", "dijkstra", '{"x": {"y": 2}, "y": {}}', "w"), "no node 'w'; the nodes are x, y")


@pytest.mark.parametrize(
    "text",
    ["a,b,2\nb,c,1", "source,target,weight\na,b,2\nb,c,1\n", "\ufefffrom;to;km\n\na;b;2\nb;c;1",
     "# roads\na b 2\nb c 1", "A\tB\tlength\na\tb\t2\nb\tc\t1", '[["a", "b", 2], ["b", "c", 1]]'],
)  # fmt: skip
def test_a_list_of_edges_may_have_a_header(text):
    assert [[*ends, float(weight)] for *ends, weight in edges_of(text, "")] == [["a", "b", 2], ["b", "c", 1]]


def test_a_header_of_two_words_is_told_from_nodes():
    assert edges_of("from,to\na,b", "") == edges_of("a,b", "") == [["a", "b"]]
    assert edges_of("left,right\n0,1\n1,2", "") == edges_of("0 1\n1 2", "") == [["0", "1"], ["1", "2"]]
    assert edges_of("u,v\nv,w", "") == [["u", "v"], ["v", "w"]]
    with pytest.raises(
        ValueError, match=r"row 2 of roads.csv has 4 words \(0 a b 1\); an edge is two nodes, or a weight"
    ):
        edges_of(",source,target\n0,a,b,1", "roads.csv")


def test_a_graph_may_be_given_as_a_list_of_edges(run, runs, files):
    (files / "roads.csv").write_text("from,to,km\nx1,y,2\ny,z z,3\n")
    network = ("--network", runs / "dijkstra")
    for words in (("--edges", "roads.csv", "x1"), ("x1", "--edges", "roads.csv")):
        out = run("solve", "dijkstra", *words, "--json", *network)[1]
        assert json.loads(out)["algorithm"] == "from node x1: y from x1 (2.0) and z z from y (5.0)"
    assert run("view", "dijkstra", "--edges", "roads.csv", "x1", "--network", "none", "--out", "page.html")[0] == 0
    assert '"labels":["x1","y","z z"]' in (files / "page.html").read_text("utf-8")
    refused(run("solve", "dijkstra", "roads.csv", "x1", *network), "neither JSON nor numbers", "given with --edges")
    refused(run("solve", "dijkstra", "[[0, 1], [1, 2]]", "0", *network), "a matrix of 2 nodes", "a list of 2 edges")
    refused(run("solve", "dijkstra", "[[0, 1], [1, 2], [2, 3]]", "0", *network), "square matrix", "--edges")
    refused(run("solve", "dijkstra", "--edges", "roads.csv", "x2", *network), "no node 'x2' (did you mean 'x1'?)")
    refused(run("solve", "minimum", "--edges", "roads.csv", "--network", runs / "minimum"), "--edges is about graphs")
    refused(run("solve", "dijkstra", "--edges", "roads.csv", "--n", 4, *network), "--n", "--edges")


def test_what_takes_long_says_what_is_begun_and_how_far_it_is(run, runs, monkeypatch):
    monkeypatch.setattr("rnar.cli.solve.LONG", 0)
    code, _, err = run("solve", "minimum", "5", "2", "9", "--network", runs / "minimum")
    assert code == 0 and err.splitlines()[0] == "rnar: solving: 2 steps of 3 nodes" and "rnar: solving: 100%" in err


def test_what_is_too_large_is_refused_before_torch_is_imported():
    program = (
        "import sys; from rnar.cli.main import main; from rnar.common import memory;"
        "memory.free_memory = lambda: 10**9;"
        "codes = [main(['solve', 'minimum', '--n', n]) for n in ('20000', '2000')];"
        "sys.exit(codes != [2, 2] or 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    assert "16 bits" in done.stderr and "2,000 nodes are too many for the network that ships" in done.stderr
    assert "need about 6.0 GB of memory, and 1.0 GB are free" in done.stderr
