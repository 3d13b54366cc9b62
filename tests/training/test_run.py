"""Runs that are read again, and what is no run."""

from __future__ import annotations

import pytest
import torch

import rnar.clrs
from helpers.training import tiny
from rnar.evaluation import evaluate
from rnar.training import Run, Settings, train
from rnar.training import files as training_files


def test_what_is_no_run_is_refused(tmp_path, finished):
    run, _ = finished
    with pytest.raises(ValueError, match="is no folder of a run: it has no config.json"):
        Run(tmp_path)
    config = tmp_path / "config.json"
    for text, said in [
        ("{", "not JSON"),
        ("[]", "expected object, got array"),
        ('{"settings": 3}', "settings: expected"),
    ]:
        config.write_text(text)
        with pytest.raises(ValueError, match=f"config.json is damaged or not of a run.*{said}"):
            Run(tmp_path)
    config.write_text((run.path / "config.json").read_text())
    with pytest.raises(ValueError, match="has no best.safetensors"):
        Run(tmp_path).network()


def test_weights_that_do_not_fit_are_named(tmp_path, finished):
    run, _ = finished
    weights, _ = training_files.unpack((run.path / "best.safetensors").read_bytes(), run.path)
    (tmp_path / "config.json").write_text((run.path / "config.json").read_text())
    best = tmp_path / "best.safetensors"

    def refused(changed: dict[str, torch.Tensor]) -> str:
        best.write_bytes(training_files.pack(changed, {}))
        with pytest.raises(ValueError) as caught:
            Run(tmp_path).network()
        assert str(caught.value).startswith(f"{best} does not fit the run's network: it ")
        return str(caught.value)

    one, *_ = weights
    assert refused({name: x for name, x in weights.items() if name != one}).endswith(f"it lacks {one}")
    assert refused({**weights, "more": torch.zeros(1)}).endswith("it has besides more")
    assert f"it has in other shapes {one} (1, 2) for" in refused({**weights, one: torch.zeros(1, 2)})
    best.write_bytes((run.path / "best.safetensors").read_bytes()[:-1])
    with pytest.raises(ValueError, match="best.safetensors is damaged or not of a run"):
        Run(tmp_path).network()


def test_a_network_comes_back_ready_to_be_used(small, tmp_path):
    """In evaluation mode: in training mode the answers of a sorting network are drawn at random."""
    settings = Settings("insertion_sort", size=8, batch=3, sizes=(4,), steps=2, validate_every=2, validation_samples=4,
                        selection_samples=2, ood_samples=0, threads=1, folder=str(tmp_path / "run"))  # fmt: skip
    train(settings)
    network = Run(tmp_path / "run").network()
    assert not network.training
    batch = Run(tmp_path / "run").model.batch(rnar.clrs.sample("insertion_sort", 6, 3, seed=0))
    one, other = (network(batch, seed=seed).outputs["pred"].pointers for seed in (0, 1))
    assert torch.equal(one, other)


def test_a_sample_can_be_given_wherever_a_batch_can(small, tmp_path):
    settings = tiny(tmp_path / "run", tasks="quickselect")
    train(settings)
    run, sample = Run(tmp_path / "run"), rnar.clrs.trace("quickselect", [5.0, 2.0, 9.0, 1.0])
    network, batch = run.network(), run.model.batch(sample)
    assert batch.size == 1 and batch.sample(0).steps == sample.steps
    assert network(batch).outputs["median"].shape == (1, 4)
    assert evaluate(network, batch.sample(0)).samples == 1
    assert network(batch.sample(0)).losses.keys() == network(batch).losses.keys()
    with pytest.raises(ValueError, match="a batch .* or a sample .* is expected, not .5.0, 2.0."):
        network([5.0, 2.0])
