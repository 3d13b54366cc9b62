"""What training costs besides gradients: the real loop in a scratch folder, with its data, log, display and saving."""

from __future__ import annotations

import io
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from rich.console import Console

from rnar.clrs import find
from rnar.models import Model
from rnar.training.environment import chosen_device
from rnar.training.folder import claimed
from rnar.training.learner import Learner
from rnar.training.live import Live
from rnar.training.loop import learn
from rnar.training.settings import Device, Settings
from rnar.training.stopping import Stop
from rnar.training.team import Team
from rnar.training.watch import Beginning


def seconds_besides(
    task: str, model: Model, n: int, batch: int, size: int, threads: int, device: Device, steps: int
) -> float:
    """Seconds a step that training spends on other things than gradients and validation.

    A state is saved at the beginning and at the end: more often than in a long run, where that is done twice a minute.
    """
    problem = find(task).problem
    official = max((size for size in range(1, n + 1) if problem.length(size) <= n), default=n)
    with tempfile.TemporaryDirectory() as place:
        settings = Settings(
            tasks=(task,), model=model, batch=batch, sizes=(official,), size=size, device=device, steps=steps,
            validate_every=steps, validation_samples=1, folder=Path(place) / "run",
        ).resolved()  # fmt: skip
        team = Team(chosen_device(device), threads)
        console = Console(file=io.StringIO(), force_terminal=True)
        with closing(Learner(settings, team)) as learner, closing(Live(console)) as live, claimed(settings) as folder:
            folder.begin({}, {})
            live.began(Beginning(settings, settings.path, 0, learner.parameters, str(team.device), threads, []))
            inside = Stopwatch()
            learner.workers.backward = inside.timed(learner.workers.backward)  # type: ignore[method-assign]
            learner.validate = inside.timed(learner.validate)  # type: ignore[method-assign]
            learner.workers.backward(next(learner.streams[task]))  # processes are started, loops compiled
            inside.seconds, start = 0.0, time.perf_counter()
            learn(learner, folder, live, Stop())
            return (time.perf_counter() - start - inside.seconds) / steps


class Stopwatch:
    """Adds up the time that calls take."""

    seconds = 0.0

    def timed(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any, **named: Any) -> Any:
            start = time.perf_counter()
            try:
                return function(*args, **named)
            finally:
                self.seconds += time.perf_counter() - start

        return call
