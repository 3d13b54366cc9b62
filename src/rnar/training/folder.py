"""The folder that a run is written to.

    config.json          the settings with all values, and what computed them
    metrics.jsonl        a line for each validation
    state.safetensors    all that is needed to go on: weights, Adam's moments, the best weights, where the data are
    best.safetensors     the weights that were best in validation; in the end those of the network that is tested
    tests.json           what was counted of each sample of the tests, and which network was selected for them
    result.json          the test, when all is done

The state is one file and takes its name when it is complete, so that a process may be killed at any moment. The order
in which the others are written makes the state alone decide where a run goes on:

* A line of the metrics is written before the first state that is not behind it. So no line is ever missing; those which
  are ahead of the state, or torn, are cut off.
* best.safetensors is written after the state that holds the same weights. So it is never ahead of the state; where it
  is behind, or ahead because a network was selected for the test, it is made anew of the state.
* tests.json says after which step of the run its networks were tested. If that is not where the state is, it does not
  count. It stays beside the result, so that a test on more samples goes on from there.
* result.json is written last, of a state at the last step. Where a run goes on to more steps, its folder stays as it is
  until the first state beyond them is safe; then the new number is noted, and the result of the old one is set aside.
  Where it is only tested on more samples, that is done when their result is there.
"""

from __future__ import annotations

import json
import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from rnar.clrs.splits import size_of
from rnar.common.files import read, write
from rnar.common.fingerprint import differences
from rnar.common.lock import locked
from rnar.training.environment import own_code
from rnar.training.files import BEST, CONFIG, METRICS, RESULT, STATE, TESTS, unpack, write_json
from rnar.training.learner import Kept, Learner
from rnar.training.result import Result
from rnar.training.run import read_config, read_metrics, read_result, result_of
from rnar.training.settings import Settings, refuse_others

LOCK = ".lock"
FILES = (CONFIG, METRICS, STATE, BEST, TESTS, RESULT)

SAVE_EVERY = 30.0  # seconds: what is lost if the process is killed
SAVE_SHARE = 0.005  # of the time may be spent on it


def finished(settings: Settings) -> Result | None:
    """The result that is there already, if the folder holds the whole of this run."""
    path = settings.path
    if not (path / CONFIG).is_file() or not _begun(path):
        return None
    config = read_config(path)
    _refuse(config, settings)
    return whole_result(config["settings"], settings)


def whole_result(there: dict[str, Any], settings: Settings) -> Result | None:
    """The result in the folder of these settings, if what they ask for is `there`: the run's own settings. A test on
    more samples than they ask for is one on as many."""
    result = result_of(settings.path)
    if result is not None and _tested(there.get("test_samples"), result) < _asked(settings.test_samples):
        return None
    if result is not None and result.early:  # more steps alone do not change that
        patience = there.get("patience") or 0
        return result if settings.patience is not None and settings.patience <= patience else None
    return result if there["steps"] == settings.steps else None


@contextmanager
def claimed(settings: Settings) -> Iterator[Folder]:
    """The run's folder, made if it is not there, for this process alone."""
    path = settings.path
    if path.exists() and not path.is_dir():
        raise ValueError(f"{path} is a file, so no run can be kept there; choose another --folder")
    if path.is_symlink() and not path.exists():
        raise ValueError(
            f"{path} is a link to {os.readlink(path)}, which is not there; make it, or choose another --folder"
        )
    path.mkdir(parents=True, exist_ok=True)
    others = [name for name in sorted(os.listdir(path)) if not name.startswith(".")]
    if others and CONFIG not in others:
        raise ValueError(f"{path} is no folder of a run: it has {others[0]} and no {CONFIG}; choose another --folder")
    for name in (*FILES, LOCK):
        if (path / name).is_symlink():
            raise ValueError(f"{path / name} is a link, and a run writes into no file outside of its folder; "
                             "put the file itself there")  # fmt: skip
    if (path / METRICS).exists() and (path / METRICS).stat().st_nlink > 1:  # the one file that is added to
        raise ValueError(f"{path / METRICS} is a hard link, and a run writes into no file outside of its folder; "
                         "put a copy of it there")  # fmt: skip
    with locked(path / LOCK):
        for name in FILES:
            for partial in path.glob(f".{name}.*.partial"):  # of a process that was killed
                partial.unlink()
        if (path / CONFIG).exists():
            config = read_config(path)  # raises if it is somebody else's
            if _begun(path):
                _refuse(config, settings)
        yield Folder(settings)


class Folder:
    """A run's folder, which this process writes to."""

    def __init__(self, settings: Settings):
        self.settings, self.path = settings, settings.path
        self.code: dict[str, str] = {}
        """digests of a user's code, by which the run goes on"""
        self._saved, self._cost = time.monotonic(), 0.0
        self._best_step: int | None = None
        self._config: dict[str, Any] | None = None
        """what is to be noted when the first state beyond the end of a finished run is safe"""

    def begin(self, data: dict[str, Any], environment: dict[str, Any], paced: str | None = None) -> list[str]:
        """Note what the run is, or that it goes on; return what has changed in its environment.

        `paced`: what in it goes by the share of training that is done, so that a longer run begins otherwise.
        """
        path, steps = self.path / CONFIG, self.settings.steps
        self.code = environment.get("code", {})
        config: dict[str, Any] = {"settings": self.settings.plain(), "data": data, "environments": [environment]}
        if not path.exists() or not _begun(self.path):
            write_json(path, config)
            return []
        before = read_config(self.path)
        done = before["settings"]["steps"]
        if steps != done and paced:
            raise ValueError(
                f"{self.path} has a run of {done} steps, and {paced} learns by how much of them is done, "
                f"so that it cannot be taken further; choose another --folder for {steps} steps"
            )
        changes = _changes(before["environments"][-1], environment)
        config["environments"] = before["environments"] + [environment] * bool(changes)
        if self._result and (self._result.early or self._result.steps == done):
            self._config = config
        elif config != before:
            write_json(path, config)
        return changes

    @property
    def _result(self) -> Result | None:
        return read_result(self.path / RESULT)

    def state(self) -> bytes | None:
        """What was saved last."""
        path = self.path / STATE
        if path.exists():
            return read(path)
        reports = read_metrics(self.path / METRICS)
        if reports and reports[-1]["step"] > 0:
            raise ValueError(
                f"{path} is missing, so that this run, which came to step {reports[-1]['step']}, cannot go on: put the "
                "file back, or choose another --folder to begin anew"
            )
        return None

    def resume(self, step: int, best: Kept | None) -> None:
        """Bring the other files to where the state is; without a state, nothing that was written counts."""
        metrics, path = self.path / METRICS, self.path / BEST
        if metrics.exists():
            lines, reports = read(metrics).splitlines(keepends=True), read_metrics(metrics)
            last = step if best else -1
            kept = [line for line, report in zip(lines, reports, strict=False) if report["step"] <= last]
            if kept != lines:
                os.truncate(metrics, sum(map(len, kept)))
        if best and path.exists():
            unpack(read(path), path)  # raises if it is somebody else's
        if best and not self._result:
            self.keep(best)

    def keep(self, best: Kept) -> None:
        """Have these weights as the best."""
        path, content = self.path / BEST, best.packed()
        if not path.exists() or read(path) != content:
            write(path, content)
        self._best_step = best.step

    def report(self, line: dict[str, Any]) -> None:
        """Add a line to the metrics."""
        path = self.path / METRICS
        try:
            with open(path, "ab") as file:
                file.write((json.dumps(line, allow_nan=False) + "\n").encode())
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            error.filename = str(path)
            raise

    @property
    def save_is_due(self) -> bool:
        """True if the last state is so old that another one is worth its time."""
        return time.monotonic() - self._saved >= max(SAVE_EVERY, self._cost / SAVE_SHARE)

    def save(self, learner: Learner) -> None:
        """Keep a state, and the best weights that it holds; set the result of fewer steps aside."""
        start = time.monotonic()
        write(self.path / STATE, learner.snapshot())
        self._note_config()
        if (before := self._result) and before.steps < self.settings.steps:
            os.replace(self.path / RESULT, self.path / f"result-{before.steps}.json")
        if learner.best and learner.best.step != self._best_step:
            self.keep(learner.best)
        self._saved = time.monotonic()
        self._cost = self._saved - start

    def _note_config(self) -> None:
        if self._config is not None:
            write_json(self.path / CONFIG, self._config)
            self._config = None

    def finish(self, result: Result) -> None:
        """Write the result: the run is done. One that was tested on fewer samples before keeps that result, too."""
        if before := self._result:
            samples = max(test.samples for test in before.tests.values())
            os.replace(self.path / RESULT, self.path / f"result-{before.steps}-of-{samples}-samples.json")
        self._note_config()
        write_json(self.path / RESULT, msgspec.to_builtins(result))


def _begun(path: Path) -> bool:
    """True if a run has learned anything in this folder; if it has not, its settings bind nobody."""
    written = any((path / name).exists() for name in (STATE, BEST, RESULT))
    return written or any(report["step"] for report in read_metrics(path / METRICS))


def _asked(count: int | str | None) -> float:
    """On how many samples a run is to be tested at least."""
    return {None: math.inf, "auto": 0}.get(count, count)  # pyright: ignore


def _tested(count: int | str | None, result: Result) -> float:
    """On how many samples of each task a run was tested that was to be tested on so many; inf for all of them."""
    if count != "auto":
        return _asked(count)
    some = [test.samples for task, test in result.tests.items() if test.samples < size_of(task, "test").samples]
    return min(some, default=math.inf)


def _refuse(config: dict[str, Any], settings: Settings) -> None:
    """Raise if a run cannot go on as the settings say, or with what a user's code is now."""
    there = config["settings"]
    refuse_others(there, settings)
    if not settings.allow_code_change and (changed := _changed_code(config["environments"][-1], own_code(settings))):
        raise ValueError(
            f"{settings.path} has a run of other code: {', '.join(changed)} changed since. Choose another --folder, "
            "delete this one to begin anew, or give --allow-code-change (allow_code_change=True) to go on"
        )
    if settings.steps < there["steps"]:
        raise ValueError(f"{settings.path} has a run of {there['steps']} steps, not {settings.steps}: "
                         "it can be taken further, not back")  # fmt: skip


def _changed_code(before: dict[str, Any], now: dict[str, str]) -> list[str]:
    """What of a user's code is other than an environment says; runs that are older than such notes say nothing."""
    return differences(before["code"], now) if "code" in before else []


def _changes(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    changes = [
        f"{name} was {before.get(name)} and is {value}"
        for name, value in now.items()
        if name not in ("from_step", "code") and before.get(name) != value
    ]
    return changes + [f"the code of {name} has changed" for name in _changed_code(before, now.get("code", {}))]
