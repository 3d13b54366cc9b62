"""A run folder that is there already: its settings, its result, its network."""

from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import torch
from msgspec import Meta
from torch import Tensor

from rnar.common.checking import checked
from rnar.common.files import read
from rnar.models import Model
from rnar.nn.reasoner import Reasoner
from rnar.training.files import BEST, CONFIG, METRICS, RESULT, STATE, decoded, read_json, unpack
from rnar.training.result import Amount, Count, Result, Share
from rnar.training.settings import Settings, check_plain

Which = Literal["best", "last", "average"]
NETWORKS: dict[Which, str] = {
    "best": "the selected network",
    "last": "the last network",
    "average": "the average of the weights",
}
"""those of a run, in words"""
NEVER_NEGATIVE = ("adam/step", "adam/exp_avg_sq")
"""groups of a state's tensors"""


class Run:
    """What training left in a folder. `model` is needed only where the run's own cannot be found by its name."""

    @checked
    def __init__(self, path: str | Path, model: Model | None = None):
        self.path = Path(path)
        if not (self.path / CONFIG).is_file():
            raise ValueError(f"{self.path} is no folder of a run: it has no {CONFIG}")
        self.config = read_config(self.path)
        self.settings = Settings.from_plain(self.config["settings"], model, folder=self.path)

    @property
    def model(self) -> Model:
        return self.settings.architecture

    @property
    def result(self) -> Result | None:
        """None while the run is not finished."""
        return result_of(self.path)

    @property
    def metrics(self) -> list[dict[str, Any]]:
        """What was reported while it learned, one entry for each validation."""
        return read_metrics(self.path / METRICS)

    @checked
    @torch.inference_mode(False)  # or it could never learn
    def network(self, device: str | torch.device = "cpu", which: Which = "best") -> Reasoner:
        """A network of this run: the best, by validation or, when the run is finished, the selected one that was
        tested; or the last; or the average of the weights. It is ready to be used: in evaluation mode."""
        path, weights, _ = self._saved(which)
        if which != "best":
            weights = below("weights/" if which == "last" else "average/", weights)
            if not weights:
                raise ValueError(f"{self.path} has no average of the weights; train with --average for one")
        settings = self.settings
        reasoner = self.model.build(settings.tasks, settings.size, settings.seed)
        load_weights(reasoner, weights, path)
        return reasoner.to(device).eval()

    def step_of(self, which: Which = "best") -> int:
        """After how many steps of training a network was so."""
        return int(self._saved(which)[2].get("step", 0))

    def _saved(self, which: Which) -> tuple[Path, dict[str, Tensor], dict[str, Any]]:
        path = self.path / (BEST if which == "best" else STATE)
        if not path.is_file():
            raise ValueError(f"{self.path} has no {path.name}: no network of this run has been validated yet")
        return path, *unpack(read(path), path)


class Environment(TypedDict, total=False):
    """What a part of a run was computed by."""

    from_step: Count
    device: str
    threads: Annotated[int, Meta(ge=1)]
    processes: Annotated[int, Meta(ge=1)]
    commit: str | None
    code: dict[str, str]


class Report(TypedDict):
    """A line of metrics.jsonl; later versions add to it."""

    step: Count
    loss: float | None
    losses: dict[str, dict[str, float]]
    validation: Share
    validations: dict[str, Share]
    best: Share
    best_step: Count
    seconds: Amount
    memory_mb: Amount


OLDER_NAMES = {"wider": "ood", "wider_n": "ood_n", "wider_average": "ood_average"}
"""of what older metrics have"""


class Configuration(TypedDict):
    """config.json."""

    settings: dict[str, Any]
    data: dict[str, dict[str, Any]]
    environments: Annotated[list[Environment], Meta(min_length=1)]


def read_config(path: Path) -> dict[str, Any]:
    """The configuration of a run, checked."""
    config = read_json(path / CONFIG, Configuration)
    try:
        check_plain(config["settings"])
    except ValueError as error:
        raise ValueError(f"{path / CONFIG} is damaged or not of a run: {error}") from None
    return config


def read_metrics(path: Path) -> list[dict[str, Any]]:
    """What was reported while a run learned; a last line that is not whole yet does not count."""
    content = read(path).splitlines(keepends=True) if path.exists() else []
    lines = (decoded(x, Report, f"line {k} of {path}") for k, x in enumerate(content, start=1) if x.endswith(b"\n"))
    return [
        {OLDER_NAMES[name] if name in OLDER_NAMES else name: value for name, value in line.items()} for line in lines
    ]


def read_result(path: Path) -> Result | None:
    return msgspec.convert(read_json(path, Result), Result) if path.exists() else None


def result_of(path: Path) -> Result | None:
    """The result of a run that is finished: not that of fewer steps, if it is being taken further."""
    settings, result = read_config(path)["settings"], read_result(path / RESULT)
    if result is not None and result.tests.keys() != set(settings["tasks"]):
        raise ValueError(f"{path / RESULT} is damaged or not of this run: it is of {', '.join(result.tests) or 'none'}")
    return result if result is not None and (result.early or result.steps == settings["steps"]) else None


def load_weights(reasoner: Reasoner, weights: dict[str, Tensor], path: Path) -> None:
    """Give a network these weights, if they are exactly those it has room for; they may be in half precision."""
    ours = reasoner.state_dict()
    halved = [name for name, x in weights.items() if name in ours and x.dtype == torch.float16]
    _check_fit({**ours, **{name: ours[name].half() for name in halved}}, weights, path)
    reasoner.load_state_dict(weights)


def check_state(reasoner: Reasoner, state: dict[str, Tensor], path: Path) -> None:
    """Raise if a saved state has weights, or Adam's moments of them, that this network has no room for or cannot have
    come to."""
    ours, groups = reasoner.state_dict(), {name.rpartition("/")[0] for name in state}
    for group in sorted(groups):
        part = below(f"{group}/", state)
        room = {name: tensor for name, tensor in ours.items() if name in part or not group.startswith("adam/")}
        _check_fit({name: torch.zeros(()) for name in room} if group == "adam/step" else room, part, path)
        if group in NEVER_NEGATIVE and (wrong := [name for name, tensor in part.items() if (tensor < 0).any()]):
            raise ValueError(f"{path} does not fit the run's network: it has numbers below 0 in {group}/{wrong[0]}")


def _check_fit(ours: dict[str, Tensor], theirs: dict[str, Tensor], path: Path) -> None:
    """Raise unless their tensors are of our names, shapes and types, and all their numbers are finite."""
    shapes = {name: (tuple(theirs[name].shape), tuple(ours[name].shape)) for name in ours if name in theirs}
    types = {name: (theirs[name].dtype, ours[name].dtype) for name in shapes}
    wrong = {
        "lacks": [name for name in ours if name not in theirs],
        "has besides": [name for name in theirs if name not in ours],
        "has in other shapes": [f"{name} {its} for {own}" for name, (its, own) in shapes.items() if its != own],
        "has of other types": [f"{name} {its} for {own}" for name, (its, own) in types.items() if its != own],
        "has with NaN or infinity": [name for name, tensor in theirs.items() if not tensor.isfinite().all()],
    }
    some = {what: ", ".join(x[:3]) + (f" and {len(x) - 3} more" if len(x) > 3 else "") for what, x in wrong.items()}
    if any(wrong.values()):
        said = "; ".join(f"it {what} {names}" for what, names in some.items() if names)
        raise ValueError(f"{path} does not fit the run's network: {said}")


def below(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Those whose names begin so, under the rest of their names."""
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
