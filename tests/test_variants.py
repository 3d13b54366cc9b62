"""The variants that benchmarks/variants.py has, each with its name."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from rnar.clrs import sample
from rnar.models import MODELS, Model
from rnar.runtime import Workers

FILE = Path(__file__).parent.parent / "benchmarks" / "variants.py"


def variants() -> dict[str, Model]:
    spec = importlib.util.spec_from_file_location("variants", FILE)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: x for name, x in vars(module).items() if isinstance(x, Model) and name.islower()}


VARIANTS = variants()


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_learns_under_its_own_name(name):
    model = VARIANTS[name]
    assert model.name == name.replace("_", "-") and model.name not in MODELS
    batch = model.batch(sample("insertion_sort", n=5, batch=2, seed=0))
    losses = Workers(model.build("insertion_sort", size=8).train(), threads=1).backward(batch, seed=1)
    assert all(value > 0 for value in losses.values())
    assert bool({"order", "scan"} & losses.keys()) == name.endswith("priced")
