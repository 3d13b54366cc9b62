"""How networks are run: step after step, in little memory, on all cores.

predict(reasoner, batch).outputs            # what a network says
backward(reasoner, batch)                   # the gradients of its losses
Workers(reasoner).backward(batch)           # the same on all cores
"""

from rnar.engine.run import Prediction, backward, losses, predict
from rnar.engine.workers import Workers

__all__ = ["Prediction", "Workers", "backward", "losses", "predict"]
