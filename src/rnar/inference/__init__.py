"""Inference: load a trained network, solve a problem of your own with it, view the steps.

rnar.load("quickselect").solve([5.0, 2.0, 9.0])
rnar.view("dijkstra", A, 0, network="runs/dijkstra/rnar/seed-0").save("page.html")
"""

from rnar.inference.answer import Answer
from rnar.inference.problem import Problem
from rnar.inference.solver import Solver, load, solve, view

__all__ = ["Answer", "Problem", "Solver", "load", "solve", "view"]
