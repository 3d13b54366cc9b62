"""What a training run is decided by: `Settings` are what somebody asks for, `Resolved` is what that comes to.

A new setting is a field of both. Its default in `Resolved` is the value with which runs were trained that are older
than it, so that these can still be read and go on.
"""

from __future__ import annotations

import math
import re
import zlib
from collections.abc import Callable
from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

from rnar.clrs import find as find_task
from rnar.clrs.registry import MOST_SAMPLES
from rnar.common.names import nearest
from rnar.engine.workers import MOST_THREADS
from rnar.models import LARGEST_SIZE, MODELS, Model
from rnar.models import find as find_model
from rnar.nn.reasoner import Precision
from rnar.training import schedules
from rnar.training.schedules import Schedule

Device = Literal["auto", "cpu", "cuda", "mps"]

PROTOCOL = dict(
    steps=10_000, batch=32, learning_rate=1e-3, schedule="constant", weight_decay=0.0, clip=1.0, sizes=None,
    random_positions=True, validate_every=50,
)  # fmt: skip
"""Of Ibarz et al. (2022); a model may bring values of its own paper (`Model.training`)."""

LONGEST_NAME = 100  # of a folder


def asked(default: Any, metavar: str, words: str = "", **more: Any) -> Any:
    """A field that has a flag: what stands for its value there, and what the help says of its default.

    `positional`: the flag is a word without a name. `text`: it is taken as it is written. `name`: that of the flag.
    """
    return field(default=default, metadata=dict(metavar=metavar, words=words, **more))


class OfAModel:
    """What settings say of the model."""

    model: Any
    without: tuple[str, ...]

    @property
    def name(self) -> str:
        """The model's name, by which it is found again."""
        return self.model.name if isinstance(self.model, Model) else self.model

    @property
    def recipe(self) -> Model:
        """The model itself, which sees what these settings leave it."""
        model = self.model if isinstance(self.model, Model) else find_model(self.model)
        return replace(model, without=(*model.without, *self.without)) if self.without else model


@dataclass(frozen=True)
class Settings(OfAModel):
    """What is not given is as the model's own paper has it, and then as the standard protocol has it."""

    tasks: tuple[str, ...] = asked((), "TASK...", positional=True)
    """Which task to learn; of several, a generalist learns a batch of each in turn in every step."""
    model: Any = asked("rnar", "MODEL", "rnar", text=True)
    """Which model: a name that `rnar models` has, or my_models:mine. In Python also a `Model`."""
    seed: int = 0
    """Decides the first weights, the training data, and all else that is drawn."""
    steps: int | None = asked(None, "INT", "10000")
    """How many steps to take. A run can be taken further with more."""
    patience: int | None = asked(None, "INT", "none")
    """End earlier, if validation has not become better for so many steps."""
    start: str | None = asked(None, "RUN", "fresh weights", text=True, name="from")
    """Begin with the weights of another run's network, as far as they fit; with several tasks or another one, it is the
    processor that does."""
    batch: int | None = asked(None, "INT", "32")
    """How many samples a step learns from."""
    learning_rate: float | None = asked(None, "NUMBER", "0.001")
    """Adam's."""
    schedule: str | Schedule | None = asked(None, "NAME", "constant", text=True)
    """How the learning rate changes: constant, cosine, or my_schedules:warmup. In Python also a function."""
    weight_decay: float | None = asked(None, "NUMBER", "0")
    """AdamW's: so much of the learning rate is the share by which weights shrink in a step."""
    clip: float | None = asked(None, "NUMBER", "1.0")
    """Gradients are scaled down to this norm; inf leaves them as they are."""
    sizes: tuple[int, ...] | None = asked(None, "INT...", "4 7 11 13 16")
    """The sizes of the problems, in turn. String matchers count the haystack alone, as the official sets do."""
    random_positions: bool | None = asked(None, "{True,False}", "True")
    """Draw positions, edge probabilities and needles at random, or have them as the official sets do."""
    size: int | None = asked(None, "INT", "the model's")
    """How many numbers the network has for each node."""
    precision: Precision = "float32"
    """Of the largest matrix products in training; with bfloat16, sums and all else are float32, and so are validation
    and test. It pays on a CPU that has instructions for it."""
    without: tuple[str, ...] = ()
    """Inputs and hints that the network does not see."""
    average: float | None = asked(None, "NUMBER", "none")
    """Keep an exponential average of the weights too, with this decay a step (0.999, say). It is validated and tested
    beside the others, never in their place."""
    validate_every: int | None = asked(None, "INT", "50")
    """So many steps lie between validations, at n = 16. The few networks that were best are kept."""
    validation_samples: int = 128
    """How many samples a validation has. With 128 it takes less than 15% of the time on any task."""
    selection_samples: int | None = asked(None, "INT", "1024, or as many as dm-clrs validates on")
    """On so many samples more of n = 16 the best networks are compared in the end, and the best of them is tested. 0
    compares none: it is the one that was best in validation."""
    wider_samples: int = 32
    """At each validation, so many samples of a larger size are scored too. That is recorded, and decides nothing."""
    wider_n: int = 32
    """That size. With 64 a run tells how its score at the size of the test moves along the steps."""
    test_samples: int | None = asked(None, "INT", "all")
    """How many samples of the official set to test on: the first so many. Six tasks have 2048 of them, which takes long
    on a CPU. A run can be tested on more of them later."""
    folder: Path | None = asked(None, "PATH", "runs/TASK/MODEL/seed-SEED")
    """Where the run is kept."""
    device: Device = "auto"
    """What computes: auto takes a GPU if there is one."""
    threads: int | None = asked(None, "INT", "one for each core")
    """How many threads compute on a CPU."""
    memory: float | None = asked(None, "GB", "a quarter of what is free")
    """How much memory may be spent on what would else be computed twice; it changes no result."""
    cuda_graphs: bool = False
    """On a GPU, record the steps of an algorithm once for each size of problems, and play them again: less to ask it
    for, and more to compute. Never tried on one yet."""
    tensorboard: bool = False
    """Write events for TensorBoard as well, into the run's folder."""
    anyway: bool = False
    """Go on with a run, or tell its result, though your own code of its model or task has changed since."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tasks", (self.tasks,) if isinstance(self.tasks, str) else tuple(self.tasks))
        object.__setattr__(self, "start", None if self.start is None else str(self.start))
        object.__setattr__(self, "folder", None if self.folder is None else Path(self.folder))
        object.__setattr__(self, "sizes", None if self.sizes is None else tuple(self.sizes))
        object.__setattr__(self, "without", (self.without,) if isinstance(self.without, str) else tuple(self.without))

    @property
    def path(self) -> Path:
        """The run's folder."""
        model = "-without-".join([self.name.replace(":", "."), *self.without])
        return self.folder or Path("runs", _joined(self.tasks), model, f"seed-{self.seed}")

    def resolved(self) -> Resolved:
        """The same with every value filled in, if they make sense."""
        model = self.recipe
        for name in model.training:
            if name not in PROTOCOL:
                raise ValueError(f"the model {self.name!r} sets {name!r} for its training{nearest(name, PROTOCOL)}; "
                                 f"what a model can set is {', '.join(PROTOCOL)}")  # fmt: skip
        values = {each.name: getattr(self, each.name) for each in fields(Settings) if each.name != "folder"}
        usual = {**PROTOCOL, **model.training, "size": model.size}
        values |= {name: value for name, value in usual.items() if values[name] is None}
        values["clip"] = math.inf if values["clip"] is None else values["clip"]
        values["tasks"] = tuple(find_task(task).name for task in self.tasks)
        return Resolved(**values, path=replace(self, tasks=values["tasks"]).path).resolved()


@dataclass(frozen=True, kw_only=True)
class Resolved(OfAModel):
    """What a run is: `Settings` with every value. What the fields are is told there, what None means is told here.

    What has a default may be missing in the config.json of a run, which is older than it or does not depend on it.
    """

    tasks: tuple[str, ...]
    model: Any
    seed: int
    steps: int
    patience: int | None = None
    """None: all steps are taken"""
    start: str | None = None
    """None: with fresh weights"""
    batch: int
    learning_rate: float
    schedule: str | Schedule = "constant"
    weight_decay: float = 0.0
    clip: float
    """inf: not at all"""
    sizes: tuple[int, ...] | None
    """None: those of the standard protocol, which are the task's"""
    random_positions: bool
    size: int
    precision: Precision = "float32"
    without: tuple[str, ...] = ()
    average: float | None = None
    """None: there is no average"""
    validate_every: int
    validation_samples: int
    selection_samples: int | None = None
    """None: as many as are usual for each task"""
    test_samples: int | None = None
    """None: all"""
    path: Path = Path()
    """the run's folder"""
    wider_samples: int = 32
    wider_n: int = 32
    device: Device = "auto"
    threads: int | None = None
    """None: one for each core of whichever machine"""
    memory: float | None = None
    """None: a quarter of what is free"""
    cuda_graphs: bool = False
    tensorboard: bool = False
    anyway: bool = False

    def resolved(self) -> Resolved:
        """These, if they make sense."""
        _check_tasks(self)
        schedules.find(self.schedule)
        schedules.name_of(self.schedule)
        check_values(vars(self))
        return self

    def plain(self) -> dict[str, Any]:
        """What decides the result, as JSON has it. Not where it is kept, and what computes it."""
        found = {name: as_json(getattr(self, name)) for name in IDENTITY}
        return {**found, "model": self.name}

    @staticmethod
    def from_plain(plain: dict[str, Any], model: Model | None = None, **how: Any) -> Resolved:
        """The inverse of `plain`; `model` if it cannot be found by its name, `how` is what decides no result."""
        if model is None and ":" not in plain["model"] and plain["model"] not in MODELS:
            raise ValueError(f"there is no model {plain['model']!r} here; give it as well: Run(path, model)")
        values = {name: plain[name] for name in IDENTITY if name in plain}
        values |= {name: tuple(value) for name, value in values.items() if isinstance(value, list)}
        values["clip"] = math.inf if values["clip"] is None else values["clip"]
        return Resolved(**{**values, "model": model or plain["model"]}, **how)


class Rule(NamedTuple):
    """What holds for the values of some settings, where they are not None."""

    words: str
    holds: Callable[[Any], object]
    names: str


RULES = (
    Rule("a whole number of at least 0", lambda x: isinstance(x, int) and x >= 0, "seed"),
    Rule(f"a whole number from 0 to {MOST_SAMPLES:,}", lambda x: isinstance(x, int) and 0 <= x <= MOST_SAMPLES,
         "selection_samples wider_samples"),
    Rule("a whole number of at least 1", lambda x: isinstance(x, int) and x >= 1,
         "steps validate_every test_samples patience wider_n"),
    Rule(f"a whole number from 1 to {MOST_SAMPLES:,}", lambda x: isinstance(x, int) and 1 <= x <= MOST_SAMPLES,
         "batch validation_samples"),
    Rule(f"a whole number from 1 to {LARGEST_SIZE}", lambda x: isinstance(x, int) and 1 <= x <= LARGEST_SIZE, "size"),
    Rule(f"a whole number from 1 to {MOST_THREADS}", lambda x: isinstance(x, int) and 1 <= x <= MOST_THREADS,
         "threads"),
    Rule("above 0 and finite", lambda x: 0 < x < math.inf, "learning_rate"),
    Rule("above 0", lambda x: x > 0, "clip"),
    Rule("at least 0 and finite", lambda x: 0 <= x < math.inf, "weight_decay memory"),
    Rule("between 0 and 1", lambda x: 0 < x < 1, "average"),
    Rule("at least one size", len, "sizes"),
    Rule(" or ".join(get_args(Precision)), get_args(Precision).__contains__, "precision"),
)  # fmt: skip


def check_values(values: dict[str, Any]) -> None:
    """Raise where settings make no sense, whatever the tasks and the model are."""
    for rule in RULES:
        for name in rule.names.split():
            value = values.get(name)
            if value is not None and not rule.holds(value):
                raise ValueError(f"{name} must be {rule.words}, not {value!r}")
    if values["steps"] % values["validate_every"]:
        raise ValueError(
            f"steps={values['steps']} is not a multiple of validate_every={values['validate_every']}: "
            "what is learned after the last validation would be lost"
        )


LENGTH = ("steps", "patience", "test_samples")
"""settings that decide how far a run goes, and how far its test: it may go on with others"""
HOW = ("wider_samples", "wider_n", "device", "threads", "memory", "cuda_graphs", "tensorboard", "anyway")
"""settings that decide no result"""
IDENTITY = tuple(each.name for each in fields(Resolved) if each.name not in (*HOW, "path"))
"""those that do, and so make a run the run it is"""


def as_json(value: Any) -> Any:
    """The value of a setting as JSON has it, which knows neither infinity nor functions."""
    if callable(value):  # a model is told by its name elsewhere
        return schedules.name_of(value)  # pyright: ignore[reportArgumentType]
    if isinstance(value, tuple):
        return list(value)
    return None if value == math.inf else value


OLDER = {each.name: as_json(each.default) for each in fields(Resolved)
         if each.name in IDENTITY and each.default is not MISSING}  # fmt: skip
"""settings that older runs do not have, and with what they were run, as JSON has it"""


def refuse_others(there: dict[str, Any], settings: Resolved) -> None:
    """Raise if the run in a folder, by its plain settings, is another one; how far it shall go is no difference.

    Nor is how networks are compared in the end, where a run is older than that.
    """
    here = settings.plain()
    there = {**OLDER, "selection_samples": here["selection_samples"], **there}
    found = [
        f"{name} is {there.get(name)!r} there and {here.get(name)!r} here"
        for name in {**there, **here}
        if name not in LENGTH and there.get(name) != here.get(name)
    ]
    if found:
        raise ValueError(f"{settings.path} has a run with other settings: {', '.join(found)}; choose another --folder")


def _check_tasks(settings: Resolved) -> None:
    """Are there such tasks, and do they have what is left out?"""
    if not settings.tasks:
        raise ValueError("which task? `rnar data list` has them all")
    seen = {name for task in settings.tasks for stage in find_task(task).spec[:2] for name in stage}
    for task in settings.tasks:
        if settings.tasks.count(task) > 1:
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
