"""Runs that are read again, and what is no run."""

from __future__ import annotations

import pytest
import torch

from rnar.training import Run
from rnar.training import files as training_files


def test_what_is_no_run_is_refused(tmp_path, finished):
    run, _ = finished
    with pytest.raises(ValueError, match="is no folder of a run: it has no config.json"):
        Run(tmp_path)
    config = tmp_path / "config.json"
    for text, said in [("{", "not JSON"), ("[]", "does not have settings"), ('{"settings": 3}', "does not have")]:
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
