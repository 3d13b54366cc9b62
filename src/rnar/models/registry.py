"""Models by name."""

from dataclasses import replace
from typing import Any

from rnar.common.checking import checked
from rnar.common.importing import imported
from rnar.common.names import nearest
from rnar.models.recipe import Model

MODELS: dict[str, Model] = {}


def register(model: Model, **changes: Any) -> Model:
    """Give a model of yours a name among the others; or a variant of it, with `changes` of its fields."""
    model = replace(model, **changes) if changes else model
    if model.name in MODELS:
        raise ValueError(f"there is a model {model.name!r} already; choose another name")
    MODELS[model.name] = model
    return model


@checked
def find(name: str) -> Model:
    """The model of that name; `module:attribute` imports one of yours, also from the current folder."""
    if ":" in name:
        return imported(name, Model, "model", "my_models:mine")
    if name not in MODELS:
        known = ", ".join(MODELS)
        raise ValueError(f"no model {name!r}{nearest(name, MODELS)}; there are {known}, and module:attribute for yours")
    return MODELS[name]
