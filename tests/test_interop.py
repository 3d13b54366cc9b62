"""Checkpoints of dm-clrs: read safely, refused clearly."""

import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

from rnar.clrs import sample
from rnar.engine import predict
from rnar.interop import load_dm_clrs, read_parameters

GOLDEN = Path(__file__).parent / "golden" / "models"


def parameters(name: str = "bfs.triplet_gmpnn") -> dict[str, np.ndarray]:
    return read_parameters(GOLDEN / f"{name}.npz")


def as_checkpoint(flat: dict[str, np.ndarray], path: Path, **more) -> Path:
    """As dm-clrs writes one: a pickle of {module: {name: array}}."""
    modules: dict[str, dict[str, np.ndarray]] = {}
    for key, array in flat.items():
        module, name = key.rsplit("/", 1)
        modules.setdefault(module, {})[name] = array
    path.write_bytes(pickle.dumps({"params": modules, **more}))
    return path


def test_a_checkpoint_gives_the_same_network_as_its_parameters(tmp_path):
    path = as_checkpoint(parameters(), tmp_path / "best.pkl", opt_state=(np.zeros(3),))
    batch = sample("bfs", 5, 3, 0)
    with torch.no_grad():
        found, expected = (
            predict(load_dm_clrs(s, ["bfs"], "triplet-gmpnn").eval(), batch) for s in (path, parameters())
        )
    assert torch.equal(found.outputs["pi"], expected.outputs["pi"])


class Attack:
    def __reduce__(self):
        return (exec, ("print('run by a pickle')",))  # print itself may be another's: Ray replaces it


def test_a_pickle_of_anything_but_arrays_is_refused_and_not_run(tmp_path, capsys):
    path = as_checkpoint(parameters(), tmp_path / "evil.pkl", opt_state=Attack())
    with pytest.raises(
        ValueError, match="is not a checkpoint of dm-clrs: it holds builtins.exec, which is not an array"
    ):
        read_parameters(path)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("content", [b"", b"not a pickle", pickle.dumps([1, 2]), pickle.dumps({"params": 3})])
def test_other_files_are_refused(tmp_path, content):
    path = tmp_path / "other.pkl"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="other.pkl is not a checkpoint of dm-clrs"):
        read_parameters(path)


def test_a_missing_parameter_is_named():
    less = parameters()
    del less["net/mpnn_aggr_clrs_processor/linear_3/w"]
    with pytest.raises(ValueError, match="the parameter net/mpnn_aggr_clrs_processor/linear_3/w is missing"):
        load_dm_clrs(less, ["bfs"], "triplet-gmpnn")


def test_another_model_or_task_is_refused():
    with pytest.raises(ValueError, match=r"has shape \(16, 32\); mpnn needs \(16, 16\)"):
        load_dm_clrs(parameters(), ["bfs"], "mpnn")
    more = {**parameters(), "net/something/w": np.zeros(3, np.float32)}
    with pytest.raises(ValueError, match="has no place for 1 parameters, such as net/something/w"):
        load_dm_clrs(more, ["bfs"], "triplet-gmpnn")
    with pytest.raises(ValueError, match="is missing: another model, or other tasks"):
        load_dm_clrs(parameters(), ["dfs"], "triplet-gmpnn")
    with pytest.raises(ValueError, match="is not a model of dm-clrs"):
        load_dm_clrs(parameters(), ["bfs"], "rt")


def test_a_shape_that_does_not_fit_is_told():
    wrong = parameters()
    wrong["net/mpnn_aggr_clrs_processor/linear_2/w"] = np.zeros((3, 3), np.float32)
    with pytest.raises(ValueError, match=r"linear_2/w has shape \(3, 3\); triplet-gmpnn needs \(16, 16\)"):
        load_dm_clrs(wrong, ["bfs"], "triplet-gmpnn")
