"""Which network of a run is tested, and what is told of the others."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import torch

import rnar.clrs
from helpers.training import small_test, tiny
from rnar.evaluation.evaluate import evaluate
from rnar.evaluation.sets import ProblemSet
from rnar.models import find
from rnar.report.scores import Trial
from rnar.report.trials import evaluated
from rnar.runtime.workers import Workers
from rnar.training import Run, Settings, files, learner, testing, train
from rnar.training.data import ood_set, selection_samples, selection_set, validation_set


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(testing, "official", small_test)


def state_of(path):
    return files.unpack((path / "state.safetensors").read_bytes(), path)


def scored_by_step(monkeypatch, validation, selection=()):
    """Let networks have given scores, by the order in which they are tried."""
    scores = iter([*validation, *selection])

    class Scored:
        def __init__(self):
            self.score = next(scores)

    monkeypatch.setattr(learner, "evaluate", lambda *_, **__: Scored())


@pytest.mark.parametrize(
    ("validation", "steps"),
    [
        ([0.1, 1.0, 0.9, 1.0, 1.0, 0.2, 0.3], [8, 6, 2, 4]),  # equally good: the later
        ([0.5, 0.4, 0.3, 0.2, 0.1, 0.0, 0.0], [0, 2, 4, 6]),
    ],
)
def test_the_few_best_are_kept_and_a_tie_goes_to_the_later(small, monkeypatch, tmp_path, validation, steps):
    scored_by_step(monkeypatch, validation)
    settings = tiny(tmp_path / "run", steps=12, selection_samples=0, ood_samples=0)
    result = train(settings)
    assert [each["step"] for each in state_of(settings.path)[1]["candidates"]] == steps
    assert (result.best_step, result.validation, result.candidates) == (steps[0], validation[steps[0] // 2], ())


def test_the_best_of_them_on_more_samples_is_tested(small, monkeypatch, tmp_path):
    settings = tiny(tmp_path / "run", steps=12, ood_samples=0)
    # candidates are compared the best first: steps 8, 6, 2, 4
    scored_by_step(monkeypatch, [0.1, 1.0, 0.9, 1.0, 1.0, 0.2, 0.3], selection=[0.6, 0.8, 0.7, 0.8])
    result = train(settings)
    assert [(each.step, each.score) for each in result.candidates] == [(8, 0.6), (6, 0.8), (2, 0.7), (4, 0.8)]
    assert (result.best_step, result.validation, result.selection_samples) == (6, 1.0, 4)
    tensors, _ = state_of(settings.path)
    for name, tensor in Run(settings.path).network().state_dict().items():
        assert torch.equal(tensor, tensors[f"candidate/6/{name}"])


def test_candidates_are_compared_on_samples_that_none_was_chosen_by(small, tmp_path):
    settings = tiny(tmp_path / "run").resolved()
    usual = replace(settings, selection_samples=None, validation_samples=8)
    chosen, more = validation_set(usual, "minimum").inputs["key"], selection_set(usual, "minimum").inputs["key"]
    assert more.shape == (4096, 16)
    assert not {row.tobytes() for row in chosen} & {row.tobytes() for row in more}
    assert selection_samples(usual, "bfs") == 1024 and selection_samples(usual, "find_maximum_subarray_kadane") == 2048
    assert ood_set(settings, "minimum").inputs["key"].shape == (2, 32)
    assert ood_set(replace(settings, ood_n=64), "minimum").inputs["key"].shape == (2, 64)


def test_the_test_of_the_last_network_and_of_the_average_stand_beside_that_of_the_selected(small, tmp_path):
    settings = tiny(tmp_path / "run", average=0.5, model="mpnn", learning_rate=0.02)
    result, run = train(settings), Run(settings.path)
    batch = run.model.batch(small_test("bfs", "test"))
    for which, tests in (("best", result.tests), ("last", result.last), ("average", result.average)):
        assert tests["bfs"].score == evaluate(Workers(run.network(which=which), 1), batch).score
    last, average = run.network(which="last").state_dict(), run.network(which="average").state_dict()
    assert any(not torch.equal(last[name], average[name]) for name in last)
    assert all(line[name].keys() == {"bfs"} for name in ("average", "ood", "ood_average") for line in run.metrics)
    assert {line["ood_n"] for line in run.metrics} == {32}
    batch = ood_set(settings.resolved(), "bfs")
    for name, which in (("ood", "last"), ("ood_average", "average")):
        assert run.metrics[-1][name]["bfs"] == evaluate(Workers(run.network(which=which), 1), batch).score
    assert json.loads((run.path / "result.json").read_text())["average"]["bfs"]["score"] == result.average["bfs"].score


def test_the_average_follows_the_weights(small, tmp_path):
    """After each step the mean of itself and the weights, for a decay of a half: two runs of one step more tell."""
    networks = [tiny(tmp_path / str(steps), steps=steps, average=0.5, validate_every=1) for steps in (1, 2)]
    for settings in networks:
        train(settings)
    first = networks[0].architecture.build("bfs", 8, 0).state_dict()
    after = [Run(settings.path).network(which="last").state_dict() for settings in networks]
    for name, mean in Run(networks[1].path).network(which="average").state_dict().items():
        torch.testing.assert_close(mean, (first[name] + after[0][name]) / 4 + after[1][name] / 2)


def test_an_average_changes_nothing_else(small, tmp_path):
    plain, beside = train(tiny(tmp_path / "plain")), train(tiny(tmp_path / "beside", average=0.9))
    assert plain.tests == beside.tests and plain.average is None
    with pytest.raises(ValueError, match="has no average of the weights; train with --average"):
        Run(tmp_path / "plain").network(which="average")


def test_a_state_of_an_older_version_goes_on(small, tmp_path):
    """It kept one network, the best; its settings did not know of a selection."""
    whole = train(tiny(tmp_path / "whole", steps=8, validate_every=4))
    path = tmp_path / "older"
    train(tiny(path, steps=4, validate_every=4))
    tensors, notes = state_of(path)
    best = notes.pop("candidates")[0]
    kept = {name: x for name, x in tensors.items() if not name.startswith("candidate/")}
    kept |= {f"best/{name.split('/', 2)[2]}": x for name, x in tensors.items() if f"candidate/{best['step']}/" in name}
    (path / "state.safetensors").write_bytes(files.pack(kept, {**notes, "best": best}))
    config = json.loads((path / "config.json").read_text())
    for name in ("without", "average", "selection_samples"):
        del config["settings"][name]
    (path / "config.json").write_text(json.dumps(config))
    result = json.loads((path / "result.json").read_text())
    for name in ("candidates", "selection_samples", "last", "average"):
        del result[name]
    (path / "result.json").write_text(json.dumps(result))
    assert Run(path).result.last is None
    assert train(tiny(path, steps=8, validate_every=4)).last == whole.last
    ours, theirs = (Run(tmp_path / name).network(which="last").state_dict() for name in ("older", "whole"))
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


# ---- what the network sees


def test_hints_can_be_left_out_and_their_reversals_with_them():
    model = Settings("quickselect", without=("pivot", "pred_h", "pos")).resolved().architecture
    spec = model.spec("quickselect")
    assert not {"pivot", "pred_h", "pred_h_reversed"} & spec.hints.keys() and "pos" not in spec.inputs
    batch = model.batch(rnar.clrs.sample("quickselect", 5, 2, 0))
    assert batch.hints.keys() == spec.hints.keys()
    assert model.batch(batch) is batch
    usual = find("rnar").spec("quickselect")
    assert {"pivot", "pred_h_reversed"} <= usual.hints.keys()


def test_what_is_left_out_has_a_folder_of_its_own_and_must_exist():
    assert Settings("quickselect", without="pivot").path.parts[-2] == "rnar-without-pivot"
    with pytest.raises(ValueError, match="without 'pivo': there is no such input or hint .did you mean 'pivot'"):
        Settings("quickselect", without="pivo").resolved()


# ---- what is fed as hints when a network is tried


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    path = tmp_path_factory.mktemp("learned") / "run"
    train(Settings("insertion_sort", model="mpnn", size=16, batch=8, sizes=(4, 5), steps=60, validate_every=30,
                   validation_samples=8, selection_samples=8, test_samples=1, threads=1, folder=path))  # fmt: skip
    return Run(path)


def test_true_hints_are_what_a_teacher_feeds(learned):
    batch = learned.model.batch(rnar.clrs.sample("insertion_sort", 6, 4, 0))
    taught = learned.network().train()
    taught.hints = replace(taught.hints, teacher=1.0)
    told, own = Trial(source="truth").network(learned, "cpu").eval(), learned.network().eval()
    one, other, usual = (net(batch, hints=True).hints["pred_h"] for net in (taught, told, own))
    assert torch.equal(one, other) and not torch.allclose(one, usual)


def test_where_nothing_is_fed_what_was_predicted_does_not_matter(learned):
    batch = learned.model.batch(rnar.clrs.sample("insertion_sort", 6, 4, 0))
    for source, matters in (("network", True), ("nothing", False)):
        network = Trial(source=source).network(learned, "cpu").eval()
        before = network(batch).outputs["pred"].pointers
        for parameter in network.heads_of("insertion_sort").decode_hints.parameters():
            parameter.data += 1.0
        assert torch.allclose(network(batch).outputs["pred"].pointers, before) != matters


def test_true_hints_are_at_hand_in_an_evaluation(learned):
    """Which otherwise takes the first hint alone."""
    problems = [ProblemSet("insertion_sort", 8, 16, 1, False)]
    found = {source: next(iter(evaluated(learned, problems, threads=1, trial=Trial(source=source)))) for source in
             ("network", "truth", "nothing")}  # fmt: skip
    assert len({each.evaluation.score for each in found.values()}) > 1


def test_hard_hints_are_decisions(learned):
    batch = learned.model.batch(rnar.clrs.sample("insertion_sort", 6, 4, 0))
    soft, hard = learned.network(), Trial(hard=True).network(learned, "cpu")
    assert not soft.hints.hard and hard.hints.hard
    one, other = (net.eval()(batch, hints=True).hints["pred_h"] for net in (soft, hard))
    assert torch.equal(one[0], other[0])  # the first step is fed the same
    assert not torch.allclose(one[-1], other[-1])
    assert str(Trial("last", True, "truth")) == "the last network, true hints fed in, hard hints"
