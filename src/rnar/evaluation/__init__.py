"""How good a network is: scores in little memory, measures, sets of problems, intervals."""

from rnar.evaluation.evaluate import evaluate
from rnar.evaluation.evaluation import Evaluation

__all__ = ["Evaluation", "evaluate"]
