"""Logits, losses and scores equal what dm-clrs computes from the same weights and batch."""

from pathlib import Path

import numpy as np
import pytest

from helpers.scoring import predict, scores
from rnar.clrs import Batch, Feature, find
from rnar.interop import load_dm_clrs
from rnar.nn.kinds import PermutationLogits
from rnar.nn.reasoner import Reasoner

FILES = sorted((Path(__file__).parent.parent / "golden" / "models").glob("*.npz"))
MODELS = {"triplet_gmpnn": "triplet-gmpnn", "rnar_mpnn": "rnar-mpnn"}


def stored(feature: Feature, dense: np.ndarray) -> np.ndarray:
    """What `rnar.clrs.dm_clrs.widen` made dense."""
    if feature.kind == "mask_one":
        return dense.argmax(axis=-1).astype(feature.dtype)
    if feature.kind == "categorical":
        return np.where((dense == -1).any(axis=-1), -1, dense.argmax(axis=-1)).astype(feature.dtype)
    return dense.astype(feature.dtype)


def golden_batch(task: str, file) -> Batch:
    spec = find(task).spec
    outputs = {}
    for name, feature in spec.outputs.items():
        dense = file[f"output/{name}"]
        if feature.kind == "permutation":
            ring, first = dense.argmax(axis=-1), file[f"output/{name}_mask"].argmax(axis=-1)
            here = np.arange(ring.shape[-1])  # a stored permutation has the first node point at itself
            outputs[name] = np.where(here == first[..., None], here, ring).astype(feature.dtype)
        else:
            outputs[name] = stored(feature, dense)
    return Batch(
        task,
        {name: stored(feature, file[f"input/{name}"]) for name, feature in spec.inputs.items()},
        {name: stored(feature, file[f"hint/{name}"]) for name, feature in spec.hints.items()},
        outputs,
        file["lengths"].astype(np.int32),
    )


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def golden(request) -> tuple[Reasoner, Batch, dict[str, np.ndarray]]:
    task, processor = request.param.stem.split(".")
    with np.load(request.param) as file:
        content = {key: file[key] for key in file.files}
    reasoner = load_dm_clrs(request.param, [task], MODELS.get(processor, processor))
    return reasoner.eval(), golden_batch(task, content), content


def test_there_are_golden_models():
    assert len(FILES) == 17


def test_every_logit_equals_the_reference(golden):
    reasoner, batch, expected = golden
    prediction = predict(reasoner, batch, through_padding=True)
    for name, logits in prediction.hints.items():
        np.testing.assert_allclose(logits, expected[f"pred_hint/{name}"], atol=1e-4, err_msg=name)
    for name, logits in prediction.outputs.items():
        if isinstance(logits, PermutationLogits):
            off_diagonal = ~np.eye(batch.nodes, dtype=bool)
            np.testing.assert_allclose(
                logits.pointers.numpy()[:, off_diagonal], expected[f"pred_output/{name}"][:, off_diagonal], atol=1e-4
            )
            np.testing.assert_allclose(logits.first, expected[f"pred_output/{name}_mask"], atol=1e-4)
        else:
            np.testing.assert_allclose(logits, expected[f"pred_output/{name}"], atol=1e-4, err_msg=name)
    assert set(prediction.hints) == {key[10:] for key in expected if key.startswith("pred_hint/")}


def test_hints_are_the_same_when_samples_leave_as_they_end(golden):
    reasoner, batch, expected = golden
    hints = predict(reasoner, batch).hints
    assert hints.keys() == find(batch.task).spec.hints.keys()
    for name, logits in hints.items():
        for b, length in enumerate(batch.lengths):
            own = slice(0, length - 1)
            np.testing.assert_allclose(logits[own, b], expected[f"pred_hint/{name}"][own, b], atol=1e-4, err_msg=name)


def test_every_loss_equals_the_reference(golden):
    reasoner, batch, expected = golden
    found = {name: (total / count).item() for name, (total, count) in predict(reasoner, batch).losses.items()}
    for key, value in expected.items():
        if key.startswith(("loss_hint/", "loss_output/")):
            name = key.split("/")[1]
            name = name if name in found else name.replace("_mask", "_first")
            assert found[name] == pytest.approx(float(value), abs=1e-4), key
    assert len(found) == sum(key.startswith("loss_") for key in expected)


def test_every_score_equals_the_reference(golden):
    reasoner, batch, expected = golden
    reasoner.double()  # so that no decision hangs on a last bit, which differs between machines
    found = scores(find(batch.task).spec, predict(reasoner, batch).outputs, batch.outputs)
    assert found == pytest.approx({key[6:]: float(x) for key, x in expected.items() if key[:6] == "score/"}, abs=1e-4)
