"""What a training run is decided by: each setting is one field of `Settings`, and nothing else has to be touched."""

from __future__ import annotations

import math
import os
import re
import sys
import warnings
import zlib
from collections.abc import Iterable
from dataclasses import Field, dataclass, field, fields, replace
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import msgspec
import numpy as np
from msgspec import Meta, inspect

from rnar.clrs import find as find_task
from rnar.clrs.registry import MOST_SAMPLES
from rnar.common.blame import definition_of
from rnar.common.checking import shown
from rnar.common.documenting import Class, documented
from rnar.common.names import nearest
from rnar.models import LARGEST_SIZE, MODELS, Model
from rnar.models import find as find_model
from rnar.runtime.workers import MOST_THREADS, Precision
from rnar.training import schedules
from rnar.training.recipes import RECIPES
from rnar.training.schedules import Schedule

Device = Literal["auto", "cpu", "cuda", "mps"]
FINITE = sys.float_info.max
Steps = Annotated[int, Meta(ge=1, le=1_000_000_000)]
Samples = Annotated[int, Meta(ge=1, le=MOST_SAMPLES)]
SamplesOrZero = Annotated[int, Meta(ge=0, le=MOST_SAMPLES)]
Finite = Annotated[float, Meta(ge=0, le=FINITE)]
Positive = Annotated[float, Meta(gt=0, le=FINITE)]

LONGEST_NAME = 100  # of a folder


def setting(default: Any, metavar: str = "", words: str = "", **more: Any) -> Any:
    """A field of `Settings`, and how it is told on the command line.

    Args:
        default: Its value where it is not given.
        metavar: What stands for its value in the help, if that is not told by its type.
        words: Of its default, in the help, if it has other ones; if they are "none", that may be given for None.
        more: `aliases` of its name; `none`: a word that may be given for None, if the default is another, or
            for `off`; `name` of its
            flag; `positional`: its flag has none; `reference`: a name, by which an object is found that may also be
            given itself; `role`: see `LENGTH` and `HOW`; `since_first`: the config of every run has it, of whichever
            version.
    """
    words = words or (str(default) if isinstance(default, (int, str)) and default is not False else "")
    return field(default=default, metadata={"metavar": metavar, "words": words, **more})


def protocol(value: Any, metavar: str = "", words: str = "", **more: Any) -> Any:
    """A setting whose default is that of the model's own paper, or else this value of the standard protocol."""
    return setting(None, metavar, words or str(value), protocol=value, **more)


def with_aliases(made: Class) -> Class:
    """The same class; it takes the aliases of its settings too, and names the right one of what it does not know."""
    plain: Any = made.__init__

    @wraps(plain)
    def __init__(self: Settings, *values: Any, complete: bool = False, **given: Any) -> None:
        plain(self, *values, complete=complete, **canonical(given))

    made.__init__ = __init__  # pyright: ignore[reportAttributeAccessIssue]
    return made


@documented
@with_aliases
@dataclass(frozen=True)
class Settings:
    """What is not given is as the model's own paper has it, and then as the standard protocol has it.

    `task`, `batch_size`, `lr`, `hidden` are other names of tasks, batch, learning_rate, size.
    """

    tasks: str | tuple[str, ...] = setting((), "TASK...", positional=True, aliases=("task",), since_first=True)
    """Which task to learn; of several, a generalist learns a batch of each in turn in every step."""
    model: str | Model = setting("rnar", "MODEL", reference=True, since_first=True)
    """Which model: a name that `rnar models` has, or my_models:mine. In Python also a `Model`."""
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = setting(0, since_first=True)
    """Decides the first weights, the training data, and all else that is drawn."""
    recipe: str = setting("standard", "{" + ",".join(RECIPES) + "}")
    """What is not given is as this recipe has it: "standard" is the protocol of Ibarz et al. (2022); "steady" has the
    learning rate fall to zero as a cosine does, and keeps an average of the weights with a decay of 0.999."""
    steps: Steps = protocol(10_000, role="length", since_first=True)
    """How many steps to take. A run can be taken further with more."""
    patience: Steps | None = setting(None, words="none", role="length")
    """End earlier, if validation has not become better for so many steps."""
    start: str | None = setting(None, "RUN", "fresh weights", name="from", aliases=("from",))
    """Begin with the weights of another run's network, as far as they fit; with several tasks or another one, it is the
    processor that does."""
    batch: Samples = protocol(32, aliases=("batch_size",), since_first=True)
    """How many samples a step learns from."""
    learning_rate: Positive = protocol(1e-3, aliases=("lr",), since_first=True)
    """Adam's."""
    schedule: str | Schedule = protocol("constant", "NAME", reference=True)
    """How the learning rate changes: constant, cosine, or my_schedules:warmup. In Python also a function."""
    weight_decay: Finite = protocol(0.0)
    """AdamW's: so much of the learning rate is the share by which weights shrink in a step."""
    clip: Annotated[float, Meta(gt=0)] = protocol(1.0, since_first=True)
    """Gradients are scaled down to this norm; inf leaves them as they are."""
    sizes: Annotated[tuple[Annotated[int, Meta(ge=1, le=MOST_SAMPLES)], ...], Meta(min_length=1)] | None = protocol(
        None, words="4 7 11 13 16", since_first=True
    )
    """The sizes of the problems, in turn. String matchers count the haystack alone, as the official sets do."""
    random_positions: bool = protocol(True, since_first=True)
    """Draw positions, edge probabilities and needles at random, or have them as the official sets do."""
    size: Annotated[int, Meta(ge=1, le=LARGEST_SIZE)] = setting(
        None, words="the model's", aliases=("hidden",), since_first=True
    )
    """How many numbers the network has for each node."""
    precision: Precision = setting("float32")
    """Of the largest matrix products in training; with bfloat16, sums and all else are float32, and so are validation
    and test. It pays on a CPU that has instructions for it."""
    without: str | tuple[str, ...] = setting((), "NAME...")
    """Inputs and hints that the network does not see."""
    average: Annotated[float, Meta(ge=0, lt=1)] | None = setting(
        None, words="none, or the recipe's", none="none", off=0.0
    )
    """Keep an exponential average of the weights too, with this decay a step (0.999, say); 0 keeps none. It is
    validated and tested beside the others, never in their place."""
    validate_every: Steps = protocol(50, since_first=True)
    """So many steps lie between validations, at n = 16. The few networks that were best are kept."""
    validation_samples: Samples = setting(128, since_first=True)
    """How many samples a validation has. With 128 it takes less than 15% of the time on any task."""
    selection_samples: SamplesOrZero | None = setting(None, words="as many as dm-clrs validates on, if there is time")
    """On so many samples more of n = 16 the best networks are compared in the end, and the best of them is tested. 0
    compares none: it is the one that was best in validation."""
    ood_samples: SamplesOrZero = setting(32, role="how")
    """At each validation, so many samples of a larger size, out of distribution, are scored too. That is recorded, and
    decides nothing."""
    ood_n: Samples = setting(32, role="how")
    """That size. With 64 a run tells how its score at the size of the test moves along the steps."""
    test_samples: Steps | Literal["auto"] | None = setting(
        "auto", "INT", words="as many as take no longer than training", none="all", role="length"
    )
    """How many samples of the official set to test on: the first so many, or all. Six tasks have 2048 of them, which
    takes long on a CPU. A run can be tested on more of them later."""
    folder: Path | None = setting(None, "PATH", "runs/TASK/MODEL/seed-SEED", role="place")
    """Where the run is kept."""
    device: Device = setting("auto", role="how")
    """What computes: auto takes a GPU if there is one."""
    threads: Annotated[int, Meta(ge=1, le=MOST_THREADS)] | None = setting(None, words="one for each core", role="how")
    """How many threads compute on a CPU."""
    memory: Finite | None = setting(None, "GB", "a quarter of what is free", role="how")
    """How much memory may be spent on what would else be computed twice; it changes no result."""
    tensorboard: bool = setting(False, role="how")
    """Write events for TensorBoard as well, into the run's folder."""
    allow_code_change: bool = setting(False, role="how")
    """Go on with a run, or tell its result, though your own code of its model or task has changed since."""
    complete: bool = field(default=False, repr=False, compare=False)
    """True of what `resolved` returns: a value that is still None is not one that has to be filled in."""

    def __post_init__(self) -> None:
        if not isinstance(self.recipe, str) or self.recipe not in RECIPES:
            known = f"{nearest(str(self.recipe), RECIPES)}; there are {', '.join(RECIPES)}"
            raise ValueError(f"there is no recipe {shown(self.recipe)}{known}")
        for name in SETTINGS:
            object.__setattr__(self, name, checked(name, getattr(self, name)))

    def __getattr__(self, name: str) -> Any:
        if name not in RENAMED:
            raise AttributeError(f"Settings has no {name!r}")
        warnings.warn(f"{name} is called {RENAMED[name]} now", DeprecationWarning, stacklevel=2)
        return getattr(self, RENAMED[name])

    @property
    def name(self) -> str:
        """The model's name."""
        return self.model.name if isinstance(self.model, Model) else self.model

    @property
    def architecture(self) -> Model:
        """The model itself, which sees what these settings leave it."""
        model = self.model if isinstance(self.model, Model) else find_model(self.model)
        return replace(model, without=(*model.without, *self.without)) if self.without else model

    @property
    def path(self) -> Path:
        """The run's folder."""
        model = "-without-".join([self.name.replace(":", "."), *self.without])
        return self.folder or Path("runs", _joined(tuple(self.tasks)), model, f"seed-{self.seed}")

    def resolved(self) -> Settings:
        """The same with every value filled in, if they make sense."""
        settings = self if self.complete else self._filled()
        _check_tasks(settings)
        schedules.find(settings.schedule)
        schedules.name_of(settings.schedule)
        if settings.steps % settings.validate_every:
            raise ValueError(
                f"steps={settings.steps} is not a multiple of validate_every={settings.validate_every}: "
                "what is learned after the last validation would be lost"
            )
        return settings

    def _filled(self) -> Settings:
        model = self.architecture
        for name in model.training:
            if name not in PROTOCOL:
                raise ValueError(f"the model {self.name!r} sets {name!r} for its training{nearest(name, PROTOCOL)}; "
                                 f"what a model can set is {', '.join(PROTOCOL)}")  # fmt: skip
        usual = {**PROTOCOL, **model.training, "size": model.size, **RECIPES[self.recipe]}
        values = {name: value for name, value in usual.items() if getattr(self, name) is None}
        if self.average == 0 and "average" not in usual:
            values["average"] = None
        if values.get("clip", 0) is None:  # as a model may have it
            values["clip"] = math.inf
        named = replace(self, **values, tasks=tuple(find_task(task).name for task in self.tasks))
        return replace(named, folder=named.path, complete=True)

    def plain(self) -> dict[str, Any]:
        """What decides the result, as JSON has it. Not where it is kept, and what computes it."""
        return {**{name: as_json(getattr(self, name)) for name in IDENTITY}, "model": self.name}

    @staticmethod
    def from_plain(plain: dict[str, Any], model: Model | None = None, **how: Any) -> Settings:
        """The inverse of `plain`; `model` if it cannot be found by its name, `how` is what decides no result."""
        if model is None and ":" not in plain["model"] and plain["model"] not in MODELS:
            raise ValueError(f"there is no model {plain['model']!r} here; give it as well: Run(path, model)")
        values = {**OLDER, **{name: plain[name] for name in IDENTITY if name in plain}}
        values["clip"] = math.inf if values["clip"] is None else values["clip"]
        return Settings(**{**values, "model": model or plain["model"]}, **how, complete=True)


def as_json(value: Any) -> Any:
    """The value of a setting as JSON has it, which knows neither infinity nor functions."""
    if callable(value):  # a model is told by its name elsewhere
        return schedules.name_of(value)  # pyright: ignore[reportArgumentType]
    if isinstance(value, tuple):
        return list(value)
    return None if value == math.inf else value


SETTINGS: dict[str, Field[Any]] = {x.name: x for x in fields(Settings) if x.name != "complete"}
TYPES = get_type_hints(Settings, include_extras=True)
PROTOCOL = {name: x.metadata["protocol"] for name, x in SETTINGS.items() if "protocol" in x.metadata}
"""Of Ibarz et al. (2022); a model may bring values of its own paper (`Model.training`)."""
LENGTH = tuple(name for name, x in SETTINGS.items() if x.metadata.get("role") == "length")
"""settings that decide how far a run goes, and how far its test: it may go on with others"""
HOW = tuple(name for name, x in SETTINGS.items() if x.metadata.get("role") == "how")
"""settings that decide no result"""
IDENTITY = tuple(name for name in SETTINGS if name not in (*HOW, "folder"))
"""those that do, and so make a run the run it is"""
OLDER = {name: as_json(PROTOCOL.get(name, SETTINGS[name].default)) for name in IDENTITY
         if "since_first" not in SETTINGS[name].metadata}  # fmt: skip
"""settings that older runs do not have, and with what they were run, as JSON has it"""
LISTS = ("tasks", "sizes", "without")
ALIASES = {alias: name for name, x in SETTINGS.items() for alias in x.metadata.get("aliases", ())}


RENAMED = {"wider_n": "ood_n", "wider_samples": "ood_samples", "anyway": "allow_code_change"}
"""settings by their names of before, which go on working for another release"""
OTHERS = {"epochs": "steps", "iterations": "steps", "hidden_size": "size", "hidden_dim": "size", "width": "size"}
"""what settings are called elsewhere"""


def canonical(given: dict[str, Any], level: int = 3) -> dict[str, Any]:
    """The same settings by their own names; raises if there is one that is not known.

    `level`: how far away the caller is who is warned of names of before.
    """
    for name in given:
        if name in RENAMED:
            warnings.warn(f"{name} is called {RENAMED[name]} now", DeprecationWarning, stacklevel=level)
            continue
        if name in SETTINGS or name in ALIASES:
            continue
        right = OTHERS.get(name)
        said = f"; say {right}" if right else f"{nearest(name, [*SETTINGS, *ALIASES])}; there are {', '.join(SETTINGS)}"
        raise ValueError(f"there is no setting {name!r}{said}")
    settings = {{**ALIASES, **RENAMED}.get(name, name): value for name, value in given.items()}
    if len(settings) < len(given):
        raise ValueError(f"two of {', '.join(given)} are the same setting; give it once")
    return settings


def checked(name: str, value: Any, plain: bool = False) -> Any:
    """The value of a setting, if it makes sense; text is read as it stands on the command line.

    `plain`: it is of the config of a run, where each value has the type that it should have, and none is left out.
    """
    kind, metadata = TYPES[name], SETTINGS[name].metadata
    if "reference" in metadata:
        if name == "model" and not isinstance(value, (str, Model)) and not plain:
            said = getattr(value, "__qualname__", repr(value)) + definition_of(value)
            raise ValueError(f"model must be a name or a Model, not {said}; rnar.Model(name, processor) makes one")
        if not (plain or isinstance(value, str)):
            return value
        kind = str
    elif not plain:
        value = _read(name, value)
        if value is None and (SETTINGS[name].default is None or "none" in metadata):
            return None
    try:
        return msgspec.convert(value, kind, strict=plain, dec_hook=lambda kind, x: kind(x))
    except msgspec.ValidationError:
        raise ValueError(f"{name} must be {_told(inspect.type_info(kind))}, not {shown(value)}") from None


def _read(name: str, value: Any) -> Any:
    """Plain Python values of text, NumPy's numbers and paths."""

    def number(x: Any) -> Any:
        return x.item() if isinstance(x, np.generic) else x

    metadata = SETTINGS[name].metadata
    if isinstance(value, str) and value == metadata.get("none", "none" if metadata["words"] == "none" else None):
        return metadata.get("off")
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if name in LISTS:
        parts = [value] if isinstance(value, str) else value
        if not isinstance(parts, Iterable):
            return value
        return [y for x in parts for y in (x.replace(",", " ").split() if isinstance(x, str) else [number(x)])]
    return number(value)


def _told(kind: inspect.Type) -> str:
    """What values of a type are, in words."""
    if isinstance(kind, inspect.UnionType):
        return " or ".join(_told(x) for x in kind.types if not isinstance(x, inspect.NoneType))
    if isinstance(kind, inspect.LiteralType):
        *others, last = map(str, kind.values)
        return f"{', '.join(others)} or {last}".removeprefix(" or ")
    if isinstance(kind, inspect.VarTupleType):
        return f"one or several, each {_told(kind.item_type)}"
    if isinstance(kind, inspect.IntType):
        return f"a whole number from {kind.ge:,} to {kind.le:,}"
    if isinstance(kind, inspect.FloatType):
        low = f"above {kind.gt:g}" if kind.gt is not None else f"of at least {kind.ge:g}"
        return f"a number {low}" + (f" and below {kind.lt:g}" if kind.lt else "" if kind.le is None else ", and finite")
    return {inspect.BoolType: "True or False", inspect.StrType: "text"}.get(type(kind), "a path")


def check_plain(plain: dict[str, Any]) -> None:
    """Raise unless these settings are those that a run writes of itself."""
    for name in IDENTITY:
        if name in plain:
            value = math.inf if name == "clip" and plain[name] is None else plain[name]
            checked(name, value, plain=True)
        elif name not in OLDER:
            raise ValueError(f"it does not say {name}")


def refuse_others(there: dict[str, Any], settings: Settings) -> None:
    """Raise if the run in a folder, by its plain settings, is another one; how far it shall go is no difference.

    Nor is how networks are compared in the end, where a run is older than that; nor by which recipe it was asked for.
    """
    here = settings.plain()
    there = {**OLDER, "selection_samples": here["selection_samples"], **there, "recipe": here["recipe"]}
    if same_model(there["model"], here["model"]):
        there["model"] = here["model"]
    differences = [
        f"{name} is {there.get(name)!r} there and {here.get(name)!r} here"
        for name in {**there, **here}
        if name not in LENGTH and there.get(name) != here.get(name)
    ]
    if differences:
        said = ", ".join(differences)
        raise ValueError(f"{settings.path} has a run with other settings: {said}; choose another --folder")


def same_model(one: str, other: str) -> bool:
    """True if two names are of the same model: of one in a module also its own name, by which it is known in Python."""

    def name_of(model: str) -> str:
        own = find_model(model).name if ":" in model else model
        return model if own in MODELS else own

    try:
        return one == other or name_of(one) == name_of(other)
    except ValueError:  # there is no such module here
        return False


def _check_tasks(settings: Settings) -> None:
    """Raise unless there are such tasks, and they have what is left out."""
    tasks = tuple(settings.tasks)
    if not tasks:
        raise ValueError("which task? `rnar data list` has them all")
    seen = {name for task in tasks for stage in find_task(task).spec[:2] for name in stage}
    for task in tasks:
        if tasks.count(task) > 1:
            raise ValueError(f"{task} is named twice; a network learns each of its tasks once")
    for name in settings.without:
        if name not in seen:
            raise ValueError(f"without {name!r}: there is no such input or hint{nearest(name, seen)}; "
                             f"there are {', '.join(sorted(seen))}")  # fmt: skip


def _joined(tasks: tuple[str, ...]) -> str:
    """A folder's name for tasks."""
    name = "+".join(tasks).replace(":", ".")
    if len(name) > LONGEST_NAME:  # more than file systems take
        return f"{len(tasks)}-tasks-{zlib.crc32(name.encode()):08x}"
    return re.sub(r"[^A-Za-z0-9_+.-]", "_", name)


Resolved = Settings
"""its name where all values are filled in, from when these were two types"""
