"""A network that is asked: how it is found, what it answers, what it says of itself."""

from __future__ import annotations

import json

import numpy as np
import pytest

import rnar
from helpers.inference import forged, untrained
from helpers.own_tasks import SORT, written
from rnar.clrs import ALGORITHMS
from rnar.inference.answer import Answer
from rnar.inference.page import Line
from rnar.inference.problem import Problem
from rnar.inference.solver import AT_ONCE, Solver

A = [[0, 1, 0], [1, 0, 2], [0, 2, 0]]


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    untrained(folder / "minimum", "minimum")
    untrained(folder / "both", "quickselect", "dijkstra", model="mpnn")
    return folder


def test_a_network_knows_what_it_is(runs):
    solver = rnar.load(runs / "both")
    assert solver.tasks == ("quickselect", "dijkstra") and solver.model == "mpnn"
    assert solver.tests == {} and solver.card is None
    assert solver.domains["dijkstra"].sizes == [4, 7, 11, 13, 16]
    assert (
        "quickselect, dijkstra: mpnn, seed 0" in repr(solver)
        and "<td>quickselect, dijkstra</td>" in solver._repr_html_()
    )


def test_an_answer_tells_both_answers_and_where_they_part(runs):
    answer = rnar.solve("minimum", [0.5, 0.25, 0.75], network=runs / "minimum")
    assert answer.algorithm == "the minimum is 0.25, at place 1"
    assert answer.network.startswith("the minimum is 0.") and answer.agrees == (answer.network == answer.algorithm)
    assert 0 < answer.sure <= 1 and answer.sureness in (f"{answer.sure:.0%}", ">99%")
    said = str(answer)
    assert all(text in said for text in (answer.network, answer.algorithm, answer.hints)) and repr(answer)
    assert [line.tone for line in answer.lines()][0] == ("right" if answer.agrees else "wrong")


def test_the_same_network_may_be_asked_of_each_of_its_tasks(runs):
    solver = rnar.load(runs / "both")
    assert solver.solve([3.0, 1.0, 2.0], task="quickselect").task == "quickselect"
    assert solver.solve(A=A, s=0, task="dijkstra").sample.inputs["s"] == 0
    with pytest.raises(
        ValueError, match="which task. this network has learned quickselect, dijkstra; give one as task="
    ):
        solver.solve([3.0, 1.0])
    with pytest.raises(ValueError, match="has not learned bfs; it has learned quickselect, dijkstra"):
        rnar.solve("bfs", A, 0, network=solver)


def test_many_problems_are_answered_in_their_order_as_each_alone(runs):
    """In double precision: what hangs on the last bit of a sum may fall either way where others are beside it."""
    solver, rng = rnar.load(runs / "minimum"), np.random.default_rng(0)
    solver.reasoner = solver.reasoner.double()
    problems = [Problem.own("minimum", rng.random(n)) for n in rng.integers(2, 6, size=AT_ONCE + 5)]
    told: list[float] = []
    answers = list(solver.answers(problems, told.append, threads=2))
    assert [answer.sample is problem.sample for answer, problem in zip(answers, problems, strict=True)]
    assert sum(told) == pytest.approx(2)  # twice as many as are solved at once
    for answer, problem in zip(answers, problems, strict=True):
        (alone,) = solver.answers([problem])
        assert answer.plain() == alone.plain()


def test_solving_gives_freed_memory_back(runs, monkeypatch):
    """What training keeps of it is as much again as a large problem needs: 1.5 GB for 500 numbers, in place of 0.8."""
    monkeypatch.setattr("rnar.runtime.workers.keep_freed_memory", lambda: pytest.fail("it is kept"))
    assert rnar.solve("minimum", [3, 1], network=runs / "minimum").sample.nodes == 2


def test_plain_data_are_json(runs):
    plain = rnar.solve("minimum", [3, 1], network=runs / "minimum").plain()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["true_outputs"] == {"min": 1} and plain["steps"] == 2 and plain["nodes"] == 2


def test_a_size_that_was_not_trained_on_is_told(runs):
    solver, keys = rnar.load(runs / "minimum"), np.linspace(0, 1, 20)
    assert solver.solve(keys[:16]).notes == ()
    assert solver.solve(keys).notes == ("20 nodes are more than the 16 of training",)
    assert solver.solve(keys[:3]).notes == ("3 nodes are fewer than the 4 of training",)


@pytest.mark.parametrize(
    ("task", "arguments", "said"),
    [("insertion_sort", ([0.5, 0.5, 0.2, 0.1],), "equal numbers in key"),
     ("binary_search", ([0.1, 0.2, 0.3, 0.4], 0.3), "a target that is one of the keys"),
     ("binary_search", ([0.1, 0.2, 0.3, 0.4], 0.35), ""),
     ("dijkstra", ([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 1], [0, 0, 1, 0]], 0), "edges of equal weight"),
     ("bfs", ([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]], 0), ""),
     ("task_scheduling", ([1, 40, 2, 3], [0.1, 0.2, 0.3, 0.4]), "d of 1.0 to 40.0, in place of 1.0 to 16.0"),
     ("kmp_matcher", ("ATCGATCGAATTATCG", "ATCGATCGAATTA"), "the length of the second string of 13.0, in place of")],
)  # fmt: skip
def test_what_no_training_problem_has_is_told(tmp_path, task, arguments, said):
    notes = "; ".join(rnar.load(untrained(tmp_path / "run", task)).solve(*arguments).notes)
    assert f"not seen in training: {said}" in notes if said else "not seen" not in notes


def test_a_graph_that_is_not_connected_is_told_where_all_were_in_training(tmp_path):
    folder = untrained(tmp_path / "run", "bfs")
    config = json.loads((folder / "config.json").read_text())
    config["data"]["bfs"]["options"]["p"] = 1.0
    (folder / "config.json").write_text(json.dumps(config))
    ring = [[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]]
    assert "a graph that is not connected" in rnar.load(folder).solve(ring, 0).notes[0]


def test_numbers_out_of_range_are_told_and_answered_in_the_users_own(runs):
    answer = rnar.solve("minimum", [50, 20, 90], network=runs / "minimum")
    assert "moved and divided" in answer.notes[-1] and answer.algorithm == "the minimum is 20.0, at place 1"
    assert answer.belief.sample.inputs["key"].max() == 1 and "20" in answer.view().html


@pytest.mark.parametrize("task", ALGORITHMS)
def test_an_answer_to_any_task_shows_itself(task):
    sample = rnar.sample(task, n=15, batch=1, seed=1).sample(0)
    for wrong in (0.0, 0.3):
        answer = Answer(sample, forged(sample, wrong=wrong), "nobody", "nowhere")
        assert (answer.agrees or wrong > 0) and answer.algorithm and answer.hints
        assert (answer.network == answer.algorithm) or not answer.agrees
        assert "srcdoc" in answer._repr_html_() and all(isinstance(line, Line) for line in answer.lines())


def test_an_answer_that_is_as_good_counts_as_right():
    sample = rnar.trace("insertion_sort", [0.5, 0.25, 0.5, 0.75])
    belief = forged(sample, wrong=0.0)
    belief.outputs["pred"].decided[:] = [2, 1, 1, 0]
    answer = Answer(sample, belief)
    assert not answer.agrees and answer.right and answer.lines()[0].tone == "right"
    assert answer.agreement == "right, another order among equals (3 of 4 entries differ)"
    plain = answer.plain()
    assert (plain["agrees"], plain["right"], plain["equally_good"]) == (False, True, "another order among equals")


def test_hints_are_told_with_their_step():
    sample = rnar.trace("quickselect", [0.5, 0.25, 0.75, 0.125])
    steps = sample.steps - 1
    assert Answer(sample, forged(sample, wrong=0.0)).hints == f"all right in {steps} steps"
    belief = forged(sample, wrong=0.0)
    belief.hints["pred_h"].decided[2] = sample.hints["pred_h"][3]
    belief.hints["pred_h"].decided[2, :2] = (sample.hints["pred_h"][3, :2] + 1) % 4
    assert Answer(sample, belief).hints.startswith(f"first wrong at step 3 of {steps}: pred_h (2 of 4 entries); 9")


def test_numbers_are_no_decisions_and_are_told_apart():
    sample = rnar.trace("quickselect", [0.5, 0.25, 0.75, 0.125])
    belief, steps = forged(sample, wrong=0.0), sample.steps - 1
    belief.hints["i_rank"].decided[1] += 1
    assert Answer(sample, belief).hints.startswith(f"all decisions right in {steps} steps, not all numbers; 9")


def test_a_hint_of_one_entry_is_told_with_what_it_should_be():
    sample = rnar.trace("minimum", [0.5, 0.25, 0.75])
    belief = forged(sample, wrong=0.0)
    belief.hints["min_h"].decided[1] = 2
    assert Answer(sample, belief).hints.startswith("first wrong at step 2 of 2: min_h is 0.75 and should be 0.25;")
    sample = rnar.trace("heapsort", [0.5, 0.25, 0.75])
    belief = forged(sample, wrong=0.0)
    belief.hints["phase"].decided[0] = 2
    assert (
        "step 1 of" in Answer(sample, belief).hints
        and "phase is repair and should be build" in Answer(sample, belief).hints
    )


def test_what_does_not_fit_into_memory_is_refused(runs, monkeypatch):
    monkeypatch.setattr("rnar.common.memory.free_memory", lambda: 1000)
    monkeypatch.setattr("rnar.common.memory.LITTLE", 1000)
    with pytest.raises(ValueError, match="minimum: .* need about 0.0 GB of memory, and 0.0 GB are free"):
        rnar.solve("minimum", [3, 1, 2], network=runs / "minimum")


def test_an_own_algorithm_can_be_asked(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in written(tmp_path):
        untrained(tmp_path / "run", SORT)
        answer = rnar.load("run").solve([3.0, 1.0, 2.0])
        assert answer.algorithm == "pred: 1, 2 and 3" and answer.task == SORT
        assert rnar.view(SORT, [3.0, 1.0], network="run").html


def test_a_network_that_is_not_there_is_an_error_that_says_what_is(runs, tmp_path):
    with pytest.raises(ValueError, match="there is no folder qickselect, and no network 'qickselect'"):
        rnar.load("qickselect")
    with pytest.raises(
        ValueError, match=r"is no folder of a run: it has no config.json; below it are .*both, .*minimum"
    ):
        rnar.load(runs)
    with pytest.raises(ValueError, match="there is none below it either"):
        rnar.load(tmp_path)
    with pytest.raises(ValueError, match="no task 'bsf'"):
        rnar.solve("bsf", A, 0)
    with pytest.raises(ValueError, match="minimum: key must hold numbers only"):
        rnar.solve("minimum", ["a", "b"], network=runs / "minimum")


def test_a_page_may_be_of_a_random_problem_or_an_own_one_with_a_network_or_without(runs):
    alone = rnar.view("dijkstra", network=None)
    assert "8 nodes" in alone.title and '"network":false' in alone.html
    assert "11 nodes" in rnar.view("dijkstra", n=11, seed=3, p=0.9, network=runs / "both").title
    assert "3 nodes" in rnar.view("dijkstra", A, s=0, network=runs / "both").title
    assert '"network":true' in rnar.view("dijkstra", A, 0, network=Solver(runs / "both")).html
    with pytest.raises(ValueError, match="n and seed are about random problems"):
        rnar.view("dijkstra", A, 0, seed=3)


def test_where_no_network_ships_a_page_shows_the_algorithm_alone_and_solve_says_how_to_train(nothing_ships):
    assert '"network":false' in rnar.view("graham_scan").html
    with pytest.raises(ValueError, match="no network for graham_scan ships with rnar .* rnar train graham_scan"):
        rnar.solve("graham_scan", [0, 1, 0], [0, 0, 1])
