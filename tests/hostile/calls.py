"""Public functions with hostile values for each of their arguments, and problems whose JSON has hostile names.

    python tests/hostile/calls.py 2000 [SEED]

Each call must return, or raise a ValueError of one line; each line of JSON must be solved or refused in one line.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import random
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))

import rnar
import rnar.clrs
from helpers.training import small_test
from hostile.arguments import stopping_early
from hostile.watching import Counts
from rnar.clrs import registry
from rnar.inference import answer, equivalence, pretrained, problem, scaling, solver
from rnar.runtime import Workers
from rnar.training import Settings, testing
from rnar.training.learner import Learner

Call = tuple[Callable[..., Any], dict[str, Any]]

OTHERS = {
    "Aggregator",
    "MessagePassing",
    "ProcessorOutput",
    "Reasoner",
    "Model",
    "auxiliary_loss",
    "models",
    "nn",
    "interop",
}
"""names of torch modules and of what takes them"""
DATA = {"Algorithm", "Batch", "Callback", "Feature", "Problem", "Sample", "Spec", "Split"}
"""names of plain data, of types, and of what is subclassed"""
COMPILED = {"chain", "kernel", "step"}
"""names of what stands in compiled code"""


def calls() -> dict[str, Call]:
    """By name each public function, or class that does something, and arguments that it takes."""
    bfs = rnar.clrs.sample("bfs", n=4, batch=2, seed=0)
    tiny = dict(steps=2, validate_every=2, size=4, batch=2, sizes=(4,), threads=1, validation_samples=2,
                ood_samples=0, selection_samples=2, test_samples=2)  # fmt: skip
    network = rnar.load("minimum")
    seen = network.run.model.batch(rnar.clrs.sample("minimum", n=4, batch=2, seed=0))
    answered = network.solve([5.0, 2.0, 9.0])
    good: dict[str, dict[str, Any]] = {
        "Answer": dict(sample=answered.sample, belief=answered.belief),
        "Live": {},
        "Run": dict(path=network.run.path),
        "Settings": dict(tasks="bfs"),
        "Solver": dict(folder=network.run.path),
        "Stream": dict(task="bfs", ahead=0),
        "algorithm": dict(problem=rnar.clrs.find("bfs").problem, hints={}, outputs={}),
        "evaluate": dict(network=network.run.network(), batch=seen),
        "find": dict(task="bfs"),
        "load": dict(network="minimum"),
        "official": dict(task="bfs", split="val"),
        "order_as_hint": dict(batch=bfs),
        "randomise_positions": dict(batch=bfs, rng=np.random.RandomState(0)),
        "reverse_pointers": dict(batch=bfs),
        "sample": dict(task="bfs", n=4, batch=2, seed=0),
        "solve": dict(task="minimum", arguments=([5.0, 2.0, 9.0],), network=network),
        "stacked": dict(samples=list(bfs)),
        "to_dm_clrs": dict(batch=bfs),
        "trace": dict(task="minimum", arguments=([5.0, 2.0, 9.0],)),
        "train": dict(settings="bfs", changes={**tiny, "folder": "run"}),
        "view": dict(task="minimum", arguments=([5.0, 2.0, 9.0],), network=network),
    }
    names = {*rnar.__all__, *rnar.clrs.__all__} - OTHERS - DATA - COMPILED
    found = {name: getattr(rnar.clrs, name, None) or getattr(rnar, name) for name in sorted(names)}
    return {name: (x, good[name]) for name, x in found.items() if callable(x)}


def values() -> list[Any]:
    """Hostile values for any argument."""
    return [
        None, True, 0, -1, 2.5, 10**30, float("nan"), "", "nosuch", "a:b", b"bfs", object(), [], {}, [None], {"x": 1},
        (1, 2), [[]], "bfs", np.zeros(3), np.float32(2), torch.ones(3), torch.ones(2, 2, requires_grad=True),
        Path("nowhere"), Path(), lambda *x: None, rnar.clrs.sample("minimum", n=4, batch=1, seed=0), iter([1, 2]),
        rnar.trace("minimum", [1.0, 2.0]), rnar.load("minimum"), Settings("bfs"), rnar.models.find("rnar"), range(3),
    ]  # fmt: skip


def tried_calls(where: Path, every: int = 1) -> Counts:
    """Each argument of each public function with all values, or some of them, all others as they should be."""
    counts, wrong, Learner.learn = Counts(), values()[::every], stopping_early(Learner.learn)
    with contextlib.chdir(where):
        for name, (function, good) in calls().items():
            for parameter in inspect.signature(function).parameters:
                for value in wrong:
                    given = {**good, parameter: value}
                    counts.python(partial(applied, function, given), f"{name}: {parameter}={value!r}")
    return counts


def tried_some(tries: int, seed: int, where: Path) -> Counts:
    """So many calls of public functions, each with one to three arguments of hostile values."""
    counts, draw, Learner.learn = Counts(), random.Random(seed), stopping_early(Learner.learn)
    with contextlib.chdir(where):
        table, wrong = calls(), values()
        for number in range(tries):
            name = draw.choice(list(table))
            function, good = table[name]
            parameters = list(inspect.signature(function).parameters)
            new = {parameter: draw.choice(wrong) for parameter in draw.sample(parameters, min(len(parameters), 3))}
            given = {**good, **dict(list(new.items())[: draw.randrange(1, 4)])}
            counts.python(partial(applied, function, given), f"try {number}, {name}: {new!r}")
    return counts


def modules() -> dict[str, Call]:
    """By name each public module, or what makes or finds one, and arguments that it takes."""
    lstm, maximum, batch = rnar.nn.LSTM(4), rnar.nn.Max(4), rnar.clrs.sample("minimum", n=4, batch=2, seed=0)
    found: dict[str, Call] = {
        "GRU": (rnar.nn.GRU, dict(size=4)),
        "LSTM": (rnar.nn.LSTM, dict(size=4)),
        "BinaryGRU": (rnar.nn.BinaryGRU, dict(size=4)),
        "Max": (rnar.nn.Max, dict(size=4)),
        "Mean": (rnar.nn.Mean, dict(size=4)),
        "Sum": (rnar.nn.Sum, dict(size=4)),
        "Janossy": (rnar.nn.Janossy, dict(inner=lstm, k=2)),
        "Shuffled": (rnar.nn.Shuffled, dict(inner=lstm, p=0.5)),
        "MessagePassing": (rnar.nn.MessagePassing, dict(size=4, aggregator=maximum)),
        "HintConfig": (rnar.nn.HintConfig, {}),
        "auxiliary_loss": (rnar.auxiliary_loss, dict(name="mine", loss=torch.zeros(()))),
        "Model": (rnar.models.Model, dict(name="mine", processor=lambda size: rnar.nn.MessagePassing(size, maximum))),
        "models.find": (rnar.models.find, dict(name="rnar")),
        "Model.build": (rnar.models.find("rnar").build, dict(tasks="minimum", size=4, seed=0)),
        "Model.batch": (rnar.models.find("rnar").batch, dict(batch=batch)),
        "Reasoner.loss": (rnar.models.find("rnar").build("minimum", 4).loss, dict(batch=batch)),
        "Workers": (Workers, dict(reasoner=rnar.models.find("rnar").build("minimum", 4), threads=1)),
    }
    return found


def tried_modules(where: Path) -> Counts:
    """Each argument of each public module with all values, all others as they should be."""
    counts, wrong = Counts(), values()
    with contextlib.chdir(where):
        for name, (function, good) in modules().items():
            for parameter in inspect.signature(function).parameters:
                for value in wrong:
                    given = {**good, parameter: value}
                    counts.python(partial(applied, function, given), f"{name}: {parameter}={value!r}")
    return counts


def applied(function: Callable[..., Any], given: dict[str, Any]) -> Any:
    """Call a function with arguments by the names of its parameters, whichever kind these are of."""
    positional, named = [], {}
    parameters = inspect.signature(function).parameters
    in_order = any(each.kind is each.VAR_POSITIONAL for each in parameters.values())
    for name, parameter in parameters.items():
        if parameter.kind is parameter.VAR_POSITIONAL:
            value = given.get(name, ())
            positional += value if isinstance(value, tuple) else [value]
        elif parameter.kind is parameter.VAR_KEYWORD:
            value = given.get(name, {})
            named |= value if isinstance(value, dict) else {"changed": value}
        elif name in given:
            if in_order and parameter.kind is not parameter.KEYWORD_ONLY:
                positional += [given[name]]
            else:
                named[name] = given[name]
    result = function(*positional, **named)
    return next(result) if isinstance(result, rnar.clrs.Stream) else result


def names() -> list[str]:
    """The names of all parameters of the functions that a problem passes on its way to the network."""
    found = {"self", "cls", "args", "kwargs", "__class__", "", "\x00", "nodes", "edges", "links", "directed"}
    for module in (rnar.clrs, answer, equivalence, problem, scaling, solver, registry):
        for each in vars(module).values():
            members = vars(each).values() if inspect.isclass(each) else [each]
            for function in members:
                with contextlib.suppress(TypeError, ValueError):
                    found |= set(inspect.signature(getattr(function, "__func__", function)).parameters)
    return sorted(found | {name for task in rnar.clrs.ALGORITHMS.values() for name in task.problem.takes()})


THINGS: list[Any] = [
    None, True, 0, 1, -1, 2.5, 1e308, 1e-320, -0.0, 10**30, "", "ATC", "bfs", "a", [], [1], [1, 2], [2, 1, 3],
    [0.5, 0.5, 0.1], [[0, 1], [1, 0]], [[0, 1], [0, 0]], [[]], {}, {"a": 1}, {"a": ["b"], "b": []},
    {"a": {"b": 2}, "b": {}}, [None], [[1, 2], [3]], ["a"], [{"id": "a"}], [{"source": "a", "target": "b"}],
    [1e-320, 1e-310], [float("nan"), 1], [3.4e38, 3.3e38],
]  # fmt: skip


def drawn(draw: random.Random, keys: list[str], task: str) -> Any:
    """A problem of a task, or something like it."""
    algorithm, rng = rnar.clrs.find(task), np.random.RandomState(draw.randrange(1000))
    own = [x[0].tolist() for x in algorithm.draw(rng, draw.randrange(5, 8), 1)]
    good = dict(zip(algorithm.problem.takes(), own, strict=True)) if algorithm.spec.inputs.get("string") is None else {}
    other = draw.sample([*keys, *good], draw.randrange(3))
    return {**good, **{name: draw.choice(THINGS) for name in other}} if draw.random() < 0.8 else draw.choice(THINGS)


def tried_problems(tries: int, seed: int, where: Path) -> Counts:
    """So many problems on command lines; what came of them."""
    counts, draw, keys = Counts(), random.Random(seed), names()
    solved = [task for task in rnar.clrs.ALGORITHMS if pretrained.for_task(task)]
    with contextlib.chdir(where):
        for number in range(tries):
            task = draw.choice(solved)
            text = json.dumps(drawn(draw, keys, task))
            words = ["solve"] if draw.random() < 0.6 else ["view", "--network", "none", "--force"]
            counts.call([*words, task, text], f"try {number}")
    return counts


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        testing.official = small_test
        several = tried_calls(Path(place)), tried_problems(int(sys.argv[1]), int((sys.argv[2:] or [0])[0]), Path(place))
    for found in several:
        print(*found.bad, found, f"bad: {len(found.bad)}", sep="\n")
    sys.exit(any(found.bad for found in several))
