"""What is done in a process of its own, `python -m rnar.sweep.job`: one run, or one measurement.

A line of JSON comes in and says what to do; lines of JSON go out and tell how it goes. The last one is the outcome.
Input stays open as long as whoever started this process is there: when it ends, this ends too.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

EVERY = 0.5  # seconds between two messages
GRACE = 60.0  # seconds that another process gets to let go of the folder, or this one to save

Say = Callable[..., None]


def train_one(request: dict[str, Any], say: Say) -> None:
    """Train a run, or go on with it; tells steps, which share of the test is done, and in the end the score."""
    from rnar.training import train
    from rnar.training.folder import LOCK

    settings = settings_of(request)
    wait_until_free(settings.path / LOCK)
    say(done=train(settings, _watch(say)).score)


def measure_one(request: dict[str, Any], say: Say) -> None:
    """Measure how fast a model is here."""
    from rnar.sweep.estimate import measure

    say(done=measure(settings_of(request)))


WORK = {"train": train_one, "measure": measure_one}


def request(work: str, settings: Any) -> dict[str, Any]:
    """What is sent to such a process."""
    from rnar.training.settings import HOW

    how = {name: getattr(settings, name) for name in HOW}
    return {"work": work, "settings": settings.plain(), "folder": str(settings.path), "how": how}


def settings_of(request: dict[str, Any]) -> Any:
    from rnar.training import Resolved

    return Resolved.from_plain(request["settings"], path=Path(request["folder"]), **request["how"])


def _watch(say: Say) -> Any:
    from rnar.training import Watch
    from rnar.training.watch import Beginning

    class Telling(Watch):
        """Passes on how far a run is, not too often."""

        last, share = 0.0, 0.0

        def began(self, beginning: Beginning) -> None:
            say(begun=beginning.step)

        def stepped(self, step: int, loss: float) -> None:
            if self._due():
                say(step=step)

        def testing(self, task: str, which: str) -> Callable[[float], None]:
            self.share = 0.0
            say(tested=0.0)

            def advance(part: float) -> None:
                self.share += part
                if self._due():
                    say(tested=min(1.0, self.share))

            return advance

        def _due(self) -> bool:
            now = time.monotonic()
            if now - self.last < EVERY:
                return False
            self.last = now
            return True

    return Telling()


def wait_until_free(lock: Path) -> None:
    """Give a process that was told to end some time to do so; train() says what is wrong if it does not."""
    from rnar.common.lock import locked

    end = time.monotonic() + GRACE
    while lock.exists() and time.monotonic() < end:
        try:
            with locked(lock):
                return
        except ValueError:
            time.sleep(0.2)


def end_with_parent() -> None:
    """Stop as if asked to when nobody is there any more; and in any case after a while."""

    def wait() -> None:
        while os.read(0, 1024):  # not through sys.stdin, whose lock a process that is forked meanwhile waits for
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE)
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def main() -> None:
    """Do what the first line says. What goes wrong for sure is `failed`, what may go well another time is `died`."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what anybody else prints is no message
    lock = threading.Lock()

    def say(**message: Any) -> None:
        with lock:
            answers.write(json.dumps(message) + "\n")
            answers.flush()

    def end(*_: object) -> None:
        raise SystemExit(128 + signal.SIGTERM)

    signal.signal(signal.SIGTERM, end)
    request = json.loads(sys.stdin.buffer.readline())
    end_with_parent()
    try:
        WORK[request["work"]](request, say)
    except (ValueError, OverflowError) as error:
        say(failed=str(error))
    except OSError as error:
        say(failed=f"{error.filename}: {error.strerror}" if error.filename and error.strerror else str(error))
    except Exception as error:
        import traceback

        traceback.print_exc()
        say(died=f"{type(error).__name__}: {error}")


if __name__ == "__main__":
    main()
