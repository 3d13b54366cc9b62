"""A run folder that is there already: its settings, its result, its network."""

import json
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor

from rnar.models import Model
from rnar.nn.reasoner import Reasoner
from rnar.training.files import read_json, unpack
from rnar.training.result import NEEDED, Result
from rnar.training.settings import IDENTITY, OLDER, Resolved

Which = Literal["best", "last", "average"]

CONFIG, METRICS, STATE, BEST, RESULT = (
    "config.json", "metrics.jsonl", "state.safetensors", "best.safetensors", "result.json"
)  # fmt: skip


class Run:
    """What training left in a folder. `model` is needed only where the run's own cannot be found by its name."""

    def __init__(self, path: str | Path, model: Model | None = None):
        self.path = Path(path)
        if not (self.path / CONFIG).is_file():
            raise ValueError(f"{self.path} is no folder of a run: it has no {CONFIG}")
        self.config = read_config(self.path)
        self.settings = Resolved.from_plain(self.config["settings"], model, path=self.path)

    @property
    def model(self) -> Model:
        return self.settings.recipe

    @property
    def result(self) -> Result | None:
        """None while the run is not finished."""
        return read_result(self.path / RESULT)

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """What was reported while it learned, one entry for each validation."""
        return read_metrics(self.path / METRICS)

    def network(self, device: str | torch.device = "cpu", which: Which = "best") -> Reasoner:
        """A network of this run: the best, by validation or, when the run is finished, the selected one that was
        tested; or the last; or the average of the weights. It is ready to be used: in evaluation mode."""
        path = self.path / (BEST if which == "best" else STATE)
        if not path.is_file():
            raise ValueError(f"{self.path} has no {path.name}: no network of this run has been validated yet")
        weights, _ = unpack(path.read_bytes(), path)
        if which != "best":
            weights = below("weights/" if which == "last" else "average/", weights)
            if not weights:
                raise ValueError(f"{self.path} has no average of the weights; train with --average for one")
        settings = self.settings
        reasoner = self.model.build(settings.tasks, settings.size, settings.seed)
        load_weights(reasoner, weights, path)
        return reasoner.to(device).eval()


def read_config(path: Path) -> dict[str, Any]:
    config = read_json(path / CONFIG, "settings", "data", "environments")
    settings = config["settings"]
    needed = [name for name in IDENTITY if name not in OLDER]
    missing = [name for name in needed if not isinstance(settings, dict) or name not in settings]
    if missing:
        raise ValueError(f"{path / CONFIG} is damaged or not of a run: its settings do not have {missing[0]}")
    return config


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """What was reported while a run learned; a last line that is not whole yet does not count."""
    content = path.read_bytes().splitlines(keepends=True) if path.is_file() else []
    try:
        lines = [json.loads(line) for line in content if line.endswith(b"\n")]
        right = all(isinstance(line["step"], int) and isinstance(line["validations"], dict) for line in lines)
    except (ValueError, KeyError, TypeError):
        right, lines = False, []
    if not right:
        raise ValueError(f"{path} is damaged: a line in it is no report of a step")
    return lines


def read_result(path: Path) -> Result | None:
    if not path.is_file():
        return None
    return Result.from_plain(read_json(path, *NEEDED))


def load_weights(reasoner: Reasoner, weights: dict[str, Tensor], path: Path) -> None:
    """Give a network these weights, if they are exactly those it has room for."""
    ours = reasoner.state_dict()
    wrong = {
        "lacks": [name for name in ours if name not in weights],
        "has besides": [name for name in weights if name not in ours],
        "has in other shapes": [
            f"{name} {tuple(weights[name].shape)} for {tuple(tensor.shape)}"
            for name, tensor in ours.items()
            if name in weights and weights[name].shape != tensor.shape
        ],
    }
    said = [f"it {what} {_some(names)}" for what, names in wrong.items() if names]
    if said:
        raise ValueError(f"{path} does not fit the run's network: {'; '.join(said)}")
    reasoner.load_state_dict(weights)


def _some(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def below(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Those whose names begin so, under the rest of their names."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
