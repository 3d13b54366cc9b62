"""An algorithm: a problem, a compiled function that solves it step by step, and the names of what it records."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rnar.clrs.batch import Arrays, Batch, Sample
from rnar.clrs.mersenne import Mersenne, borrow
from rnar.clrs.own import Own, own
from rnar.clrs.problems.problem import Arguments, Problem
from rnar.clrs.recording import over_all
from rnar.clrs.spec import MOST_NODES, Feature, Spec, node
from rnar.clrs.uncompiled import ERRORS, function_of, uncompiled
from rnar.common.checking import checked
from rnar.common.importing import imported
from rnar.common.memory import check_memory
from rnar.common.names import nearest

ALGORITHMS: dict[str, Algorithm] = {}

MOST_SAMPLES = 1_000_000
FIRST_GUESS = 64  # steps; a longer run is repeated once in a buffer that fits


@dataclass(frozen=True)
class Algorithm:
    """One task. Made by the decorator `@algorithm`, found in `ALGORITHMS`."""

    name: str
    """Of those in this package the function's; of a user's own `module:function`, so that none hides another."""
    chapter: str
    problem: Problem
    spec: Spec
    run: Callable[..., None]
    """The compiled function over many problems, see `rnar.clrs.recording.over_all`."""
    multiplier: int
    """The validation and test sets have 32 times as many samples as this."""
    _longest: dict[int, int] = field(default_factory=dict, compare=False, repr=False)
    """The most steps seen so far, by number of nodes: a guess for the next buffer."""

    def trace(self, /, *arguments: Any, **named: Any) -> Sample:
        """Run on a user's own input: arguments, or a graph of another library, a list of edges, points as pairs."""
        return self.solved(self.own(*arguments, **named).arguments)

    def solved(self, arguments: Arguments) -> Sample:
        """Run on a user's own input, as `own` gives its arguments."""
        sample = self.solve(arguments).sample(0)
        for name, x in {**sample.hints, **sample.outputs}.items():
            if np.isinf(x).any():
                raise ValueError(f"{self.name}: {name} becomes larger than 32 bits can hold; give smaller numbers")
        return sample

    def own(self, /, *arguments: Any, **named: Any) -> Own:
        """A user's own input, checked."""
        try:
            return own(self.problem, arguments, named)
        except TypeError:  # too few, too many or misnamed
            takes, given = self.problem.takes(), told(arguments, named)
            hint = "".join(nearest(name, takes) for name in list(named)[:1] if name not in takes)
            raise ValueError(f"{self.name} takes {', '.join(takes)}, but was given {given}{hint}") from None
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None

    def sample(self, rng: np.random.RandomState | Mersenne, n: int, batch: int, **options: Any) -> Batch:
        """Draw `batch` problems of size `n` and solve them."""
        return self.solve(self.draw(rng, n, batch, **options))

    def draw(self, rng: np.random.RandomState | Mersenne, n: int, batch: int, **options: Any) -> Arguments:
        """The arguments of `batch` random problems of size `n`, stacked."""
        complete = self.check(n, batch, options)
        self._check_memory(FIRST_GUESS, batch, n)
        with borrow(rng) if isinstance(rng, np.random.RandomState) else nullcontext(rng) as mersenne:
            return self.problem.draw(mersenne, n, batch, **complete)

    def check(self, n: int, batch: int, options: dict[str, Any]) -> dict[str, Any]:
        """Raise where no such batch can be drawn; else the complete options."""
        try:
            complete = self.problem.complete(options)
            for name, value in (("n", n), ("batch", batch)):
                if not isinstance(value, (int, np.integer)):
                    raise ValueError(f"{name} must be a whole number, not {value!r}")
            if not 1 <= batch <= MOST_SAMPLES:
                raise ValueError(f"a batch must hold 1 to {MOST_SAMPLES:,} samples, not {batch}")
            if n > MOST_NODES // 2:
                raise ValueError(f"n={n} is too large: node indices are stored in 16 bits")
            self.problem.check_size(n, complete)
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None
        return complete

    def solve(self, problems: Arguments) -> Batch:
        """Run on problems of one size, given as stacked arguments [B, ...]."""
        inputs = self._inputs(problems)
        size, nodes = inputs["pos"].shape
        if nodes > MOST_NODES:
            raise ValueError(f"{self.name}: {nodes} nodes are too many: their indices are stored in 16 bits")
        steps = self._longest.get(nodes, FIRST_GUESS)
        outputs = blank(self.spec.outputs, 1, size, nodes)
        while True:
            self._check_memory(steps, size, nodes)
            hints, lengths = blank(self.spec.hints, steps, size, nodes), np.zeros(size, np.int64)
            try:
                self.run(tuple(hints.values()), tuple(outputs.values()), lengths, *problems)
            except ERRORS as error:
                raise uncompiled(error, function_of(self.run)) from None
            longest = int(lengths.max())
            if longest <= steps:
                break
            steps = self._longest[nodes] = longest  # longer than any before: once more, with room for it
        return Batch(
            self.name,
            inputs,
            {name: shaped(feature, hints[name][:longest], nodes) for name, feature in self.spec.hints.items()},
            {name: shaped(feature, outputs[name], nodes)[0] for name, feature in self.spec.outputs.items()},
            lengths.astype(np.int32),
        )

    def _check_memory(self, steps: int, size: int, nodes: int) -> None:
        """Raise where so many steps of so many samples would not fit."""
        drawn = sum(feature.width(nodes) for feature in self.problem.inputs.values()) * np.float64().nbytes
        step = sum(feature.width(nodes) * feature.dtype().nbytes for feature in self.spec.hints.values())
        what = f"{self.name}: {steps:,} steps of {size:,} samples of {nodes:,} nodes"
        check_memory(size * (drawn + steps * step), what)

    def _inputs(self, problems: Arguments) -> Arrays:
        seen = self.problem.view(*problems)
        if "pred" in self.spec.inputs:
            seen["pred"] = fixed_order(seen["pos"])
        return {name: seen[name].astype(feature.dtype) for name, feature in self.spec.inputs.items()}


def blank(features: dict[str, Feature], steps: int, size: int, nodes: int) -> Arrays:
    """Zeros for each feature: [T, B, width]."""
    return {name: np.zeros((steps, size, f.width(nodes)), f.dtype) for name, f in features.items()}


def shaped(feature: Feature, array: np.ndarray, nodes: int) -> np.ndarray:
    """[T, B, width] -> [T, B, *shape]"""
    return array.reshape(*array.shape[:2], *feature.shape(nodes))


def told(arguments: tuple[Any, ...], named: dict[str, Any], most: int = 5) -> str:
    """What a user gave, in a few words."""
    words = [f"{len(arguments)} argument{'s' * (len(arguments) > 1)}"] if arguments else []
    names = list(named)
    words += names if len(names) <= most else [*names[:most], f"{len(names) - most} more"]
    return ", ".join(words) or "nothing"


@checked
def algorithm(
    problem: Problem,
    hints: dict[str, Feature],
    outputs: dict[str, Feature],
    order_is_fixed: bool = False,
    multiplier: int = 1,
) -> Callable[[Callable[..., Any]], Algorithm]:
    """Declare the decorated function `(trace, *arguments) -> answer(s)` to be an algorithm.

    Wherever a task is asked for, its name is `module:function` (`__main__:function` in a notebook).

    Where the list never changes (`order_is_fixed`), its order is an input `pred`: the reference has it as a
    hint `pred_h` that is the same at every step, and its protocol makes an input of that.
    """

    def register(function: Callable[..., Any]) -> Algorithm:
        if "pos" not in problem.inputs:
            known = ", ".join(problem.inputs) or "none"
            raise ValueError(f"{function.__name__}: its problem has no input pos, the places of nodes; it has {known}")
        inputs = {**problem.inputs, "pred": node.pointer} if order_is_fixed else dict(problem.inputs)
        chapter = function.__module__.rsplit(".", 1)[-1].replace("_", " ").strip()
        spec = Spec(inputs, hints, outputs)
        made = Algorithm(name_of(function), chapter, problem, spec, over_all(function), multiplier)
        ALGORITHMS[made.name] = made
        return made

    return register


def name_of(function: Callable[..., Any]) -> str:
    """What its task is called: the plain names are those of this package."""
    is_ours = function.__module__.partition(".")[0] == __name__.partition(".")[0]
    return function.__name__ if is_ours else f"{function.__module__}:{function.__name__}"


@checked
def find(task: str) -> Algorithm:
    """The algorithm of that name: `bfs`, also `BFS`; `module:function` imports one of yours, also from the current
    folder."""
    if task in ALGORITHMS:
        return ALGORITHMS[task]
    if ":" in task:  # it may stand there under another name than its function's: it is called as it was asked for
        return replace(imported(task, Algorithm, "algorithm", "my_tasks:selection_sort"), name=task)
    plain = re.sub("[- ]", "_", task.lower())
    if plain in ALGORITHMS:
        return ALGORITHMS[plain]
    hint = nearest(task, ALGORITHMS) or f"; there are {', '.join(sorted(ALGORITHMS))}"
    raise ValueError(f"no task {task!r}{hint}; an algorithm of your own is module:function")


def fixed_order(pos: np.ndarray) -> np.ndarray:
    """Each node's predecessor in the given order [B, n]; a list starts where `pos` is zero, with its own pointer."""
    here = np.arange(pos.shape[1])
    return np.where(pos == 0, here, here - 1)
