"""What a training run is decided by."""

from __future__ import annotations

import math
import re
import zlib
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from rnar.clrs import find as find_task
from rnar.common.names import nearest
from rnar.models import MODELS, Model
from rnar.models import find as find_model

Device = Literal["auto", "cpu", "cuda", "mps"]

PROTOCOL = dict(
    steps=10_000, batch=32, learning_rate=1e-3, clip=1.0, sizes=None, random_positions=True, validate_every=50
)
"""Of Ibarz et al. (2022); a model may bring values of its own paper (`Model.training`)."""

LONGEST_NAME = 100  # of a folder


def flag(metavar: str, default: str) -> Any:
    """A flag that may be left out, and what its help says of that."""
    return tyro.conf.arg(metavar=metavar, help_behavior_hint=f"(default: {default})")


@dataclass(frozen=True)
class Settings:
    """What is not given is as the model's own paper has it, and then as the standard protocol has it."""

    tasks: Annotated[tuple[str, ...], tyro.conf.Positional, tyro.conf.arg(metavar="TASK...")] = ()
    """Which task to learn; of several, a generalist learns a batch of each in turn in every step."""
    model: Annotated[Any, tyro.conf.arg(constructor=str, metavar="MODEL", help_behavior_hint="(default: rnar)")] = (
        "rnar"
    )
    """Which model: a name that `rnar models` has, or my_models:mine. In Python also a `Model`."""
    seed: int = 0
    """Decides the first weights, the training data, and all else that is drawn."""
    steps: Annotated[int | None, flag("INT", "10000")] = None
    """How many steps to take. A run can be taken further with more."""
    batch: Annotated[int | None, flag("INT", "32")] = None
    """How many samples a step learns from."""
    learning_rate: Annotated[float | None, flag("NUMBER", "0.001")] = None
    """Adam's."""
    clip: Annotated[float | None, flag("NUMBER", "1.0")] = None
    """Gradients are scaled down to this norm; inf leaves them as they are."""
    sizes: Annotated[tuple[int, ...] | None, flag("INT...", "4 7 11 13 16")] = None
    """The sizes of the problems, in turn. String matchers count the haystack alone, as the official sets do."""
    random_positions: Annotated[bool | None, flag("{True,False}", "True")] = None
    """Draw positions, edge probabilities and needles at random, or have them as the official sets do."""
    size: Annotated[int | None, flag("INT", "the model's")] = None
    """How many numbers the network has for each node."""
    without: tuple[str, ...] = ()
    """Inputs and hints that the network does not see."""
    average: Annotated[float | None, flag("NUMBER", "none")] = None
    """Keep an exponential average of the weights too, with this decay a step (0.999, say). It is validated and tested
    beside the others, never in their place."""
    validate_every: Annotated[int | None, flag("INT", "50")] = None
    """So many steps lie between validations, at n = 16. The few networks that were best are kept."""
    validation_samples: int = 128
    """How many samples a validation has. With 128 it takes less than 15% of the time on any task."""
    selection_samples: Annotated[int | None, flag("INT", "1024, or as many as dm-clrs validates on")] = None
    """On so many samples more of n = 16 the best networks are compared in the end, and the best of them is tested. 0
    compares none: it is the one that was best in validation."""
    wider_samples: int = 32
    """At each validation, so many samples of n = 32 are scored too. That is recorded, and decides nothing."""
    test_samples: Annotated[int | None, flag("INT", "all")] = None
    """How many samples of the official set to test on: the first so many. Six tasks have 2048 of them, which takes long
    on a CPU."""
    folder: Annotated[Path | None, flag("PATH", "runs/TASK/MODEL/seed-SEED")] = None
    """Where the run is kept."""
    device: Device = "auto"
    """What computes: auto takes a GPU if there is one."""
    threads: Annotated[int | None, flag("INT", "one for each core")] = None
    """How many threads compute on a CPU."""
    memory: Annotated[float | None, flag("GB", "0.6")] = None
    """How much memory may be spent on what would else be computed twice; it changes no result."""
    tensorboard: bool = False
    """Write events for TensorBoard as well, into the run's folder."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", (self.tasks,) if isinstance(self.tasks, str) else tuple(self.tasks))
        object.__setattr__(self, "sizes", None if self.sizes is None else tuple(self.sizes))
        object.__setattr__(self, "without", (self.without,) if isinstance(self.without, str) else tuple(self.without))

    @property
    def recipe(self) -> Model:
        """The model itself, which sees what these settings leave it."""
        model = self.model if isinstance(self.model, Model) else find_model(self.model)
        return replace(model, without=(*model.without, *self.without)) if self.without else model

    @property
    def path(self) -> Path:
        """The run's folder."""
        model = "-without-".join([self.name.replace(":", "."), *self.without])
        return self.folder or Path("runs", _joined(self.tasks), model, f"seed-{self.seed}")

    @property
    def name(self) -> str:
        """The model's name, by which it is found again."""
        return self.model.name if isinstance(self.model, Model) else self.model

    def resolved(self) -> Settings:
        """The same with every value filled in, if they make sense."""
        model = self.recipe
        for name in model.training:
            if name not in PROTOCOL:
                raise ValueError(f"the model {self.name!r} sets {name!r} for its training{nearest(name, PROTOCOL)}; "
                                 f"what a model can set is {', '.join(PROTOCOL)}")  # fmt: skip
        theirs = {**PROTOCOL, **model.training, "size": model.size}
        if theirs["clip"] is None:
            theirs["clip"] = math.inf
        full = replace(self, **{name: value for name, value in theirs.items() if getattr(self, name) is None})
        full._check()
        return full

    def _check(self) -> None:
        if not self.tasks:
            raise ValueError("which task? `rnar data list` has them all")
        for task in self.tasks:
            find_task(task)
            if self.tasks.count(task) > 1:
                raise ValueError(f"{task} is named twice; a network learns each of its tasks once")
        if self.seed < 0:
            raise ValueError(f"seed must not be negative, but it is {self.seed}")
        least_one = ("steps", "batch", "size", "validate_every", "validation_samples", "test_samples", "threads")
        for name in (*least_one, "selection_samples", "wider_samples"):
            value, least = getattr(self, name), int(name in least_one)
            if value is not None and (not isinstance(value, int) or value < least):
                raise ValueError(f"{name} must be a whole number of at least {least}, not {value!r}")
        if self.average is not None and not 0 < self.average < 1:
            raise ValueError(f"average must be between 0 and 1, not {self.average}")
        if self.memory is not None and not 0 <= self.memory < math.inf:
            raise ValueError(f"memory must not be negative, and finite, but it is {self.memory}")
        seen = {name for task in self.tasks for stage in find_task(task).spec[:2] for name in stage}
        for name in self.without:
            if name not in seen:
                raise ValueError(f"without {name!r}: there is no such input or hint{nearest(name, seen)}; "
                                 f"there are {', '.join(sorted(seen))}")  # fmt: skip
        for name in ("learning_rate", "clip"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0, not {getattr(self, name)}")
        if not math.isfinite(self.learning_rate or 0):
            raise ValueError(f"learning_rate must be finite, not {self.learning_rate}")
        if self.sizes == ():
            raise ValueError("sizes must name at least one size")
        if self.steps and self.validate_every and self.steps % self.validate_every:
            raise ValueError(
                f"steps={self.steps} is not a multiple of validate_every={self.validate_every}: "
                "what is learned after the last validation would be lost"
            )

    def plain(self) -> dict[str, Any]:
        """What decides the result, as JSON has it. Not where it is kept, and what computes it."""
        found = {name: getattr(self, name) for name in IDENTITY}
        found["clip"] = None if self.clip == math.inf else self.clip  # JSON has no infinity
        found["tasks"], found["sizes"] = list(self.tasks), self.sizes and list(self.sizes)
        found["without"] = list(self.without)
        return {**found, "model": self.name}

    @staticmethod
    def from_plain(plain: dict[str, Any], model: Model | None = None) -> Settings:
        """The inverse of `plain`; `model` if it cannot be found by its name."""
        values = {**LATER, **{name: plain[name] for name in IDENTITY if name in plain or name not in LATER}}
        values["clip"] = math.inf if values["clip"] is None else values["clip"]
        if model is None and ":" not in plain["model"] and plain["model"] not in MODELS:
            raise ValueError(f"there is no model {plain['model']!r} here; give it as well: Run(path, model)")
        return Settings(**{**values, "model": model or plain["model"]})


LATER = dict(test_samples=None, without=(), average=None, selection_samples=None)
"""settings that older runs do not have, and with what they were run"""
_NOT_IDENTITY = ("wider_samples", "folder", "device", "threads", "memory", "tensorboard")
IDENTITY = tuple(field.name for field in fields(Settings) if field.name not in _NOT_IDENTITY)


def differences(there: dict[str, Any], here: dict[str, Any]) -> list[str]:
    """In what two plain settings differ, in words; the number of steps is no difference.

    Nor is how networks are compared in the end, where a run is older than that.
    """
    there = {**LATER, "without": [], "selection_samples": here.get("selection_samples"), **there}
    return [
        f"{name} is {there.get(name)!r} there and {here.get(name)!r} here"
        for name in {**there, **here}
        if name != "steps" and there.get(name) != here.get(name)
    ]


def _joined(tasks: tuple[str, ...]) -> str:
    """A folder's name for tasks."""
    name = "+".join(tasks).replace(":", ".")
    if len(name) > LONGEST_NAME:  # more than file systems take
        return f"{len(tasks)}-tasks-{zlib.crc32(name.encode()):08x}"
    return re.sub(r"[^A-Za-z0-9_+.-]", "_", name)
