"""How networks are run: on all cores, in a given amount of memory.

Workers(reasoner).backward(batch)           # the gradients of its losses
"""

from rnar.runtime.backward import backward
from rnar.runtime.workers import Precision, Workers

__all__ = ["Precision", "Workers", "backward"]
