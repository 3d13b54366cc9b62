"""What ends training early: divergence, or a signal.

Ctrl-C, SIGTERM and the end of a terminal (SIGHUP) end training after a step, not in the middle of it.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))


class Diverged(ValueError):
    """The gradients are NaN or infinite."""


class Stop:
    """Whether, and by which signal, the process was asked to stop."""

    signal: int | None = None

    def ask(self, number: int, _: FrameType | None) -> None:
        """Asked once, the step at hand is finished first; asked again, it is not."""
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number


@contextmanager
def stopping_politely() -> Iterator[Stop]:
    """Collect signals that ask the process to stop. In the end whoever took them before is given them after all."""
    stop, before = Stop(), {}
    if threading.current_thread() is threading.main_thread():  # others have nothing to do with signals
        for number in SIGNALS:
            handler = signal.getsignal(number)
            if handler not in (signal.SIG_IGN, None):  # it was told to ignore this one
                before[number] = signal.signal(number, stop.ask)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if stop.signal is not None:
        signal.raise_signal(stop.signal)
