"""Runs as rows: what came out of each, what it took, and which settings decided it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from rnar.clrs import ALGORITHMS
from rnar.clrs.splits import size_of
from rnar.common.escaping import printable
from rnar.models import MODELS
from rnar.training.result import Amount, Count, Result, Share
from rnar.training.run import CONFIG, METRICS, RESULT, Which, read_config, read_metrics, read_result, result_of
from rnar.training.settings import IDENTITY, OLDER, PROTOCOL, Settings, as_json

Tell = Callable[[str], None]
Name = Annotated[str, Meta(min_length=1)]
APART = ("tasks", "model", "seed", "steps")  # settings that have columns of their own
BESIDE = ("average", "recipe")  # settings that change nothing of what is tested, as they stand
SIZE = 128  # of a model that is not known here
DIGITS = 6  # of a score


@dataclass(frozen=True)
class Row:
    """One task of one run. Scores are fractions; None is what is not known, or not yet."""

    task: Name
    model: Name
    seed: Count
    finished: bool
    steps: Count
    """how many are done"""
    planned: Count
    validation: Share | None = None
    """at n = 16, of the selected network: the one that is tested"""
    validation_step: Count | None = None
    """after how many steps it was selected"""
    last_validation: Share | None = None
    test_n64: Share | None = None
    test_samples: Count | None = None
    test_low: Share | None = None
    """of the 95% interval over samples"""
    test_high: Share | None = None
    minutes: Amount | None = None
    """of training, validation included"""
    memory_mb: Amount | None = None
    parameters: Count | None = None
    device: str = ""
    threads: Count | None = None
    """of all processes together"""
    commit: str = ""
    settings: str = ""
    """all others that decide the result, as name=value"""
    test_last: Share | None = None
    """of the network after all steps, on the same samples"""
    test_average: Share | None = None
    """of the average of the weights"""
    note: str = ""
    """by hand; it stays when the row is written anew"""
    path: Path | None = field(default=None, compare=False)
    """the run's folder, if it is not from a CSV"""
    place: str = field(default="", compare=False)
    """where it was read"""
    history: list[dict[str, Any]] = field(default_factory=list, compare=False, repr=False)
    """the lines of its metrics, one for each validation"""

    @property
    def recipe(self) -> str:
        """The settings that decide the score, apart from task, model, seed and steps."""
        return without(BESIDE, self.settings)

    @property
    def tests(self) -> dict[Which, float | None]:
        """The test score of each network of the run."""
        return {"best": self.test_n64, "last": self.test_last, "average": self.test_average}


COLUMNS = tuple(column.name for column in fields(Row) if column.compare)


def rows_of(folder: Path) -> Iterator[Row]:
    """Yields a row for each task. A run that was trained further after its end also has the rows of that end."""
    config, lines, result = read_config(folder), read_metrics(folder / METRICS), result_of(folder)
    ends = [result]
    if result is None:
        earlier = filter(None, map(read_result, (*folder.glob("result-*.json"), folder / RESULT)))
        ends = [*sorted(earlier, key=lambda end: end.steps), None]
    for end in ends:
        for task in config["settings"]["tasks"]:
            yield _row(folder, config, lines, task, end)


def _row(folder: Path, config: dict[str, Any], lines: list[dict[str, Any]], task: str, result: Result | None) -> Row:
    settings, done = config["settings"], msgspec.to_builtins(result) if result else {}
    lines = [line for line in lines if result is None or line["step"] <= result.steps]
    last = lines[-1] if lines else {}
    end = done or {**last, "steps": last.get("step", 0)}
    best = next((line for line in lines if line["step"] == end.get("best_step")), {})
    validation = best.get("validations", {}).get(task)
    if validation is None and len(settings["tasks"]) == 1:
        validation = done.get("validation")
    test, test_last, test_average = ((done.get(kind) or {}).get(task, {}) for kind in ("tests", "last", "average"))
    low, high = test.get("interval", (None, None))
    # in what came after these steps the run was tested, or trained further
    used = [e for e in config["environments"] if e.get("from_step", 0) < end["steps"]] or config["environments"][:1]
    threads, seconds = used[-1].get("threads"), end.get("seconds")
    values: dict[str, Any] = dict(
        task=printable(task),
        model=printable(settings["model"]),
        seed=settings["seed"],
        finished=bool(done),
        steps=end["steps"],
        planned=end["steps"] if done and not done["early"] else settings["steps"],
        validation=validation,
        validation_step=end.get("best_step"),
        last_validation=last.get("validations", {}).get(task),
        test_n64=test.get("score"),
        test_samples=test.get("samples"),
        test_low=low,
        test_high=high,
        minutes=None if seconds is None else round(seconds / 60, 2),
        memory_mb=end.get("memory_mb"),
        parameters=done.get("parameters"),
        device=_joined(used, "device"),
        threads=None if threads is None else threads * used[-1].get("processes", 1),
        commit=_joined(used, "commit"),
        settings=settings_text(settings),
        test_last=test_last.get("score"),
        test_average=test_average.get("score"),
    )
    values |= {name: round(value, DIGITS) for name, value in values.items() if isinstance(value, float)}
    return Row(**values, path=folder, place=str(folder), history=lines)


def _joined(environments: list[dict[str, Any]], name: str) -> str:
    """A property of all environments in which a run was trained, in their order."""
    return " then ".join(dict.fromkeys(str(value) for e in environments if (value := e.get(name)) is not None))


def configured(folder: Path) -> list[Path]:
    """The folders of runs in a folder and below it."""
    return sorted(config.parent for config in folder.rglob(CONFIG))


def settings_text(settings: dict[str, Any]) -> str:
    """The settings of a run that have no column of their own.

    Those that are empty, or have the value that runs had before the setting existed, are left out: so rows stay the
    same when a setting is added.
    """
    told = (name for name in IDENTITY if name not in APART and settings.get(name) not in (None, [], OLDER.get(name)))
    some = {name: settings[name] for name in told}
    if len(settings["tasks"]) > 1:
        some["tasks"] = settings["tasks"]
    return " ".join(f"{name}={json.dumps(value, separators=(',', ':'))}" for name, value in some.items())


def parsed(settings: str) -> dict[str, Any]:
    """The inverse of `settings_text`."""
    values = {}
    for pair in settings.split():
        name, _, value = pair.partition("=")
        try:
            values[name] = json.loads(value)
        except ValueError:
            raise ValueError(f"settings have {pair!r}, which is not name=value") from None
    return values


def without(names: tuple[str, ...], settings: str) -> str:
    """The text of settings but for some."""
    return " ".join(pair for pair in settings.split() if pair.partition("=")[0] not in names)


def unusual(row: Row) -> str:
    """In words, where the settings of a run are not those of the model's own paper, or of the standard protocol.

    Except for the number of steps, which every table tells.
    """
    if not row.settings:
        return ""
    usual, settings = _usual_settings(row.model), parsed(row.recipe)
    tasks = settings.pop("tasks", [row.task])
    # no module is imported to count samples: a file of somebody else's runs may name modules that are others here
    whole = [size_of(task, "test").samples if task in ALGORITHMS else math.inf for task in tasks]
    if settings.get("test_samples", 0) >= max(whole):
        settings.pop("test_samples", None)
    settings = {**OLDER, **settings}
    words = [f"{name.replace('_', ' ')} {_word(settings.get(name))}"
             for name in {**usual, **settings} if settings.get(name) != usual.get(name)]  # fmt: skip
    if len(tasks) > 1:
        words.append(f"learned together with {len(tasks) - 1} other task{'s' * (len(tasks) > 2)}")
    return ", ".join(words)


def _usual_settings(model: str) -> dict[str, Any]:
    """The usual settings of a model, as JSON has them."""
    known = MODELS.get(model)
    values: dict[str, Any] = {setting.name: setting.default for setting in fields(Settings)}
    values |= {**PROTOCOL, **(known.training if known else {}), "size": known.size if known else SIZE}
    return {name: as_json(values[name]) for name in IDENTITY if name not in APART}


def _word(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "none", True: "on", False: "off"}[value]
    if isinstance(value, (int, float)):
        return f"{value:g}"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
