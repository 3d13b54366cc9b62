"""Run folders as training leaves them, with made-up numbers and without networks, and what tables show of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rnar.report.page import Page
from rnar.report.paper_table import paper_table
from rnar.report.shared import gather
from rnar.report.tables import listing
from rnar.training import Settings
from rnar.training.run import Which

ROOT = Path(__file__).parents[2]

ENVIRONMENT = {"from_step": 0, "commit": "c0ffee", "device": "cpu", "threads": 2, "processes": 1}


def made_up(
    folder: Path,
    task: str,
    model: str = "rnar",
    seed: int = 0,
    score: float | None = 0.5,
    done: int | None = None,
    validations: list[float] | None = None,
    pace: float = 3.0,
    others: dict[str, float] | None = None,
    **settings: Any,
) -> Path:
    """A run of one task; without a score it was stopped after `done` steps, with one patience ended it there.

    `pace`: seconds a step; `others`: the scores of its other networks, "last" and "average".
    """
    path = folder / task / model / f"seed-{seed}"
    plain = Settings(tasks=(task,), model=model, seed=seed, **settings).resolved().plain()
    last = plain["steps"] if done is None else done
    path.mkdir(parents=True)
    write(path / "config.json", {"settings": plain, "data": {}, "environments": [ENVIRONMENT]})
    scores = validations or [0.0, 0.8, 0.9]
    marks = [round(last * k / (len(scores) - 1)) for k in range(len(scores))] if len(scores) > 1 else [last]
    best = max(range(len(scores)), key=scores.__getitem__)
    lines = [
        dict(step=step, loss=2.0 / k if k else None, losses={task: {"x": 1.5 / k, "y": 0.5 / k}} if k else {})
        | dict(validation=value, validations={task: value}, best=max(scores[: k + 1]))
        | dict(best_step=marks[max(range(k + 1), key=scores.__getitem__)], seconds=pace * step, memory_mb=1000.0 + k)
        for k, (step, value) in enumerate(zip(marks, scores, strict=True))
    ]
    (path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    if score is not None:
        result = dict(
            score=score,
            tests={task: tested(score, settings.get("test_samples"))},
            validation=scores[best],
            best_step=marks[best],
            steps=last,
        )
        cost = dict(parameters=1234, seconds=pace * last, test_seconds=1.0, memory_mb=2500.0)
        more = {name: {task: tested(other)} for name, other in (others or {}).items()}
        write(path / "result.json", result | cost | more | dict(early=done is not None))
    return path


def tested(score: float, samples: int | None = None) -> dict[str, Any]:
    """What a result says of one test."""
    interval = [max(0.0, score - 0.01), min(1.0, score + 0.01)]
    return dict(score=score, interval=interval, outputs={"x": score}, exact=0.1, samples=samples or 32)


def write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value))


def some_runs(folder: Path) -> Path:
    """Three seeds of quickselect, one of heapsort that is finished and one that is not, and a baseline."""
    for seed, score in enumerate([0.80, 0.86, 0.83]):
        made_up(folder, "quickselect", seed=seed, score=score)
    made_up(folder, "heapsort", seed=0, score=0.5)
    made_up(folder, "heapsort", seed=1, score=None, done=400)
    made_up(folder, "heapsort", "triplet-gmpnn", score=0.6)
    return folder


def silent(reason: str) -> None:
    pytest.fail(reason)


def page_of(folder: Path, table: int | None = None, network: Which = "best") -> Page:
    rows = gather([folder], silent)
    return listing(rows) if table is None else paper_table(table, rows, network)


def cells(page: Page, title: str, number: int = 0) -> dict[str, str]:
    """The texts of the row of that title, by column."""
    row = [row for row in page.rows if row[0].text == title][number]
    names = page.names or page.head
    spread = {f"{name} ±": cell.spread for name, cell in zip(names, row, strict=True) if cell.spread}
    return {name: cell.text for name, cell in zip(names, row, strict=True)} | spread


def line_of(out: str, title: str) -> list[str]:
    (line,) = [line for line in out.splitlines() if line.startswith(title)]
    return line.removeprefix(title).split()
