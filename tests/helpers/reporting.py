"""Run folders as training leaves them, with made-up numbers and without networks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rnar.training import Settings

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
    **settings: Any,
) -> Path:
    """A run of one task; without a score it was stopped after `done` steps. `pace`: seconds a step."""
    path = folder / task / model / f"seed-{seed}"
    plain = Settings(tasks=(task,), model=model, seed=seed, **settings).resolved().plain()
    last = plain["steps"] if done is None else done
    path.mkdir(parents=True)
    write(path / "config.json", {"settings": plain, "data": {}, "environments": [ENVIRONMENT]})
    scores = validations or [0.0, 0.8, 0.9]
    marks = [round(last * k / (len(scores) - 1)) for k in range(len(scores))] if len(scores) > 1 else [last]
    best = max(range(len(scores)), key=scores.__getitem__)
    lines = [
        dict(step=step, loss=1.0, losses={}, validation=value, validations={task: value}, best=max(scores[: k + 1]))
        | dict(best_step=marks[max(range(k + 1), key=scores.__getitem__)], seconds=pace * step, memory_mb=1000.0 + k)
        for k, (step, value) in enumerate(zip(marks, scores, strict=True))
    ]
    (path / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    if score is not None:
        test = dict(score=score, interval=[score - 0.01, score + 0.01], outputs={"x": score}, exact=0.1, samples=32)
        result = dict(score=score, tests={task: test}, validation=scores[best], best_step=marks[best], steps=last)
        cost = dict(parameters=1234, seconds=pace * last, test_seconds=1.0, memory_mb=2500.0)
        write(path / "result.json", result | cost)
    return path


def write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value))
