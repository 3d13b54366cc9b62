"""Runs as rows: what came out of each, what it took, and which settings decided it."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from rnar.clrs import ALGORITHMS
from rnar.clrs.splits import size_of
from rnar.common.escaping import printable
from rnar.models import MODELS
from rnar.training.result import Amount, Count, Result, Share, Tested
from rnar.training.run import CONFIG, METRICS, RESULT, Which, read_config, read_metrics, read_result, result_of
from rnar.training.settings import IDENTITY, OLDER, PROTOCOL, Settings, as_json

Tell = Callable[[str], None]
Name = Annotated[str, Meta(min_length=1)]
APART = ("tasks", "model", "seed", "steps")  # settings that have columns of their own
BESIDE = ("average",)  # settings by which a run keeps more, and that change nothing of what is tested
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
    """how many it shall be"""
    validation: Share | None = None
    """at n = 16, of the selected network: the one that is tested"""
    validation_step: Count | None = None
    """after how many steps it was selected"""
    last_validation: Share | None = None
    test_n64: Share | None = None
    test_samples: Count | None = None
    test_low: Share | None = None
    """the 95% interval, if other samples had been drawn"""
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
        """The test of each network of the run."""
        return {"best": self.test_n64, "last": self.test_last, "average": self.test_average}


COLUMNS = tuple(each.name for each in fields(Row) if each.compare)


def rows_of(folder: Path) -> Iterator[Row]:
    """A row for each task. A run that was trained further after its end also has the rows of that end."""
    config, lines, result = read_config(folder), read_metrics(folder / METRICS), result_of(folder)
    if result is None:
        earlier = [read_result(path) for path in (*folder.glob("result-*.json"), folder / RESULT)]
        for end in sorted((end for end in earlier if end), key=lambda end: end.steps):
            yield from _rows(folder, config, lines, end)
    yield from _rows(folder, config, lines, result)


def _rows(folder: Path, config: dict[str, Any], lines: list[dict[str, Any]], result: Result | None) -> Iterator[Row]:
    settings = config["settings"]
    if result is not None:
        lines = [line for line in lines if line["step"] <= result.steps]
    last = lines[-1] if lines else {}
    steps = result.steps if result else last.get("step", 0)
    best_step = result.best_step if result else last.get("best_step")
    best = next((line for line in lines if line["step"] == best_step), {})
    seconds = result.seconds if result else last.get("seconds")
    environments = _trained_in(config["environments"], steps)
    threads = environments[-1].get("threads")
    for task in settings["tasks"]:
        test = result.tests[task] if result else None
        validation = best.get("validations", {}).get(task)
        if validation is None and result and len(settings["tasks"]) == 1:
            validation = result.validation
        yield Row(
            task=printable(task),
            model=printable(settings["model"]),
            seed=settings["seed"],
            finished=result is not None,
            steps=steps,
            planned=result.steps if result and not result.early else settings["steps"],
            validation=_rounded(validation),
            validation_step=best_step,
            last_validation=_rounded(last.get("validations", {}).get(task)),
            test_n64=_score(test),
            test_samples=test.samples if test else None,
            test_low=_rounded(test.interval[0]) if test else None,
            test_high=_rounded(test.interval[1]) if test else None,
            minutes=None if seconds is None else round(seconds / 60, 2),
            memory_mb=result.memory_mb if result else last.get("memory_mb"),
            parameters=result.parameters if result else None,
            device=_joined(environments, "device"),
            threads=None if threads is None else threads * environments[-1].get("processes", 1),
            commit=_joined(environments, "commit"),
            settings=settings_text(settings),
            test_last=_score(result.last[task]) if result and result.last else None,
            test_average=_score(result.average[task]) if result and result.average else None,
            path=folder,
            place=str(folder),
            history=lines,
        )


def _trained_in(environments: list[dict[str, Any]], steps: int) -> list[dict[str, Any]]:
    """Those in which some of so many steps were taken: in what came later a run was tested, or trained further."""
    return [each for each in environments if each.get("from_step", 0) < steps] or environments[:1]


def _joined(environments: list[dict[str, Any]], name: str) -> str:
    """A property of all environments in which a run was trained, in their order."""
    return " then ".join(dict.fromkeys(str(each[name]) for each in environments if each.get(name) is not None))


def _score(test: Tested | None) -> float | None:
    return None if test is None else _rounded(test.score)


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, DIGITS)


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
        name, equals, value = pair.partition("=")
        try:
            values[name] = json.loads(value)
        except ValueError:
            equals = ""
        if not equals:
            raise ValueError(f"settings have {pair!r}, which is not name=value")
    return values


def without(names: tuple[str, ...], settings: str) -> str:
    """The text of settings but for some."""
    return " ".join(pair for pair in settings.split() if pair.partition("=")[0] not in names)


def unusual(row: Row) -> str:
    """In words, where the settings of a run are not those of the model's own paper, or of the standard protocol.

    Except for the number of steps, which every table tells.
    """
    usual, settings = usual_settings(row.model), parsed(row.recipe)
    tasks = settings.pop("tasks", [row.task])
    if all(settings.get("test_samples", 0) >= _all_samples(task) for task in tasks):
        settings.pop("test_samples", None)  # that is all there are
    settings = {**OLDER, **settings}
    words = [f"{name.replace('_', ' ')} {_word(settings.get(name))}"
             for name in {**usual, **settings} if settings.get(name) != usual.get(name)]  # fmt: skip
    if len(tasks) > 1:
        words.append(f"learned together with {len(tasks) - 1} other task{'s' * (len(tasks) > 2)}")
    return ", ".join(words)


def _all_samples(task: str) -> float:
    """How many samples the whole test has; infinitely many for a task that is not known here.

    No module is imported to find out: a file of somebody else's runs may name modules that are others here.
    """
    return size_of(task, "test").samples if task in ALGORITHMS else math.inf


def usual_settings(model: str) -> dict[str, Any]:
    """The usual settings of a model, as JSON has them."""
    known = MODELS.get(model)
    values: dict[str, Any] = {each.name: each.default for each in fields(Settings)}
    values |= {**PROTOCOL, **(known.training if known else {}), "size": known.size if known else SIZE}
    return {name: as_json(values[name]) for name in IDENTITY if name not in APART}


def _word(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "none", True: "on", False: "off"}[value]
    if isinstance(value, (int, float)):
        return f"{value:g}"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)
