"""Every model of the registry, and models of one's own."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from helpers.scoring import predict
from rnar.clrs import ALGORITHMS, Batch, sample
from rnar.evaluation.evaluate import evaluate
from rnar.models import FOUND, MODELS, Model, Paper, find, register, registry
from rnar.nn.aggregators import Max
from rnar.nn.processors.message_passing import MessagePassing
from rnar.nn.reasoner import Reasoner
from rnar.runtime import Workers

SIZE = 16


TASKS = ["quickselect", "bfs", "insertion_sort", "floyd_warshall", "minimum"]


def batch_of(task: str, size: int = 3) -> Batch:
    n = {"naive_string_matcher": 8, "kmp_matcher": 8}.get(task, 5)
    return sample(task, n=n, batch=size, seed=0)


def weights(network: Reasoner) -> dict[str, Tensor]:
    return dict(network.named_parameters())


@pytest.mark.parametrize("task", TASKS)
@pytest.mark.parametrize("name", MODELS)
def test_a_model_predicts_and_learns(name, task):
    model = MODELS[name]
    network = model.build([task], size=SIZE)
    batch = model.batch(batch_of(task))
    loss = network.loss(batch)
    loss.backward()
    assert loss.isfinite()
    gradients = [p.grad for p in network.parameters() if p.grad is not None]
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert sum(gradient.abs().sum() for gradient in gradients) > 0
    outputs = predict(network, batch).outputs
    assert outputs.keys() == model.spec(task).outputs.keys()
    for logits in outputs.values():
        for x in [logits] if isinstance(logits, Tensor) else logits:
            assert len(x) == batch.size and x.isfinite().all()


@pytest.mark.parametrize("name", MODELS)
def test_a_seed_decides_the_weights_and_nothing_else(name):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    first, again, other = (weights(MODELS[name].build(["bfs"], size=SIZE, seed=seed)) for seed in (1, 1, 2))
    assert torch.equal(torch.rand(3), expected)  # as if no network had been built
    assert first.keys() == again.keys() == other.keys()
    assert all(torch.equal(first[key], again[key]) for key in first)
    assert all(not torch.equal(x, other[key]) for key, x in first.items() if x.dim() > 1 and x.any())


@pytest.mark.parametrize("task", ALGORITHMS)
@pytest.mark.parametrize("name", MODELS)
def test_the_features_of_a_task_are_those_of_its_batches(name, task):
    model = MODELS[name]
    spec, batch = model.spec(task), model.batch(batch_of(task))
    for features, arrays, left_out in zip(spec, batch.stages.values(), (model.without, (), ()), strict=True):
        assert features.keys() == arrays.keys() - set(left_out)
        for key, feature in features.items():
            array = arrays[key]
            leading = batch.hints[key].shape[:2] if key in spec.hints else (batch.size,)
            assert array.dtype == feature.dtype, key
            assert array.shape == (*leading, *feature.shape(batch.nodes)), key


@pytest.mark.parametrize("task", ALGORITHMS)
@pytest.mark.parametrize("name", MODELS)
def test_a_batch_seen_twice_is_the_batch_seen_once(name, task):
    once = MODELS[name].batch(batch_of(task))
    assert MODELS[name].batch(once) is once


def test_a_batch_says_how_it_is_seen_and_no_other_model_takes_it_for_its_own():
    rnar, baseline, transformer = MODELS["rnar"], MODELS["triplet-gmpnn"], MODELS["rt"]
    drawn = batch_of("quickselect")
    seen = rnar.batch(drawn)
    assert drawn.seen_as is None and seen.seen_as == seen[:2].seen_as == rnar.spec("quickselect")
    assert baseline.batch(seen) is seen  # the same features
    assert transformer.batch(drawn).hints.keys() != seen.hints.keys()
    with pytest.raises(ValueError, match="as a model with other features sees it; rt needs it as drawn"):
        transformer.batch(seen)
    for name, x in rnar.batch(seen[0]).hints.items():  # a sample does not say how it is seen
        assert np.array_equal(x, seen[:1].hints[name])


def test_a_batch_with_the_names_of_a_view_is_not_taken_for_one():
    """What a user has added under such a name is not what the model sees there."""
    drawn = batch_of("bfs")
    wrong = drawn._replace(hints={**drawn.hints, "pi_h_reversed": np.zeros((1,))})
    reversed_ = MODELS["rnar"].batch(drawn).hints["pi_h_reversed"]
    assert np.array_equal(MODELS["rnar"].batch(wrong).hints["pi_h_reversed"], reversed_)


def test_the_order_of_a_list_is_a_hint_for_the_relational_transformer_alone():
    for model in MODELS.values():
        batch = model.batch(batch_of("minimum"))
        assert ("pred" in batch.inputs, "pred_h" in batch.hints) == (model.name != "rt", model.name == "rt")
    repeated = MODELS["rt"].batch(batch_of("minimum")).hints["pred_h"]
    assert (repeated == batch_of("minimum").inputs["pred"]).all()


def test_orders_of_all_nodes_are_plain_pointers_for_the_relational_transformer_alone():
    for model in MODELS.values():
        kind = "pointer" if model.name == "rt" else "permutation"
        assert model.spec("quicksort").outputs["pred"].kind == kind


def test_pointers_are_reversed_for_rnar_its_baseline_and_what_is_made_of_them():
    reversing = {name for name, model in MODELS.items() if "pi_h_reversed" in model.spec("bfs").hints}
    baselines = {"mpnn", "pgn", "rt", "forgetnet", "g-forgetnet", "rnar-mpnn"}
    assert reversing == MODELS.keys() - baselines
    batch = MODELS["rnar"].batch(batch_of("bfs"))
    for i in range(batch.nodes):
        for b in range(batch.size):
            assert np.flatnonzero(batch.hints["pi_h_reversed"][0, b, :, i]).tolist() == [batch.hints["pi_h"][0, b, i]]


def test_a_transposed_pointer_is_encoded_by_a_map_of_its_own_and_predicted_by_none():
    model = replace(MODELS["rnar"], reversal="transpose")
    plain = replace(MODELS["rnar"], reversal="none")
    assert model.spec("bfs") == plain.spec("bfs")
    network, batch = model.build("bfs", size=SIZE).double(), model.batch(batch_of("bfs"))
    forward, backward = network.heads_of("bfs").hints.maps["pi_h"]
    assert network(batch).losses.keys() == plain.build("bfs", size=SIZE)(batch).losses.keys()
    before = network(batch).losses["pi"].total
    with torch.no_grad():  # what the transpose alone can do, the pointer alone can: a swap of the maps is not the same
        forward.weight[:], backward.weight[:] = backward.weight.clone(), forward.weight.clone()
    assert not torch.isclose(before, network(batch).losses["pi"].total)
    symmetric = batch._replace(hints={**batch.hints, "pi_h": np.broadcast_to(
        np.arange(batch.nodes, dtype=np.int16), batch.hints["pi_h"].shape)})  # fmt: skip
    network.hints = replace(network.hints, source="truth")  # pointers to oneself: their transpose is the same
    first = network(symmetric).losses["pi"].total
    with torch.no_grad():
        forward.weight[:], backward.weight[:] = backward.weight.clone(), forward.weight.clone()
    assert torch.isclose(first, network(symmetric).losses["pi"].total)


def test_a_model_refuses_another_reversal():
    with pytest.raises(ValueError, match="reversal must be none or mask or transpose, not 'both'"):
        replace(MODELS["rnar"], reversal="both")


def test_without_positions_their_values_do_not_matter():
    batch = batch_of("quickselect")
    moved = batch._replace(inputs={**batch.inputs, "pos": batch.inputs["pos"] ** 2})
    for name, matters in (("rnar", True), ("rnar-nope", False)):
        network = MODELS[name].build(["quickselect"], size=SIZE)
        found = [predict(network, MODELS[name].batch(each)).outputs["median"] for each in (batch, moved)]
        assert torch.equal(*found) != matters


def test_a_hintless_task_has_neither_hints_nor_losses_of_them_and_others_have():
    model = replace(MODELS["triplet-gmpnn"], hintless=("binary_search",), static_reversal=True)
    network = model.build(["binary_search", "minimum"], size=SIZE)
    for task, names in (("binary_search", {"return"}), ("minimum", {"min", "min_h", "i"})):
        batch = batch_of(task)
        assert network(model.batch(batch)).losses.keys() == names
        assert Workers(network, threads=1).backward(model.batch(batch)).keys() == names
        assert model.batch(model.batch(batch)) is not batch and "pred_reversed" in model.batch(batch).inputs
        assert evaluate(network, batch, view=model.batch).samples == batch.size


def test_without_positions_in_training_alone_and_the_seed_decides():
    batch = batch_of("minimum")
    moved = batch._replace(inputs={**batch.inputs, "pos": batch.inputs["pos"] ** 2})
    network = replace(MODELS["mpnn"], without_positions=0.5).build("minimum", size=SIZE)

    def same(seed: int) -> bool:
        first, second = (network(each, seed).losses["min"].total for each in (batch, moved))
        return torch.equal(first, second)

    forgotten = [same(seed) for seed in range(40)]
    assert 8 < sum(forgotten) < 32 and forgotten == [same(seed) for seed in range(40)]
    network.eval()
    assert not any(same(seed) for seed in range(10))
    with pytest.raises(ValueError, match="without_positions is a probability, from 0 to 1, not 2"):
        replace(MODELS["mpnn"], without_positions=2).build("minimum", size=SIZE)


def test_parameters_are_as_many_as_the_papers_have():
    """Counted by hand from the papers' equations at their own sizes (processors alone)."""
    size, lstm, gru = 128, 4 * 128 * 257, 3 * 128 * 257
    mpnn = 3 * (2 * size + 1) * size + 5 * (size + 1) * size + 2 * size
    triplets = 3 * (2 * size + 1) * 8 + 4 * (size + 1) * 8 + 9 * size
    gate = (2 * size + 1) * size + 2 * (size + 1) * size
    assert mpnn + triplets + gate == 258_872  # of the reference's Triplet-GMPNN
    expected = {
        "mpnn": mpnn,
        "pgn": mpnn,
        "triplet-gmpnn": mpnn + triplets + gate,
        "rnar": mpnn + triplets + gate + lstm,
        "rnar-nope": mpnn + triplets + gate + lstm,
        "rnar-janossy-3": mpnn + triplets + gate + lstm,
        "rnar-mpnn": mpnn + lstm,
        "rnar-gru": mpnn + triplets + gate + gru,
        "rt": 1_098_408,
    }
    for name, count in expected.items():
        processor = MODELS[name].processor(MODELS[name].size)
        assert sum(p.numel() for p in processor.parameters()) == count, name


def test_several_tasks_share_a_processor():
    network = MODELS["mpnn"].build(["bfs", "minimum"], size=SIZE)
    for task in ("bfs", "minimum"):
        assert predict(network, batch_of(task)).outputs.keys() == ALGORITHMS[task].spec.outputs.keys()
    shared = sum(p.numel() for p in network.processor.parameters())
    alone = [MODELS["mpnn"].parameters(task, SIZE) for task in ("bfs", "minimum")]
    assert sum(p.numel() for p in network.parameters()) == sum(alone) - shared


@pytest.mark.parametrize("name", MODELS)
def test_every_model_says_what_it_is(name):
    model = MODELS[name]
    assert model.name == name
    assert isinstance(model.paper, Paper) != model.differs.startswith("Not in a paper: ")
    for text in (model.equation, model.differs):
        assert 10 < len(text) < 120 and "\n" not in text
    assert re.fullmatch(r"[A-Z].*[^.]\.", model.differs)


def test_what_was_found_is_of_models_that_there_are():
    assert FOUND.keys() < MODELS.keys()


def own(name: str) -> Model:
    return Model(name, lambda size: MessagePassing(size, Max(size)))


def test_a_model_of_ones_own_gets_a_name(monkeypatch):
    monkeypatch.setattr(registry, "MODELS", dict(MODELS))
    model = register(own("mine"))
    assert find("mine") is model
    with pytest.raises(ValueError, match="there is a model 'mine' already"):
        register(own("mine"))
    with pytest.raises(ValueError, match="there is a model 'rnar' already"):
        register(own("rnar"))


@pytest.mark.parametrize("name", ["", "a:b", "two words", "up/down", "*", "-flag"])
def test_a_name_that_is_no_name_is_an_error(name):
    with pytest.raises(ValueError, match=re.escape(f"cannot be called {name!r}")):
        own(name)


def test_an_unknown_model_is_an_error_that_knows_the_others():
    with pytest.raises(
        ValueError, match=r"no model 'rnar-gur' \(did you mean 'rnar-gru'\?\); there are mpnn, pgn, .*rt"
    ):
        find("rnar-gur")
    with pytest.raises(ValueError, match=r"no model 'zzz'; there are mpnn, .*, and module:attribute for yours"):
        find("zzz")


def test_what_cannot_be_built_is_an_error():
    with pytest.raises(ValueError, match="size must be a whole number from 1 to 8,192 or None, not 0"):
        MODELS["mpnn"].build(["bfs"], size=0)
    with pytest.raises(ValueError, match="at least one task"):
        MODELS["mpnn"].build([])
    with pytest.raises(ValueError, match=r"no task 'bsf' \(did you mean 'bfs'\?\)"):
        MODELS["mpnn"].build(["bsf"])
    with pytest.raises(ValueError, match="choose a multiple of 16"):
        MODELS["rt"].build(["bfs"], size=100)


@pytest.mark.usefixtures("my_models")
def test_the_example_of_the_documentation_is_a_model():
    model = find("my_models:mine")
    network, batch = model.build(["bfs"], size=SIZE), model.batch(batch_of("bfs"))
    assert predict(network, batch).outputs["pi"].shape == (3, 5, 5)  # type: ignore[union-attr]
    assert len(re.findall(r"[^\n]+", Path("my_models.py").read_text())) <= 12


@pytest.mark.usefixtures("my_models")
def test_what_cannot_be_imported_is_an_error():
    with pytest.raises(ValueError, match="'my_models' has no model 'yours'; it has mine"):
        find("my_models:yours")
    with pytest.raises(ValueError, match="'my_models' has no model 'Soft'; it has mine"):
        find("my_models:Soft")
    with pytest.raises(ValueError, match="cannot import 'nowhere' for the model 'nowhere:mine': No module named"):
        find("nowhere:mine")
    for name in (":", "my_models:", ":mine", "my-models:mine", "a:b:c"):
        with pytest.raises(ValueError, match="does not name a model in a module, as my_models:mine would"):
            find(name)
