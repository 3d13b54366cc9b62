"""A run in a row: what came out of it, what it took, and what decided it. Runs are shared as a CSV of such rows."""

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from rnar.clrs import ALGORITHMS
from rnar.clrs.splits import size_of
from rnar.models import MODELS
from rnar.training.result import Amount, Count, Share
from rnar.training.run import NETWORKS, Which
from rnar.training.settings import IDENTITY, OLDER, PROTOCOL, Settings, as_json

KEY = ("task", "model", "seed", "planned", "settings")  # what makes a run the same run
APART = ("tasks", "model", "seed", "steps")  # settings that have columns of their own
BESIDE = ("average",)  # settings by which a run keeps more, and that change nothing of what is tested
Name = Annotated[str, Meta(min_length=1)]
SIZE = 128  # of a model that is not known here


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
    validation: Share | None
    """at n = 16, of the best network: the one that is tested"""
    validation_step: Count | None
    """after how many steps it was best"""
    last_validation: Share | None
    test_n64: Share | None
    test_samples: Count | None
    test_low: Share | None
    """the 95% interval, if other samples had been drawn"""
    test_high: Share | None
    minutes: Amount | None
    """of training, validation included"""
    memory_mb: Amount | None
    parameters: Count | None
    device: str
    threads: Count | None
    """of all processes together"""
    commit: str
    settings: str
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

    @property
    def key(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in KEY)


COLUMNS = tuple(each.name for each in fields(Row) if each.compare)
LATER = ("test_last", "test_average")
"""columns that older files do not have"""
TESTED: dict[Which, str] = {"best": "test_n64", "last": "test_last", "average": "test_average"}
"""the column with the test of each network of a run"""


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


def deciding(settings: str) -> str:
    """Of a row's settings those that decide its score."""
    return without(BESIDE, settings)


def without(names: Sequence[str], settings: str) -> str:
    """A row's settings but for some."""
    return " ".join(pair for pair in settings.split() if pair.partition("=")[0] not in names)


def with_score_of(network: Which, rows: list[Row]) -> list[Row]:
    """The same with the test of this network of each run in place of that of the selected one.

    Finished runs that do not have it are left out; if none has it, that is an error.
    """
    if network == "best":
        return rows
    found: list[Row] = []
    for row in rows:
        score = getattr(row, TESTED[network])
        if row.test_n64 is None:
            found.append(row)
        elif score is not None:
            found.append(replace(row, test_n64=score, test_low=None, test_high=None))
    if all(row.test_n64 is None for row in found):
        hint = "; train with --average for one" if network == "average" else ""
        raise ValueError(f"no finished run here has a test of {NETWORKS[network]}{hint}")
    return found


def unusual(row: Row) -> str:
    """In words, where the settings of a run are not those of the model's own paper, or of the standard protocol.

    Except for the number of steps, which every table tells.
    """
    usual, settings = usual_settings(row.model), parsed(deciding(row.settings))
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
    found: dict[str, Any] = {each.name: each.default for each in fields(Settings)}
    found |= {**PROTOCOL, **(known.training if known else {}), "size": known.size if known else SIZE}
    return {name: as_json(found[name]) for name in IDENTITY if name not in APART}


def parsed(settings: str) -> dict[str, Any]:
    """The inverse of `settings_text`."""
    found = {}
    for pair in settings.split():
        name, equals, value = pair.partition("=")
        try:
            found[name] = json.loads(value)
        except ValueError:
            equals = ""
        if not equals:
            raise ValueError(f"settings have {pair!r}, which is not name=value")
    return found


def _word(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "none", True: "on", False: "off"}[value]
    if isinstance(value, (int, float)):
        return f"{value:g}"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def once(rows: Iterable[Row], tell: Callable[[str], None]) -> list[Row]:
    """Each run once: of two that are the same the one that got further, and else the first.

    Two that are finished and disagree are both left out: one of them is wrong.
    """
    found: dict[tuple[Any, ...], Row] = {}
    wrong: set[tuple[Any, ...]] = set()
    for row in rows:
        other, run = found.setdefault(row.key, row), f"{row.task}, {row.model}, seed {row.seed}"
        if other.finished and row.finished and _outcome(other) != _outcome(row):
            tell(f"{other.place} and {row.place} are the same run ({run}) and disagree; both are left out")
            wrong.add(row.key)
        elif other is not row and other.path and row.path:
            tell(f"{other.path} and {row.path} are the same run ({run}); it is counted once")
        if (row.finished, row.steps) > (other.finished, other.steps):
            found[row.key] = row
    return [row for key, row in found.items() if key not in wrong]


def _outcome(row: Row) -> tuple[Any, ...]:
    """What came out, by which two rows of one run must agree; of a run that was repeated the time may differ."""
    return row.steps, row.validation_step, row.test_n64, row.test_samples
