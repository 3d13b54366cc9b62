"""Training: settings in, a run folder and a result out.

from rnar.training import Run, train

result = train("bfs", model="rnar", steps=500, lr=1e-3)   # or goes on, or is done at once
print(result.score, result.tests["bfs"].interval)
network = Run("runs/bfs/rnar/seed-0").network()
"""

import warnings
from typing import Any

from rnar.training.loop import train
from rnar.training.result import Result, Tested
from rnar.training.run import Run
from rnar.training.settings import Resolved, Settings
from rnar.training.watch import Callback

__all__ = ["Callback", "Resolved", "Result", "Run", "Settings", "Tested", "train"]


def __getattr__(name: str) -> Any:
    if name == "Watch":  # for another release
        warnings.warn("rnar.training.Watch is called rnar.Callback now", DeprecationWarning, stacklevel=2)
        return Callback
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
