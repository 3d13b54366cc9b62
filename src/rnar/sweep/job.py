"""What is done in a process of its own, `python -m rnar.sweep.job`: one run, or one measurement.

One line of JSON comes in and says what to do. Lines of JSON go out and report the progress; the last one is the
outcome. The input stays open as long as the parent process lives: when it closes, this process ends too.
"""

import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rnar.common.lock import locked
from rnar.engine.memory import LITTLE
from rnar.sweep.child import Message, Outcome
from rnar.sweep.estimate import measure
from rnar.training import Resolved, Watch, train
from rnar.training.folder import LOCK
from rnar.training.settings import HOW
from rnar.training.watch import Beginning

EVERY = 0.5  # seconds between two messages
GRACE = 60.0  # seconds that another process gets to leave the folder, or this one to save

Say = Callable[..., None]


def request(work: str, settings: Resolved) -> Message:
    """What to send to such a process; `work` is "train" or "measure"."""
    how = {name: getattr(settings, name) for name in HOW}
    how["memory"] = LITTLE / 1e9 if settings.memory is None else settings.memory  # there are other runs beside it
    return {"work": work, "settings": settings.plain(), "folder": str(settings.path), "how": how}


def carry_out(request: Message, say: Say) -> Any:
    """Train or resume a run and return its score, or measure a model and return its rates."""
    settings = Resolved.from_plain(request["settings"], path=Path(request["folder"]), **request["how"])
    if request["work"] == "measure":
        return measure(settings)
    wait_until_free(settings.path / LOCK)
    return train(settings, Telling(say)).score


class Telling(Watch):
    """Passes on how far a run is, but not too often."""

    def __init__(self, say: Say):
        self.say = say
        self.last = self.share = 0.0

    def began(self, beginning: Beginning) -> None:
        self.say(begun=beginning.step)

    def stepped(self, step: int, loss: float) -> None:
        self._say_if_due(step=step)

    def testing(self, task: str, which: str) -> Callable[[float], None]:
        self.share = 0.0
        self.say(tested=0.0)
        return self._tested

    def _tested(self, part: float) -> None:
        self.share += part
        self._say_if_due(tested=min(1.0, self.share))

    def _say_if_due(self, **message: float) -> None:
        now = time.monotonic()
        if now - self.last >= EVERY:
            self.last = now
            self.say(**message)


def wait_until_free(lock: Path) -> None:
    """Give another process time to leave the folder. If it does not, train() raises an error that says so."""
    end = time.monotonic() + GRACE
    while lock.exists() and time.monotonic() < end:
        try:
            with locked(lock):
                return
        except ValueError:
            time.sleep(0.2)


def end_with_parent() -> None:
    """Once the input is closed, stop as if asked to; if that takes too long, stop at once. Runs in a thread."""
    while os.read(0, 1024):  # not through sys.stdin: a process forked meanwhile would wait for its lock
        pass
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)


def main() -> None:
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # so that nothing else that is printed is taken for a message
    lock = threading.Lock()

    def say(**message: Any) -> None:
        with lock:
            print(json.dumps(message), file=answers, flush=True)

    def end(*_: object) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    request = json.loads(sys.stdin.buffer.readline())
    threading.Thread(target=end_with_parent, daemon=True).start()
    try:
        outcome = Outcome("done", value=carry_out(request, say))
    except (ValueError, OverflowError) as error:
        outcome = Outcome("failed", str(error))
    except OSError as error:
        known = error.filename and error.strerror
        outcome = Outcome("failed", f"{error.filename}: {error.strerror}" if known else str(error))
    except Exception as error:
        traceback.print_exc()
        outcome = Outcome("died", f"{type(error).__name__}: {error}")
    say(outcome=outcome)


if __name__ == "__main__":
    main()
