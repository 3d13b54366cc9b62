"""Rows of the run folders that training has left."""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from rnar.common.escaping import printable
from rnar.report.rows import Row, once, settings_text
from rnar.report.store import FILE, read_rows
from rnar.training.result import Result
from rnar.training.run import CONFIG, METRICS, RESULT, read_config, read_metrics, read_result, result_of

Tell = Callable[[str], None]
DIGITS = 6  # of a score


def gather(paths: Iterable[Path], tell: Tell) -> list[Row]:
    """All runs in these folders, below them, and in these CSV files, each once. What cannot be read is told."""
    return once([row for path in paths for row in _rows_at(path, tell)], tell)


def _rows_at(path: Path, tell: Tell) -> list[Row]:
    if path.is_dir():
        folders = sorted(config.parent for config in path.rglob(CONFIG))
        if not folders and (path / FILE).is_file():
            return read_rows(path / FILE, tell)
        rows = [row for folder in folders for row in readable_rows(folder, tell)]
        if not rows:
            unreadable = " that can be read" if folders else ""
            raise ValueError(f"there is no run{unreadable} in {path} or below; `rnar train` makes one")
        return rows
    if not path.exists():
        raise ValueError(f"there is no {path}; name folders with runs, or CSV files that --export wrote")
    return read_rows(path, tell)


def readable_rows(folder: Path, tell: Tell) -> list[Row]:
    """The rows of a run; none if one of its files is damaged."""
    try:
        return list(rows_of(folder))
    except (ValueError, OSError) as error:
        tell(f"{folder} is left out: {error}")
    return []


def rows_of(folder: Path) -> Iterator[Row]:
    """A row for each task. A run that was trained further after its end also has the rows of that end."""
    config, lines = read_config(folder), read_metrics(folder / METRICS)
    result = result_of(folder)
    if result is None:
        earlier = [read_result(path) for path in (*folder.glob("result-*.json"), folder / RESULT)]
        for each in sorted((each for each in earlier if each), key=lambda each: each.steps):
            yield from _rows(folder, config, lines, each)
    yield from _rows(folder, config, lines, result)


def _rows(folder: Path, config: dict[str, Any], lines: list[dict[str, Any]], result: Result | None) -> Iterator[Row]:
    settings = config["settings"]
    if result is not None:
        lines = [line for line in lines if line["step"] <= result.steps]
    last = lines[-1] if lines else {}
    best_step = result.best_step if result else last.get("best_step")
    best = next((line for line in lines if line["step"] == best_step), {})
    seconds = result.seconds if result else last.get("seconds")
    steps = result.steps if result else last.get("step", 0)
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
            test_n64=_rounded(test.score) if test else None,
            test_samples=test.samples if test else None,
            test_low=_rounded(test.interval[0]) if test else None,
            test_high=_rounded(test.interval[1]) if test else None,
            minutes=None if seconds is None else round(seconds / 60, 2),
            memory_mb=result.memory_mb if result else last.get("memory_mb"),
            parameters=result.parameters if result else None,
            device=_each(environments, "device"),
            threads=None if threads is None else threads * environments[-1].get("processes", 1),
            commit=_each(environments, "commit"),
            settings=settings_text(settings),
            test_last=_rounded(result.last[task].score) if result and result.last else None,
            test_average=_rounded(result.average[task].score) if result and result.average else None,
            path=folder,
            place=str(folder),
        )


def _trained_in(environments: list[dict[str, Any]], steps: int) -> list[dict[str, Any]]:
    """Those in which some of so many steps were taken: in what came later a run was tested, or trained further."""
    return [each for each in environments if each.get("from_step", 0) < steps] or environments[:1]


def _rounded(score: float | None) -> float | None:
    return None if score is None else round(score, DIGITS)


def _each(environments: list[dict[str, Any]], name: str) -> str:
    """A property of all environments in which a run was trained, in their order."""
    return " then ".join(dict.fromkeys(str(each[name]) for each in environments if each.get(name) is not None))
