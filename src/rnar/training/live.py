"""Training as it goes: a line that lives in a terminal, plain lines in a file."""

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import rich.live
import torch
from rich.console import Console, RenderableType
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from rnar.clrs.splits import is_official
from rnar.common.checking import checked
from rnar.common.durations import took
from rnar.training.environment import has_bfloat16
from rnar.training.watch import Beginning, Callback

WINDOW = 50  # steps over which the speed is measured
REFRESHES = 2  # in a second
QUIET = 30.0  # seconds: where there is no terminal, a line is printed at least so often


class Live(Callback):
    """Prints to a console what happens: `rnar.train(settings, rnar.Live())`, in a notebook too."""

    @checked
    def __init__(self, console: Console | None = None):
        self.console = console or Console(highlight=False, markup=False)
        self.step, self.loss, self.report = 0, math.nan, {}
        self.steps = self.samples = 1
        self.share: float | None = None
        self.doing = ""
        self._times: deque[tuple[float, int]] = deque(maxlen=WINDOW + 1)
        self._live: rich.live.Live | None = None
        self._said = time.monotonic()

    def began(self, beginning: Beginning) -> None:
        settings = beginning.settings
        self.step, self.steps = beginning.step, settings.steps
        self.samples = settings.batch * len(settings.tasks)
        self._times.append((time.monotonic(), self.step))
        self._say(
            f"{' + '.join(settings.tasks)} with {settings.name}, seed {settings.seed}: {beginning.parameters:,} "
            f"parameters, {beginning.device}, threads {beginning.threads}; {beginning.path}"
        )
        if settings.precision == "bfloat16" and not has_bfloat16(torch.device(beginning.device)):
            self._say("there are no instructions for bfloat16 here: it is slower than float32")
        if self.step:
            self._say(f"goes on from step {self.step} of {self.steps}")
        if beginning.start:
            self._say(beginning.start)
        if beginning.changes:
            self._say(f"other than before: {'; '.join(beginning.changes)}. Sums may differ in their last bits.")
        if self.console.is_terminal:
            self._live = rich.live.Live(
                console=self.console, get_renderable=self.render, refresh_per_second=REFRESHES, transient=True
            )
            self._live.start()

    def stepped(self, step: int, loss: float) -> None:
        self.step, self.loss = step, loss
        self._times.append((time.monotonic(), step))
        self._log(lambda: self.words(loss))

    def reported(self, line: dict[str, Any]) -> None:
        self.report = line
        if self._live is None:
            self._say(self.words(line["loss"], line["validation"]))

    def selecting(self, candidates: int) -> Callable[[float], None]:
        return self._do(f"comparing the {candidates} best networks on more samples")

    def testing(self, task: str, which: str) -> Callable[[float], None]:
        return self._do(f"testing {which} on the {'official' if is_official(task) else 'drawn'} set of {task}")

    def stopped(self, step: int) -> None:
        self.close()
        self._say(f"stopped; all is saved at step {step} of {self.steps}, and the same command goes on from there")

    def close(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def render(self) -> RenderableType:
        """What the terminal shows at this moment."""
        done = self.step / self.steps if self.share is None else self.share
        words = self.words(self.loss) if self.share is None else self.doing
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_row(ProgressBar(total=1.0, completed=done, width=20), Text(words))
        return grid

    def words(self, loss: float | None, validation: float | None = None) -> str:
        """The step, the loss, the best validation, the speed, and the time left."""
        said = [f"step {self.step:>{len(str(self.steps))}} of {self.steps}"]
        if loss is not None and not math.isnan(loss):
            said.append(f"loss {loss:.4f}")
        if validation is not None:
            said.append(f"validation {validation:.2%}")
        if self.report:
            said.append(f"best {self.report['best']:.2%} at {self.report['best_step']}")
        speed = self.speed()
        if speed:
            said += [f"{speed * self.samples:.0f} samples/s", f"{took((self.steps - self.step) / speed)} left"]
        return "  ".join(said)

    def speed(self) -> float:
        """Steps in a second, lately."""
        (then, first), (now, last) = self._times[0], self._times[-1]
        return (last - first) / (now - then) if last > first and now > then else 0.0

    def _do(self, words: str) -> Callable[[float], None]:
        """Something that is done after the last step has begun; what is returned hears how far it is."""
        self.doing, self.share = words, 0.0
        if self._live is None:
            self._say(words)

        def advance(part: float) -> None:  # from several threads; a share that is lost now and then is no matter
            self.share = (self.share or 0.0) + part
            self._log(lambda: f"{self.doing}: {self.share:.0%}")

        return advance

    def _log(self, words: Callable[[], str]) -> None:
        """A line of progress now and then, where none lives in a terminal."""
        if self._live is None and time.monotonic() - self._said >= QUIET:
            self._say(words())

    def _say(self, words: str) -> None:
        self._said = time.monotonic()
        self.console.print(words, soft_wrap=True)
        self.console.file.flush()
