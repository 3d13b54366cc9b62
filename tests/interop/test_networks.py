"""Checkpoints of dm-clrs: read safely, refused clearly."""

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from rnar.clrs import sample
from rnar.interop import load_dm_clrs, read_parameters, save_dm_clrs
from rnar.models import MODELS

GOLDEN = Path(__file__).parent.parent / "golden" / "models"


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
        found, expected = (load_dm_clrs(s, ["bfs"], "triplet-gmpnn").eval()(batch) for s in (path, parameters()))
    assert torch.equal(found.outputs["pi"], expected.outputs["pi"])


@pytest.mark.parametrize("protocol", [3, 4, 5])
def test_arrays_of_all_kinds_are_read_as_they_were_written(tmp_path, protocol):
    rng, path = np.random.default_rng(0), tmp_path / "all.pkl"
    arrays = {f"m/{k}": rng.normal(size=(3, 4)).astype(kind) for k, kind in enumerate(("<f4", ">f8", "<f2", "i8", "?"))}
    arrays |= {"m/columns": np.asfortranarray(arrays["m/0"]), "m/none": np.zeros((0, 5)), "m/one": np.array(3.0)}
    inner = {key.removeprefix("m/"): x for key, x in arrays.items()}
    path.write_bytes(pickle.dumps({"params": {"m": inner}}, protocol))
    found = read_parameters(path)
    assert found.keys() == arrays.keys()
    for key, x in arrays.items():
        np.testing.assert_array_equal(found[key], x, strict=True)


@pytest.mark.parametrize("file", sorted(GOLDEN.glob("*.npz")), ids=lambda file: file.stem)
def test_a_network_that_was_saved_has_the_parameters_that_it_was_loaded_from(file, tmp_path):
    given, (task, name), path = read_parameters(file), file.stem.split("."), tmp_path / "ours.pkl"
    save_dm_clrs(load_dm_clrs(given, [task], name.replace("_", "-")), path)
    found = read_parameters(path)
    assert found.keys() == {key for key in given if key.startswith("net/")}
    for key, x in found.items():
        np.testing.assert_allclose(x, given[key], rtol=0, atol=1e-6, err_msg=key)  # 1 is added to a bias and taken away
    assert pickle.loads(path.read_bytes())["opt_state"] is None


def test_a_network_of_several_tasks_is_saved_in_their_order(tmp_path):
    path = tmp_path / "two.pkl"
    first = replace(MODELS["pgn"], reversal="none").build(["bfs", "minimum"], size=8)
    save_dm_clrs(first, path)
    second = load_dm_clrs(path, ["bfs", "minimum"], "pgn")
    assert all(torch.equal(x, second.state_dict()[name]) for name, x in first.state_dict().items())
    with pytest.raises(ValueError, match="is missing: another model, or other tasks, or not in their order"):
        load_dm_clrs(path, ["minimum", "bfs"], "pgn")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rnar", "dm-clrs sees other features of bfs: pi_h_reversed"),
        ("rnar-nope", "dm-clrs sees other features of bfs: pi_h_reversed, pos"),
        ("rnar-gru", "dm-clrs has no such network; it has those of mpnn, pgn, triplet-gmpnn"),
        ("rt", "dm-clrs has no such network"),
        ("linked", "dm-clrs"),
    ],
)
def test_a_network_that_dm_clrs_cannot_have_is_not_saved(name, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        save_dm_clrs(MODELS[name].build("bfs", size=16), tmp_path / "ours.pkl")
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_there_is_replaced_only_if_asked_for(tmp_path):
    path, network = tmp_path / "ours.pkl", MODELS["mpnn"].build("bfs", size=8)
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="replace=True"):
        save_dm_clrs(network, path)
    assert path.read_text() == "mine"
    save_dm_clrs(network, path, replace=True)
    assert read_parameters(path)


class Calls:
    """Pickled as a call of a function."""

    def __init__(self, function, *arguments, state=None):
        self.call = function, arguments, state

    def __reduce__(self):
        return self.call


def array(state: tuple, *more: object) -> Calls:
    """An array whose state is of the file's choosing."""
    return Calls(np._core.multiarray._reconstruct, np.ndarray, (0,), b"b", *more, state=state)  # type: ignore[attr-defined]


FLOATS = np.dtype("f4")


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        (Calls(exec, "print('run by a pickle')"), "it holds builtins.exec, which is not an array"),
        (array((1, (1,), np.dtype("O"), False, b"12345678")), "an array of type O8, and not of numbers"),
        (array((1, (2,), np.dtype("O"), False, [1, 2])), "is not made of bytes, a type and a shape"),
        (array((1, (1000,), FLOATS, False, b"1234")), "4 bytes, which are not its shape's"),
        (array((1, (-1, -1), FLOATS, False, b"1234")), "4 bytes, which are not its shape's"),
        (array((1, (2**62, 4), FLOATS, False, b"")), "0 bytes, which are not its shape's"),
        (array((1, "ab", FLOATS, False, b"1234")), "is not made of bytes, a type and a shape"),
        (array((1, (1,), np.dtype([("x", "O")]), False, b"12345678")), "of type V8, and not of numbers"),
        (Calls(np.ndarray, (1,), np.dtype("O"), b"12345678"), "m/w is no array"),
        (Calls(np.ndarray, (1,), FLOATS, state=(1, (1,), FLOATS, False, b"1234")), "m/w is no array"),
        (Calls(np.dtype, "f4", state=(3, "<", None, ("x",), {"x": (FLOATS, 2**40)}, 8, 8, 0)), "m/w is no array"),
        (Calls(np._core.numeric._frombuffer, b"12345678", np.dtype("O"), (1,), "C"), "of type O8"),  # type: ignore
        (Calls(np._core.multiarray.scalar, np.dtype("O"), b"12345678"), "numpy._core.multiarray.scalar, which is not"),
        ({"deeper": np.zeros(3)}, "m/w is no array"),
    ],
)
def test_what_a_crafted_file_asks_for_is_not_done(tmp_path, capsys, parameter, message):
    path = tmp_path / "evil.pkl"
    path.write_bytes(pickle.dumps({"params": {"m": {"w": parameter}}}))
    with pytest.raises(ValueError, match=f"evil.pkl is not a checkpoint of dm-clrs: .*{message}"):
        read_parameters(path)
    assert capsys.readouterr().out == ""


def test_a_pointer_of_the_files_choosing_is_not_followed(tmp_path):
    """An array of objects whose bytes are addresses, given once more as the state of an array of numbers."""
    state = (1, (6500,), np.dtype("O"), False, (0xDEAD_BEEF_0000).to_bytes(8, "little") * 6500)
    path = tmp_path / "evil.pkl"
    path.write_bytes(pickle.dumps({"params": {"net/m": {"w": array(state), "b": np.zeros(2)}}}))
    assert path.stat().st_size > 52_000
    with pytest.raises(ValueError, match="it holds an array of type O8, and not of numbers"):
        load_dm_clrs(path, ["bfs"], "mpnn")


def test_the_optimisers_state_is_passed_over_and_cannot_run_anything(tmp_path):
    path = as_checkpoint(parameters(), tmp_path / "evil.pkl", opt_state=Calls(exec, "raise SystemExit"))
    with pytest.raises(ValueError, match="it holds builtins.exec, which is not an array"):
        read_parameters(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "EOFError|pickle exhausted"),
        (b"not a pickle", "opcode b.n. unknown"),
        (pickle.dumps([1, 2]), "it should be a dictionary"),
        (pickle.dumps({1: 2}), "it should be a dictionary with names as keys"),
        (pickle.dumps({"params": 3}), "its 'params' should be a dictionary"),
        (pickle.dumps({"params": {"m": 3}}), "m should be a dictionary"),
        (pickle.dumps({"other": 3}), "its 'params' should be a dictionary"),
        (b"\x80\x04}r\xff\xff\xff\xff.", "it numbers 4,294,967,295 objects in 9 bytes"),
        (b"\x80\x05\x96\xff\xff\xff\xff\xff\x00\x00\x00.", "expected 1099511627775 bytes"),
        # setattr on what stands for an array: {"value": ...} by the second part of a state
        (b"\x80\x02cnumpy\nndarray\nN}X\x05\x00\x00\x00valueK\x01s\x86b.", "missing 1 required"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "other.pkl"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"other.pkl is not a checkpoint of dm-clrs.*({message})"):
        read_parameters(path)


@pytest.mark.parametrize("kind", [".pkl", ".npz"])
def test_any_damage_to_a_file_is_an_error_of_one_line_or_none(tmp_path, kind):
    path, rng = tmp_path / f"damaged{kind}", np.random.default_rng(0)
    arrays = {"m/w": np.ones((3, 4)), "m/b": np.ones(4)}
    np.savez(path, **arrays) if kind == ".npz" else as_checkpoint(arrays, path)
    whole = path.read_bytes()
    for _ in range(300):
        damaged = bytearray(whole[: rng.integers(1, len(whole) + 1)])
        damaged[rng.integers(len(damaged))] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            found = read_parameters(path)
        except ValueError as error:
            assert "is not a checkpoint" in str(error)
        else:
            assert all(isinstance(x, np.ndarray) for x in found.values())


def test_a_missing_parameter_is_named():
    less = parameters()
    del less["net/mpnn_aggr_clrs_processor/linear_3/w"]
    with pytest.raises(ValueError, match="the parameter net/mpnn_aggr_clrs_processor/linear_3/w is missing"):
        load_dm_clrs(less, ["bfs"], "triplet-gmpnn")


def test_another_model_or_task_is_refused():
    with pytest.raises(ValueError, match=r"has shape \(32, 16\); mpnn needs \(16, 16\)"):
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
