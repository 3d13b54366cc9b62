"""Training callbacks. `rnar train` shows progress in the terminal; you may write your own."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from rnar.training.settings import Settings


class Beginning(NamedTuple):
    """What is known when a run begins, or goes on."""

    settings: Settings
    path: Path
    step: int
    """how many are done already"""
    parameters: int
    device: str
    threads: int
    changes: list[str]
    """in what the environment differs from that in which the run was last"""
    start: str = ""
    """what it begins with, if not with fresh weights"""


class Callback:
    """Told of all that happens while a network learns; does nothing. A subclass does something in any of its methods:

        class Losses(rnar.Callback):
            def stepped(self, step, loss):
                print(step, loss)

        rnar.train("bfs", Losses(), steps=500)

    In order: `began` once; `stepped` after each step; `reported` after each validation; `selecting` and `testing` in
    the end, or `stopped`; and `close`. What a method raises ends the training; what was saved before is kept.
    """

    def began(self, beginning: Beginning) -> None:
        """The first step is about to be taken."""

    def stepped(self, step: int, loss: float) -> None:
        """So many steps are done, and this was the loss of the last. Called often: be quick."""

    def reported(self, line: dict[str, Any]) -> None:
        """A line was added to the metrics, by the names that metrics.jsonl has: step, loss, validation, best, ..."""

    def stopped(self, step: int) -> None:
        """Somebody asked to stop; all is saved."""

    def selecting(self, candidates: int) -> Callable[[float], None] | None:
        """The networks that were best are compared on more samples. What is returned is told which share has been done
        since it was last told."""

    def testing(self, task: str, which: str) -> Callable[[float], None] | None:
        """The test of a network on a task begins: of "the selected network", "the last network", or "the average of
        the weights". What is returned is told which share has been done since it was last told."""

    def close(self) -> None:
        """Nothing more will happen."""


class Callbacks(Callback):
    """Several that are told the same. Where several return a function, all of them are called."""

    def __init__(self, *callbacks: Callback):
        for name in (name for name in vars(Callback) if not name.startswith("_")):
            setattr(self, name, partial(_tell_all, [getattr(callback, name) for callback in callbacks]))


def _tell_all(methods: list[Callable[..., Any]], *arguments: Any) -> Callable[[float], None] | None:
    functions = [made for method in methods if (made := method(*arguments)) is not None]

    def tell(share: float) -> None:
        for function in functions:
            function(share)

    return tell if functions else None


class TensorBoard(Callback):
    """Writes events for TensorBoard into the run's folder."""

    def __init__(self) -> None:
        try:
            from torch.utils.tensorboard.writer import SummaryWriter
        except ImportError:
            message = "TensorBoard is not installed here; pip install 'rnar[tensorboard]', or go without --tensorboard"
            raise ValueError(message) from None
        self._open = SummaryWriter
        self._writer: Any = None

    def began(self, beginning: Beginning) -> None:
        # events after the step from which a run goes on are of a time that was lost
        self._writer = self._open(str(beginning.path / "tensorboard"), purge_step=beginning.step + 1)

    def reported(self, line: dict[str, Any]) -> None:
        self._add("", {name: value for name, value in line.items() if name != "step"}, line["step"])
        self._writer.flush()

    def _add(self, name: str, value: Any, step: int) -> None:
        """All numbers in nested data, with the path to each."""
        if isinstance(value, dict):
            for key, inner in value.items():
                self._add(f"{name}/{key}".lstrip("/"), inner, step)
        elif value is not None:
            self._writer.add_scalar(name, float(value), step)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
