"""Training: settings in, a run folder and a result out.

from rnar.training import Run, train

result = train("bfs", model="rnar", steps=500, lr=1e-3)   # or goes on, or is done at once
print(result.score, result.tests["bfs"].interval)
network = Run("runs/bfs/rnar/seed-0").network()
"""

from rnar.training.loop import train
from rnar.training.result import Result, Tested
from rnar.training.run import Run
from rnar.training.settings import Resolved, Settings
from rnar.training.watch import Watch

__all__ = ["Resolved", "Result", "Run", "Settings", "Tested", "Watch", "train"]
